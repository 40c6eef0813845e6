import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { cursorColumn } from "../derive/rows/cursors.ts";
import { reportsSkip } from "../derive/rows/losses.ts";
import { givenKeys, type RowKey, rowKeyOf } from "../derive/rows/page-rows.ts";
import {
  missingReads,
  missingText,
  type PagedRead,
  pagedReads,
  readPages,
  withoutPages,
} from "../derive/sweeps/pages.ts";
import { type Mutation, mutationsOf, unseenEdits } from "./page-06.changing-listings.ts";
import { tryChangingTable } from "./page-06.changing-tables.ts";

const sampledReads = 5;

export default defineRule({
  id: "PAGE-06",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Rows that are there before and after a read are in it, though others are added or deleted between its pages; in a database, between its statements, and each row is of one moment.",
  why: "Live accounts change while they are read. Tokens keep their place; numbered pages and offsets move: an added row shows another one twice, which is no loss, unless the connector takes it for the end. A deleted row pulls one back onto a page that was read: only a total that falls from page to page tells of it, so that the rule asks it where the answers state one, and of tokens and links. Where the oldest rows come first, one that changes goes to the end and does the same, and no total tells of it.",
  fix: "Of a database, read from one snapshot (REPEATABLE READ), or page by the last key and take a row by one statement. Go on behind a row that was seen before; write it again rather than stop. Take the number of pages from the newest answer. When the total is smaller than on the page before, step back as many rows as are gone, or begin anew. Keep to the provider's tokens. If rows may be lost, say so: capabilities: { loses_on_mutation: true } in conformance.yaml.",
  good: "if (page.total < total) number = 0; // rows have moved to pages that were read: all of them again",
  bad: "if (seen.has(row.id)) return; // 'we know the rest'",
  notApplicable: (lab) =>
    lab.settings.capabilities.loses_on_mutation
      ? "conformance.yaml declares that rows may be lost when the provider's data changes"
      : lab.database
        ? undefined
        : withoutPages(lab),
  async run(lab, report) {
    if (lab.database) return await tryChangingTable(lab, report);
    const reads = await pagedReads(lab);
    if (reads.length === 0) return report.missing(missingReads(lab));
    for (const read of lab.sample(reads, sampledReads)) {
      const key = rowKeyOf(lab, read);
      if (key === undefined) {
        report.untried(
          `${read.name}: no field of its rows is seen to become the key of its records`,
        );
        continue;
      }
      const column = await cursorColumn(lab, read.stream);
      for (const reason of unseenEdits(lab, read, key, column))
        report.untried(`${read.name}: ${reason}`);
      for (const mutation of mutationsOf(lab, read, key, column))
        await tryMutation(lab, report, read, key, mutation);
    }
  },
});

async function tryMutation(
  lab: Lab,
  report: Reporter,
  read: PagedRead,
  key: RowKey,
  mutation: Mutation,
): Promise<void> {
  const { observation, isEndless, isBeyondRecordings } = await readPages(
    lab,
    read,
    mutation.changes,
  );
  // A copied row may have details that nobody recorded.
  const subject = `${read.name}: ${mutation.name}`;
  if (isBeyondRecordings) return report.untried(`${subject}: it asks for what was not recorded`);
  report.checked(subject);
  const given = givenKeys(read, key, observation);
  const missing = mutation.stillThere.filter((one) => !given.has(one));
  // A read that fails, or says what it left out, loses nothing in silence.
  const isWhole =
    observation.outcome.status !== "succeeded" ||
    missing.length === 0 ||
    reportsSkip(observation, read.whole);
  if (!isEndless && isWhole) return;
  if (!isEndless && (await isLostAnyway(lab, read, key, mutation, missing))) return;
  report.fail(
    `${subject}, and the read ${isEndless ? "goes on without end" : `succeeds, but ${missingText(missing)}`}. Expected: all rows that were there before and after.`,
    exchangeEvidence("Requests", observation.exchanges.slice(0, 20)),
  );
}

/** A read of the rows as they are in the end loses the same: other rules report that. */
async function isLostAnyway(
  lab: Lab,
  read: PagedRead,
  key: RowKey,
  { settled }: Mutation,
  missing: readonly string[],
): Promise<boolean> {
  const { observation } = await readPages(lab, read, settled);
  const given = givenKeys(read, key, observation);
  return missing.every((one) => !given.has(one));
}
