import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  expectedKeys,
  givenKeys,
  type RowKey,
  rowKeyOf,
  withRowCount,
} from "../derive/rows/page-rows.ts";
import {
  endText,
  missingReads,
  missingText,
  type PagedRead,
  pagedReads,
  readPages,
  withoutPages,
} from "../derive/sweeps/pages.ts";
import { tryManyPages } from "./page-05.many-pages.ts";

const sampledReads = 5;
/** Made-up rows of one listing; a read of more proves nothing new. */
const maxRows = 2_000;

interface RowCount {
  readonly name: string;
  of(listing: Listing): number;
}

const counts: readonly RowCount[] = [
  { name: "no row", of: () => 0 },
  { name: "one row", of: () => 1 },
  { name: "one row less than a page", of: ({ pageSize }) => pageSize - 1 },
  { name: "exactly one page", of: ({ pageSize }) => pageSize },
  { name: "one row more than a page", of: ({ pageSize }) => pageSize + 1 },
  { name: "exactly two pages", of: ({ pageSize }) => 2 * pageSize },
];

export default defineRule({
  id: "PAGE-05",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "Any number of rows is read whole and comes to an end: none, one, a page less one, a page, a page and one, two pages, hundreds of pages.",
  why: "Ends of pages are where mistakes of one happen. They show when an account happens to have a round number of rows.",
  fix: "Do not compute where the end is from the number of rows. Write the rows of each page before you look at whether it was the last.",
  good: "yield records(page.rows);\nif (page.next === null) return;",
  bad: "if (page.next === null) return;\nyield records(page.rows);",
  notApplicable: withoutPages,
  async run(lab, report) {
    const reads = await pagedReads(lab);
    if (reads.length === 0) return report.missing(missingReads(lab));
    for (const read of lab.sample(reads, sampledReads)) {
      const key = rowKeyOf(lab, read);
      // Without a key, rows can be neither copied nor recognised.
      if (key === undefined || key.fields.size === 0) continue;
      for (const count of counts) await tryCount(lab, report, read, key, count);
    }
    await tryManyPages(lab, report, reads);
  },
});

async function tryCount(
  lab: Lab,
  report: Reporter,
  read: PagedRead,
  key: RowKey,
  { name, of }: RowCount,
) {
  const paged = [...key.fields.keys()].filter((listing) => read.listings.includes(listing));
  if (
    paged.length === 0 ||
    paged.some((listing) => of(listing) > Math.max(maxRows, listing.rows.length))
  )
    return;
  const changes = withRowCount(key, (listing) =>
    paged.includes(listing) ? of(listing) : listing.rows.length,
  );
  const { observation, isEndless, isBeyondRecordings } = await readPages(lab, read, changes);
  // Requests about rows that the kit made up, or no requests about those it took away: nothing
  // recorded answers them.
  if (isBeyondRecordings) return;
  const subject = `${read.name}: ${name}`;
  report.checked(subject);
  const given = givenKeys(read, key, observation);
  const expected = expectedKeys(read, key, changes);
  const missing = [...expected].filter((one) => !given.has(one));
  if (!isEndless && observation.outcome.status === "succeeded" && missing.length === 0) return;
  const end = isEndless
    ? "goes on without end"
    : observation.outcome.status === "succeeded"
      ? `succeeds, but ${missingText(missing)}`
      : `is ${endText(observation)}`;
  const [listing] = paged;
  report.fail(
    `${subject} in ${listing?.id} (${listing && of(listing)} rows, ${listing?.pageSize} a page): the read ${end}. Expected: ${expected.size} rows.`,
    exchangeEvidence("Requests", observation.exchanges.slice(0, 20)),
  );
}
