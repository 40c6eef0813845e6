import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { reportsSkip } from "../derive/rows/losses.ts";
import { everyStreamFields, type StreamFields } from "../derive/rows/row-fields.ts";
import { describeDifference, isSame } from "../derive/rows/rows.ts";
import { reportUnseenStreams, reportUntriedPlan, tryValues } from "../derive/rows/splices.ts";
import { reportDrift } from "../derive/rows/value-faults.ts";
import { isOpenSchema } from "../derive/spec/stream-schema.ts";
import { missingText } from "../derive/sweeps/pages.ts";
import { isBeyondRecordings } from "../derive/sweeps/reads.ts";
import {
  newFields,
  newWords,
  otherTypes,
  readGrown,
  readInherited,
  readMixed,
  removedFields,
} from "./schema-06.changed-rows.ts";
import { tryEnvelopeWords } from "./schema-06.envelope-words.ts";
import { rowWords, tryRowWords } from "./schema-06.row-words.ts";

export default defineRule({
  id: "SCHEMA-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "When the provider adds, removes or retypes a field, or has new words and kinds of rows, records still fit their schema, and what is lost is reported.",
  why: "Providers change without notice. A sync that breaks at night, a column of [object Object], or values that silently turn to null: each is found weeks later, by a customer.",
  fix: "Take declared fields only. Let the runtime null what does not fit (it says so in meta.changes), or do the same, or fail with a schema error. Never copy rows with Object.assign or a deep merge. Let words that are not known through: a list of those that are leaves rows out. Where a row lacks the id that the next request needs, leave the row out with a warning, or fail with RESPONSE_INVALID.",
  good: '{ "type": "RECORD", "record": { "data": { "id": 1, "size": null }, "meta": { "changes": [{ "field": "size", "change": "NULLED", … }] } } }',
  bad: "size: String(row.size) // [object Object]\nObject.assign({}, row) // __proto__",
  notApplicable: async (lab) =>
    (await everyStreamFields(lab)).length > 0
      ? undefined
      : lab.database
        ? "the kit changes no columns of a database between discover and read"
        : "no field of the provider's rows is seen to become a field of a record",
  async run(lab, report) {
    await reportUnseenStreams(lab, report);
    for (const facts of lab.sample(await everyStreamFields(lab), 6)) {
      for (const plan of [otherTypes, removedFields, newWords]) {
        const { subjects, faults } = await tryValues(lab, facts, plan);
        const isElsewhere = plan === newWords && rowWords(lab, facts).length > 0;
        if (subjects.length === 0 && !isElsewhere) reportUntriedPlan(report, facts, plan);
        for (const subject of subjects) report.checked(subject);
        for (const fault of faults) reportDrift(report, facts, fault);
      }
      await tryNewFields(lab, report, facts);
      await tryOtherKind(lab, report, facts);
    }
    await tryRowWords(lab, report);
    await tryEnvelopeWords(lab, report);
  },
});

async function tryNewFields(lab: Lab, report: Reporter, facts: StreamFields): Promise<void> {
  const { label, stream } = facts.stream;
  let isPolluted = false;
  for (const { name, fields } of newFields) {
    report.checked(`${label}: ${name}`);
    const { observation, difference, added, pollution } = await readGrown(lab, facts, fields);
    const { status, failures } = observation.outcome;
    const evidence = messageEvidence("The run", observation, []);
    isPolluted ||= pollution.length > 0;
    if (pollution.length > 0)
      report.fail(
        `${label}: ${name}, and every object of the process has ${pollution.join(", ")} from then on: a row was written into Object.prototype.`,
        evidence,
      );
    else if (status !== "succeeded")
      report.fail(
        `${label}: ${name}, and the run ${status}: ${failures[0] ? `${failures[0].code ?? "error"}: ${failures[0].message}` : "it says nothing"}. What nobody asked for must end no sync.`,
        evidence,
      );
    else if (!isSame(difference))
      report.fail(
        `${label}: ${name}, and its records are others: ${describeDifference(difference)}.`,
        evidence,
      );
    if (added.length > 0 && !isOpenSchema(stream.json_schema))
      report.fail(
        `${label}: ${name}, and records come with ${added.join(", ")}, which the schema does not declare.`,
        evidence,
      );
  }
  if (isPolluted) return;
  const read = await readInherited(lab, facts);
  if (!read)
    return report.untried(`${label}: rows with a __proto__: none of its fields can be left out`);
  report.checked(`${label}: rows have a __proto__ with its fields`);
  if (read.inherited.length > 0)
    report.fail(
      `${label}: rows without ${read.inherited.join(", ")}, but with a __proto__ that has them, give records with the values of __proto__.`,
      messageEvidence("The run", read.observation, []),
    );
}

/** A row that is no longer like the others may end the read in an orderly way, and hide none. */
async function tryOtherKind(lab: Lab, report: Reporter, facts: StreamFields): Promise<void> {
  const { observation, missing } = await readMixed(lab, facts);
  const { status, failures } = observation.outcome;
  if (isBeyondRecordings(observation))
    return report.untried(
      `${facts.stream.label}: rows of a new kind: the read asks for what was not recorded`,
    );
  const name = `${facts.stream.label}: rows of a new kind come first and last`;
  report.checked(name);
  const isInternal = failures.some(
    ({ classes }) => classes[0] === "internal" && classes.length === 1,
  );
  if (status === "crashed" || status === "hung" || isInternal)
    report.fail(
      `${name}, and the run ${status} in no orderly way (${failures[0]?.message ?? "it says nothing"}).`,
      exchangeEvidence("What came before", observation.exchanges.slice(-2)),
      messageEvidence("The run", observation, []),
    );
  else if (status === "succeeded" && missing.length > 0 && !reportsSkip(observation, facts.whole))
    report.fail(
      `${name}, and the read succeeds, but ${missingText(missing)}.`,
      messageEvidence("The run", observation, []),
    );
}
