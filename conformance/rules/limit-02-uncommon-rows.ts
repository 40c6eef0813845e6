import type { UncommonTable } from "../contract/database-sql.ts";
import { messageEvidence } from "../contract/evidence.ts";
import { isOfClass, type Lab } from "../contract/lab.ts";
import type { ProviderRow } from "../contract/learned.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { readTable, withTables } from "../derive/database/tables.ts";
import {
  readLarge,
  reportNoListing,
  type StreamListing,
  streamListings,
  textField,
} from "../derive/rows/large.ts";
import { reportsSkip } from "../derive/rows/losses.ts";
import { compareRows, outputRows } from "../derive/rows/rows.ts";
import { untypedEnd } from "../derive/sweeps/odd-outcomes.ts";

const textBytes = 10 * 1024 * 1024;
const depth = 200;
const columnCount = 1_000;
const sampledStreams = 2;

interface UncommonRow {
  readonly name: string;
  /** The row with something uncommon in it. */
  change(row: ProviderRow): ProviderRow;
  /** Characters of a text that the record has to hold. */
  readonly textLength?: number | undefined;
}

export default defineRule({
  id: "LIMIT-02",
  level: "MUST",
  profile: "scale",
  since: "0.1.0",
  title:
    "A row of 10 MB, of 200 levels or of 1,000 columns is written, fails with a class, or is skipped and reported.",
  why: "One row with an attachment in it is enough: the sync of a whole account fails with a stack overflow, or the text is cut and nobody hears of it.",
  fix: "Bound what a row may be, and say so: a typed failure, or a warning with a code and the number of rows that were left out. Do not recurse without a bound.",
  good: "log.warn(`RECORD_TOO_LARGE: 1 row of ${stream} skipped.`);",
  bad: "row.body = row.body.slice(0, 65_535);",
  async run(lab, report) {
    if (lab.database) return await tryTables(lab, lab.database.sql.uncommonTables, report);
    const listings = await streamListings(lab);
    if (listings.length === 0) return await reportNoListing(lab, report);
    for (const one of lab.sample(listings, sampledStreams))
      for (const scene of scenesFor(one)) await readScene(lab, one, scene, report);
  },
});

function scenesFor(one: StreamListing): UncommonRow[] {
  const field = textField(one);
  const text = "wide ".repeat(textBytes / 5);
  const columns = Object.fromEntries(
    Array.from({ length: columnCount }, (_, at) => [`kit_column_${at + 1}`, `value ${at + 1}`]),
  );
  const nested = Array.from({ length: depth }).reduce(
    (inner: unknown) => ({ below: inner }),
    "deep",
  );
  const structured = structuredField(one);
  return [
    {
      name: "a row of 10 MB",
      change: (row) => ({ ...row, [field ?? "kit_text"]: text }),
      textLength: field === undefined ? undefined : text.length,
    },
    {
      name: `a row of ${depth} levels`,
      change: (row) => ({ ...row, [structured ?? "kit_nested"]: nested }),
    },
    {
      name: `a row of ${columnCount.toLocaleString("en")} columns`,
      change: (row) => ({ ...row, ...columns }),
    },
  ];
}

/** A field that holds objects anyway. */
const structuredField = ({ listing: { rows }, stream }: StreamListing) =>
  Object.keys(rows[0] ?? {}).find(
    (name) =>
      !stream.primaryKey.includes(name) &&
      rows.every(
        (row) => row[name] === null || (typeof row[name] === "object" && !Array.isArray(row[name])),
      ) &&
      rows.some((row) => row[name] !== null && Object.getPrototypeOf(row[name]) !== null),
  );

async function readScene(
  lab: Lab,
  one: StreamListing,
  { name, change, textLength }: UncommonRow,
  report: Reporter,
): Promise<void> {
  const { listing, stream, whole } = one;
  const at = Math.floor(listing.rows.length / 2);
  const seen = await readLarge(lab, one, {
    rows: listing.rows.map((row, index) => (index === at ? change(row) : row)),
  });
  const subject = `${stream.label}, ${name}`;
  report.checked(subject);
  const evidence = messageEvidence("Messages", seen, []);
  const end = untypedEnd(seen, whole);
  if (end !== undefined)
    return report.fail(
      `${subject}: ${end}. Expected: the row, a failure of a class that names it, or a warning with code and count.`,
      evidence,
    );
  if (seen.outcome.status !== "succeeded" || reportsSkip(seen, whole)) return;
  const rows = outputRows(seen.messages, stream);
  const { missing } = compareRows(outputRows(whole.messages, stream), rows);
  if (missing.length > 0)
    return report.fail(
      `${subject}: ${missing.length} rows are missing (${missing.slice(0, 3).join(", ")}), and nothing reports it.`,
      evidence,
    );
  const longest = Math.max(
    0,
    ...rows.flatMap(({ data }) =>
      Object.values(data).map((value) => (typeof value === "string" ? value.length : 0)),
    ),
  );
  if (textLength !== undefined && longest < textLength * 0.9)
    report.fail(
      `${subject}: of its ${textLength.toLocaleString("en")} characters ${longest.toLocaleString("en")} were written, and nothing reports it.`,
      evidence,
    );
}

/** Each is read whole, fails with a class that fits, or is skipped with a word about it. */
async function tryTables(
  lab: Lab,
  tables: readonly UncommonTable[],
  report: Reporter,
): Promise<void> {
  for (const { name, what, sql } of tables) {
    report.checked(what);
    const { copy, discover, streams } = await withTables(lab, name, sql);
    const stream = streams.find((one) => one.stream.name === name);
    if (!stream) {
      report.fail(
        `${what}: discover ${discover.outcome.status} without it: ${discover.outcome.failures[0]?.message ?? "it gives no reason"}`,
      );
      continue;
    }
    const { observation, faults } = await readTable(lab, copy, stream);
    const { status, failures } = observation.outcome;
    const isReported =
      status === "succeeded"
        ? reportsSkip(observation, discover)
        : status === "failed" &&
          failures.some((failure) => isOfClass(failure, "schema", "provider", "config"));
    if (faults.length > 0 && !isReported)
      report.fail(
        `${what}: ${faults[0]}.`,
        messageEvidence(
          "Messages",
          { messages: observation.messages.filter(({ line }) => line.length < 10_000) },
          [],
        ),
      );
  }
}
