import { messageEvidence, textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import {
  isPaged,
  largestPage,
  manyRows,
  readLarge,
  reportNoListing,
  streamListings,
} from "../derive/rows/large.ts";
import { settledBytes } from "../replay/gauges.ts";

const rowCounts = { default: 30_000, exhaustive: 1_000_000 };
const pageRows = { default: 600, exhaustive: 1_000 };
/** Pages that a read is brought to where they cannot be made larger. */
const mostPages = 200;
/**
 * Bytes kept for each row read, beyond which memory grows with the data; and the bytes that are
 * noise.
 */
const mostPerRow = 24;
const noiseBytes = 400_000;
/** A loaded machine is no reason to fail. */
const patient = { connectMs: 30_000, headersMs: 30_000, idleMs: 30_000, totalMs: 60_000 };
/** Log lines: so many for each page, and some for the rest. */
const linesPerPage = 4;
const linesBesides = 200;

export default defineRule({
  id: "LIMIT-04",
  level: "MUST",
  profile: "scale",
  since: "0.1.0",
  title: "Memory does not grow with the number of rows, nor does the log.",
  why: "A read that keeps a little of each row works for a year and is then killed every night, after hours. A log line for each row fills the disk of everybody else.",
  fix: "Keep nothing of a row that has been written: no list of all rows, no set of all ids. Log pages or totals, not rows.",
  good: "log.info('Page read.', { rows: page.rows.length });",
  bad: "const seen = new Set(); // of a million ids",
  notApplicable: (lab) =>
    lab.egress === "http" ? undefined : "its rows come from a database, which has no pages to make",
  async run(lab, report) {
    const listings = await streamListings(lab);
    if (listings.length === 0) return await reportNoListing(lab, report);
    const size = lab.isExhaustive ? "exhaustive" : "default";
    const one =
      listings
        .filter(isPaged)
        .toSorted(
          (a, b) => largestPage(lab, b, pageRows[size]) - largestPage(lab, a, pageRows[size]),
        )[0] ?? listings[0];
    if (!one) return;
    const pageSize = largestPage(lab, one, pageRows[size]);
    const pageCount = isPaged(one) ? Math.min(mostPages, Math.ceil(rowCounts[size] / pageSize)) : 1;
    const rowCount = pageCount * pageSize;
    const held: { readonly rows: number; readonly bytes: number }[] = [];
    const samples = new Set(
      [0.2, 0.45, 0.7, 0.95].map((part) => one.requestsBefore + Math.floor(part * pageCount)),
    );
    let written = 0;
    const seen = await readLarge(
      lab,
      one,
      { rows: manyRows(one, rowCount), pageSize },
      {
        isBrief: true,
        deadlineMs: 600_000,
        // The replay keeps its answers until the run ends; real connections keep nothing.
        transport: "server",
        timeouts: patient,
        onRequest: async ({ index }) => {
          if (lab.can("inside") && pageCount >= 4 && samples.delete(index))
            held.push({
              rows: (index - one.requestsBefore) * pageSize,
              bytes: await settledBytes(),
            });
        },
        onMessage: ({ type }) => {
          if (type === "RECORD") written++;
        },
      },
    );
    const name = `${one.stream.label}, ${rowCount.toLocaleString("en")} rows on ${pageCount} pages`;
    report.checked(`${name}: log`);
    const lines = seen.messages.flatMap(({ message }, index) =>
      message.type === "LOG" ? [index] : [],
    );
    const most = pageCount * linesPerPage + linesBesides;
    if (lines.length > most)
      report.fail(
        `${name}: ${lines.length.toLocaleString("en")} log lines were written. Expected: fewer than ${most}, however many rows there are.`,
        messageEvidence("Messages besides the rows", seen, lines.slice(0, 3)),
      );
    const [first, last] = [held[0], held.at(-1)];
    // Lines of the log are kept here, by the kit.
    if (first && last && last.rows > first.rows && lines.length <= most) {
      report.checked(`${name}: memory`);
      const perRow = slowestGrowth(held);
      if (perRow > mostPerRow && last.bytes - first.bytes > noiseBytes)
        report.fail(
          `${name}: between row ${first.rows.toLocaleString("en")} and row ${last.rows.toLocaleString("en")} the memory that is held grew by ${Math.round(perRow)} bytes for each row. Expected: it does not grow.`,
          textEvidence(
            "Held after a collection of garbage",
            held.map(({ rows, bytes }) => `${rows} rows: ${bytes} bytes`).join("\n"),
          ),
        );
    }
    if (seen.outcome.status === "succeeded" && written < rowCount && one.keyFields.length > 0)
      report.fail(
        `${name}: ${written.toLocaleString("en")} rows were written, and the run succeeded. Expected: all of them.`,
        messageEvidence("Messages besides the rows", seen, []),
      );
  },
});

/**
 * Bytes for each row, where they grew least: what is kept of each row shows everywhere, what a
 * program needs once does not.
 */
function slowestGrowth(held: readonly { readonly rows: number; readonly bytes: number }[]): number {
  const steps = held.slice(1).map(({ rows, bytes }, index) => {
    const before = held[index];
    return before ? (bytes - before.bytes) / (rows - before.rows) : 0;
  });
  return Math.min(...steps);
}
