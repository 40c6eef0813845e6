import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import {
  isPaged,
  largestPage,
  manyRows,
  readLarge,
  reportNoListing,
  streamListings,
} from "../derive/rows/large.ts";

/** Pages that may be on their way or in buffers. */
const mostPages = 8;
const pageCount = 40;
/**
 * Rows of a page, where so many can be asked for: a buffer of some hundred rows is none of many
 * pages.
 */
const pageRows = 100;
const sampledStreams = 2;

export default defineRule({
  id: "MEM-01",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title: `When its consumer stalls, a read stops asking for more: ${mostPages} pages at most are fetched ahead.`,
  why: "A destination that is slow for a while, a full disk, a database that locks: everything that is fetched meanwhile piles up in memory, until the process is killed with all of it.",
  fix: "Wait for the output to take a page before the next one is asked for, or bound how many are fetched ahead.",
  good: "for await (const page of pages) for (const row of page.rows) await write(row);",
  bad: "while (next) queue.push(await fetchPage(next)); // whether or not anybody takes them",
  async notApplicable(lab) {
    if (lab.egress !== "http") return "its provider is a database: the kit counts no pages of it";
    if (!lab.can("backpressure"))
      return "between this target and its consumer lie buffers that hold more than a recording";
    const listings = await streamListings(lab);
    return listings.length === 0 || listings.some(isPaged)
      ? undefined
      : "no read begins with a listing of several pages, which could be made longer";
  },
  async run(lab, report) {
    const listings = await streamListings(lab);
    if (listings.length === 0) return await reportNoListing(lab, report);
    let seenCount = 0;
    // A read of many made-up rows may ask for more about each, which nobody recorded: then another
    // stream is taken.
    for (const one of listings.filter(isPaged)) {
      if (seenCount >= sampledStreams) break;
      const stallAfter =
        one.whole.messages.findIndex(({ message }) => message.type === "RECORD") + 1;
      const pageSize = largestPage(lab, one, pageRows);
      const seen = await readLarge(
        lab,
        one,
        { rows: manyRows(one, pageSize * pageCount), pageSize },
        { stallAfter },
      );
      if (!seen.stalledAt) continue;
      seenCount++;
      const name = `${one.stream.label}, ${pageCount} pages of ${pageSize}, whose consumer takes ${stallAfter} messages and then none for a while`;
      report.checked(name);
      // A connector that has fetched everything before the first row is no case for this rule:
      // MEM-02 reports it.
      const before = seen.messages[stallAfter - 1]?.requestCount ?? 0;
      const ahead = seen.stalledAt.requestCount - before;
      if (ahead > mostPages)
        report.fail(
          `${name}: ${ahead} more requests were sent while it took nothing. Expected: ${mostPages} at most.`,
          exchangeEvidence(
            "Requests",
            seen.exchanges,
            ({ request }) =>
              request.index >= before && request.index < (seen.stalledAt?.requestCount ?? 0),
          ),
          messageEvidence("Messages", { messages: seen.messages.slice(0, stallAfter + 3) }, [
            stallAfter - 1,
          ]),
        );
    }
  },
});
