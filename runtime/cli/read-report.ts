import { type ConfiguredStream, streamLabel } from "../contract/catalog.ts";
import type { ColumnTypeChange } from "../contract/destination.ts";
import type { ReadSummary, StreamSummary } from "../contract/host.ts";
import type { OutputSink } from "../sinks/output.ts";
import { toErrorDocument } from "./answer.ts";
import type { Place } from "./place.ts";
import { formatBytes, formatCount, formatDuration } from "./progress.ts";
import { formatTable } from "./table.ts";
import { printable } from "./usage.ts";

/** A read that has ended, well or not. */
export interface FinishedRead {
  readonly summary: ReadSummary;
  /** In the order of the summary. */
  readonly streams: readonly ConfiguredStream[];
  readonly sink: Pick<OutputSink, "location">;
  readonly place: Pick<Place, "name" | "kind">;
  readonly durationMs: number;
  /** Rows that the source has no more, by stream that was looked at. */
  readonly deleted?: ReadonlyMap<string, number> | undefined;
  readonly columnChanges?: readonly ColumnTypeChange[] | undefined;
}

/** The streams with the tables or files that they went to. */
const placedStreams = ({ summary, streams, sink }: FinishedRead) =>
  summary.streams.map((stream, index) => ({
    ...stream,
    location: sink.location(streams[index]?.stream ?? { name: "" }),
  }));

/** The result of a read, for scripts. */
export function toDocument(done: FinishedRead) {
  const { status, recordCount, byteCount, nulledCount, redactedCount, error } = done.summary;
  return {
    status,
    out: done.place.name,
    rows: recordCount,
    bytes: byteCount,
    nulled_values: nulledCount,
    redacted_values: redactedCount,
    duration_ms: done.durationMs,
    streams: placedStreams(done).map((stream) => ({
      stream: stream.stream,
      status: stream.status,
      rows: stream.recordCount,
      deleted_rows: done.deleted?.get(stream.stream),
      [done.place.kind === "folder" ? "file" : "table"]: stream.location,
      error: stream.error && toErrorDocument(stream.error),
    })),
    changed_columns: done.columnChanges?.map(({ stream, column, from, to }) => ({
      stream: streamLabel(stream),
      column,
      from,
      to,
    })),
    error: error && toErrorDocument(error),
  };
}

/** Most streams that the table lists; a database may have thousands. */
const maxTableRows = 50;

/** The table of what was read, what did not work, and what to do next. */
export function report(done: FinishedRead): string {
  const { summary, place, durationMs } = done;
  const rows = placedStreams(done);
  // People look for what went wrong.
  const shown = [...rows].sort((left, right) => rank(left) - rank(right)).slice(0, maxTableRows);
  const table = formatTable(
    ["stream", "rows", "status", place.kind === "folder" ? "file" : "table"],
    shown.map((row) => [row.stream, formatCount(row.recordCount), row.status, row.location]),
  );
  const hidden = rows.length - shown.length;
  const problems = shown.flatMap(({ stream, error }) =>
    error ? [`${printable(stream)}: ${printable(error.message, 500)}`] : [],
  );
  const rest =
    summary.error && problems.length === 0 ? [printable(summary.error.message, 500)] : [];
  const notes = [
    ...(hidden > 0
      ? [`… and ${formatCount(hidden)} more, all ${rows.at(-1)?.status ?? "complete"}`]
      : []),
    `${formatCount(summary.recordCount)} rows (${formatBytes(summary.byteCount)}) in ${formatDuration(durationMs)} → ${place.name}`,
    ...(summary.nulledCount > 0
      ? [
          `${formatCount(summary.nulledCount)} values did not fit their schema and were left empty; see _svc_meta`,
        ]
      : []),
    ...(summary.redactedCount > 0
      ? [`${formatCount(summary.redactedCount)} values held a secret and were redacted`]
      : []),
  ];
  for (const { stream, column, from, to } of (done.columnChanges ?? []).slice(0, maxTableRows))
    notes.push(
      `${printable(streamLabel(stream))}: ${printable(column)} is ${to} now, was ${from}, so that every value fits`,
    );
  for (const [stream, count] of done.deleted ?? [])
    if (count > 0)
      notes.push(`${printable(stream)}: ${formatCount(count)} rows that the source has no more`);
  const next =
    summary.status === "succeeded"
      ? query(place, rows)
      : place.kind === "stdout"
        ? "Run the same command again: it begins anew."
        : "Run the same command again: it goes on from the last checkpoint.";
  return [table, ...notes, ...problems, ...rest, next].filter((line) => line !== "").join("\n");
}

const rank = (stream: StreamSummary) => (stream.status === "incomplete" ? 0 : 1);

/** The command that shows the first rows. */
function query(
  place: FinishedRead["place"],
  rows: readonly { readonly location: string; readonly recordCount: number }[],
): string {
  if (place.kind === "stdout") return "";
  const first = rows.find(({ recordCount }) => recordCount > 0) ?? rows[0];
  if (!first) return "";
  const [database, from] =
    place.kind === "duckdb"
      ? [`${shellWord(place.name)} `, first.location]
      : ["", `'${place.name}/${first.location}'`];
  return `Query it: duckdb ${database}-c ${shellWord(`SELECT * FROM ${from} LIMIT 10`)}`;
}

const shellWord = (text: string) =>
  /^[\w./-]+$/.test(text) ? text : `"${text.replace(/["$`\\]/g, "\\$&")}"`;
