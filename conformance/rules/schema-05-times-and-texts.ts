import { messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { tryValueTable } from "../derive/database/values.ts";
import { everyStreamFields, type StreamFields } from "../derive/rows/row-fields.ts";
import { describeDifference, isSame } from "../derive/rows/rows.ts";
import { tryStreams } from "../derive/rows/sampled-values.ts";
import { reportUnseenStreams } from "../derive/rows/splices.ts";
import {
  addresses,
  digitTexts,
  emptiness,
  strangeTexts,
  texts,
  twinKeys,
} from "../derive/rows/values.ts";
import { chunkedReads, hasFreeText } from "./schema-05.chunks.ts";
import { emptyItems } from "./schema-05.empty-items.ts";
import { times } from "./schema-05.timestamps.ts";

const plans = [times, texts, addresses, digitTexts, twinKeys, emptiness, strangeTexts, emptyItems];

export default defineRule({
  id: "SCHEMA-05",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Times keep their microseconds and offset; null, a missing field and an empty text stay apart; texts keep every character, case and space.",
  why: "Rows that were told apart by microseconds change their order; a day's report gets rows of another day; what was never answered and what was left empty become one; names come out with black diamonds, codes without their zeros, and two customers whose keys differ in a letter's case become one.",
  fix: "Pass the provider's texts on as they are: no trim, no case, no normal form, no unescaping. Never send a time through a Date, test values for undefined and not for truth, and decode a body as one stream of bytes.",
  good: "updated_at: row.updated_at, note: row.note",
  bad: 'updated_at: new Date(row.updated_at).toISOString(), note: row.note || null, text += chunk.toString("utf8")',
  notApplicable: async (lab) =>
    lab.database || (await streamsToTry(lab)).length > 0
      ? undefined
      : "no time and no free text of the provider's rows is seen to become a field of a record",
  async run(lab, report) {
    const sql = lab.database?.sql;
    if (sql) return await tryValueTable(lab, report, sql, sql.values.texts);
    const streams = await streamsToTry(lab);
    await reportUnseenStreams(lab, report);
    await tryStreams(lab, report, streams, {
      plans,
      quick: [times, texts, addresses, twinKeys],
      everywhere: [emptyItems],
    });
    if (!lab.can("faults"))
      return report.untried("answers in pieces: this target has no network of the kit's");
    const [first, ...others] = lab.sample(streams.filter(hasFreeText), 2);
    if (first) await tryChunks(lab, report, first, [1, 3]);
    for (const facts of others) await tryChunks(lab, report, facts, [2]);
  },
});

const streamsToTry = async (lab: Lab) =>
  (await everyStreamFields(lab)).filter(({ fields, inside }) =>
    [...fields, ...inside].some((field) => plans.some((plan) => plan.count(field) > 0)),
  );

async function tryChunks(
  lab: Lab,
  report: Reporter,
  facts: StreamFields,
  sizes: readonly number[],
): Promise<void> {
  const { label } = facts.stream;
  for (const { bytes, observation, difference } of await chunkedReads(lab, facts, sizes)) {
    const subject = `${label}: answers in pieces of ${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
    report.checked(subject);
    const { status, failures } = observation.outcome;
    if (status === "succeeded" && isSame(difference)) continue;
    const torn = observation.messages.findIndex(({ line }) => line.includes("\ufffd"));
    const what =
      status === "succeeded"
        ? describeDifference(difference)
        : `the run ${status}: ${failures[0]?.message ?? "it says nothing"}`;
    report.fail(
      `${subject}: ${what}. Characters of several bytes are split between pieces, and must be put together before they are read.`,
      messageEvidence("The run", observation, torn < 0 ? [] : [torn]),
    );
  }
}
