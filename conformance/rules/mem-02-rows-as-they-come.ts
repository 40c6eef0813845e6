import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab, RunOptions } from "../contract/lab.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  isPaged,
  largestPage,
  manyRows,
  readLarge,
  repeatedRows,
  reportNoListing,
  type StreamListing,
  streamListings,
} from "../derive/rows/large.ts";

/** Pages that may have been fetched before the rows of one are written. */
const mostPages = 8;
const pageCount = 40;
const pageRows = 10;
/** Where nothing is declared: more answers at once than any provider of listings expects. */
const undeclaredConcurrency = 24;
/** Parents, for reads that ask once more for each of them. */
const parentCount = 60;
/** How long an answer is held back, so that requests under way at once meet; ms of real time. */
const heldMs = 2;
/** How long rows may be on their way to the kit through a container's log; ms of real time. */
const mostDelayMs = 2_000;
const sampledStreams = 3;

export default defineRule({
  id: "MEM-02",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A read writes rows as they come, instead of collecting pages first, and holds no more answers at once than it declares.",
  why: "What works on the developer's account with 300 rows takes 8 GB with three million. It is killed on the largest customers first.",
  fix: "Yield each page before the next one is asked for, and go through parents one after the other, or a few at a time.",
  good: "for await (const page of pages) yield records(page.rows);",
  bad: "const all = [];\nfor await (const page of pages) all.push(...page.rows);\nyield records(all);",
  notApplicable: (lab) =>
    lab.egress === "http" ? undefined : "its provider is a database: the kit counts no pages of it",
  async run(lab, report) {
    const listings = await streamListings(lab);
    if (listings.length === 0) return await reportNoListing(lab, report);
    for (const one of lab.sample(
      listings.filter((one) => isPaged(one) && one.keyFields.length > 0),
      sampledStreams,
    ))
      await collected(lab, one, report);
    for (const one of lab.sample(
      listings.filter((one) => !isPaged(one) || one.keyFields.length === 0),
      sampledStreams,
    ))
      await atOnce(lab, one, report);
  },
});

/**
 * Requests that are under way together, and how many there were when each row came.
 * @param dueAt rows that have to have come when so many requests were sent: the next answer is held
 *   back for them, until one waits in vain
 */
function countRequests(dueAt: (sent: number) => number = () => 0) {
  const seen = { open: 0, most: 0, sent: 0, sentAtRow: [] as number[], isLate: false };
  const pause = () => new Promise((resolve) => setTimeout(resolve, heldMs));
  const rowsDue = async (count: number) => {
    const endMs = performance.now() + mostDelayMs;
    while (seen.sentAtRow.length < count && !seen.isLate) {
      await pause();
      seen.isLate ||= performance.now() > endMs && seen.sentAtRow.length < count;
    }
  };
  const runOptions: RunOptions = {
    isBrief: true,
    async onRequest() {
      seen.sent++;
      seen.most = Math.max(seen.most, ++seen.open);
      await rowsDue(dueAt(seen.sent));
      await pause();
      seen.open--;
    },
    onMessage({ type }) {
      if (type === "RECORD") seen.sentAtRow.push(seen.sent);
    },
  };
  return { seen, runOptions };
}

async function collected(lab: Lab, one: StreamListing, report: Reporter): Promise<void> {
  const { seen, runOptions } = countRequests();
  const pageSize = largestPage(lab, one, pageRows);
  const run = await readLarge(
    lab,
    one,
    { rows: manyRows(one, pageCount * pageSize), pageSize },
    runOptions,
  );
  const name = `${one.stream.label}, ${pageCount} pages of ${pageSize}`;
  if (seen.sentAtRow.length === 0 || seen.sent <= mostPages) return;
  report.checked(`${name}: rows as they come`);
  const ahead = seen.sentAtRow.map(
    (sent, at) => sent - one.requestsBefore - Math.floor(at / pageSize) - 1,
  );
  const worst = ahead.findIndex((pages) => pages > mostPages);
  if (worst >= 0 && (await isLate(lab, one, pageSize)))
    report.fail(
      `${name}: ${seen.sentAtRow[worst]} requests had been sent when row ${worst + 1} was written, which stands on page ${Math.floor(worst / pageSize) + 1}. Expected: rows are written before ${mostPages} more pages are fetched.`,
      exchangeEvidence("Requests", run.exchanges),
    );
  tooMany(lab, name, seen.most, report);
}

/** Rows that were on their way come while the answers to further requests are held back. */
async function isLate(lab: Lab, one: StreamListing, pageSize: number): Promise<boolean> {
  const { seen, runOptions } = countRequests(
    (sent) => (sent - one.requestsBefore - mostPages - 1) * pageSize,
  );
  const rows = manyRows(one, pageCount * pageSize);
  await readLarge(lab, one, { rows, pageSize }, runOptions);
  return seen.isLate;
}

async function atOnce(lab: Lab, one: StreamListing, report: Reporter): Promise<void> {
  const { seen, runOptions } = countRequests();
  await readLarge(lab, one, { rows: repeatedRows(one.listing, parentCount) }, runOptions);
  const name = `${one.stream.label}, ${parentCount} rows in ${one.listing.id}`;
  if (seen.sent === 0) return;
  tooMany(lab, name, seen.most, report);
}

function tooMany(lab: Lab, name: string, atOnceCount: number, report: Reporter): void {
  const egress = lab.manifest?.egress;
  const most = (egress?.kind === "http" ? egress.concurrency : undefined) ?? undeclaredConcurrency;
  report.checked(`${name}: answers at once`);
  if (atOnceCount > most)
    report.fail(
      `${name}: ${atOnceCount} answers were awaited at once, each of which may be a page in memory. Expected: ${most} at most${egress ? ", as declared" : ""}.`,
    );
}
