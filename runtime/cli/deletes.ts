/** `svc read --detect-deletes`: rows that the source has no more are marked or removed. */
import type { ConfiguredStream } from "../contract/catalog.ts";
import { streamLabel } from "../contract/catalog.ts";
import type { ComparedKeys, DeleteMode } from "../contract/destination.ts";
import { ConnectorError, type ErrorRecord, toConnectorError } from "../contract/errors.ts";
import type { ReadRequest, ReadSummary } from "../contract/host.ts";
import type { Sink } from "../contract/sink.ts";
import { keysOnly } from "../destination/deletes.ts";
import { outputDeletesProblem } from "../sinks/duckdb.ts";
import type { CompareOptions, OutputOptions } from "../sinks/output.ts";
import { withHashedFields } from "../spec/hashed-fields.ts";
import type { Place } from "./place.ts";
import { printable, UsageError } from "./usage.ts";

export interface Deletes {
  readonly mode: DeleteMode;
  /** Streams whose deleted rows can be found. */
  readonly streams: readonly ConfiguredStream[];
  /** Sentences about the others. */
  readonly lines: readonly string[];
  readonly compare: (options: CompareOptions) => Promise<Sink>;
}

/**
 * Undefined: nobody asks.
 * @throws UsageError when the place, or every stream, cannot
 */
export function chooseDeletes(
  mode: DeleteMode | undefined,
  place: Place,
  streams: readonly ConfiguredStream[],
): Deletes | undefined {
  if (mode === undefined) return undefined;
  const { compareKeys } = place;
  if (!compareKeys)
    throw new UsageError(
      "--detect-deletes needs tables, from which rows can be taken: --out x.duckdb",
    );
  const problems = streams.map((one) => outputDeletesProblem(one));
  const lines = streams.flatMap(({ stream }, index) =>
    problems[index] === undefined
      ? []
      : [`${printable(streamLabel(stream))}: deleted rows are not looked for: ${problems[index]}`],
  );
  const followed = streams.filter((_, index) => problems[index] === undefined);
  if (followed.length === 0)
    throw new UsageError(
      `--detect-deletes has no stream to look at, it is for incremental reads of streams with a key; ${lines[0] ?? "there is none"}`,
    );
  return { mode, streams: followed, lines, compare: (options) => compareKeys(options) };
}

interface FollowOptions {
  readonly output: OutputOptions;
  readonly isConfirmed: boolean;
  readonly config: ReadRequest["config"];
  readonly hashKey: ReadRequest["hashKey"];
  read(request: ReadRequest, sink: Sink): Promise<ReadSummary>;
}

/** The result of a read and of the comparison after it. */
export interface Followed {
  readonly summary: ReadSummary;
  /** Number of rows that were marked or removed, by stream. */
  readonly deleted: ReadonlyMap<string, number>;
}

/**
 * Reads the keys of the streams that are complete and compares them. A stream of which that did not
 * work is incomplete: nothing of it was deleted.
 */
export async function followDeletes(
  summary: ReadSummary,
  { mode, streams, compare }: Deletes,
  { output, isConfirmed, config, hashKey, read }: FollowOptions,
): Promise<Followed> {
  const complete = new Set(
    summary.streams.filter(({ status }) => status === "complete").map(({ stream }) => stream),
  );
  const followed = streams.filter(({ stream }) => complete.has(streamLabel(stream)));
  if (summary.status === "cancelled" || followed.length === 0)
    return { summary, deleted: new Map() };
  const compared = new Map<string, ComparedKeys>();
  let keys: ReadSummary | undefined;
  let thrown: ErrorRecord | undefined;
  try {
    const sink = await compare({
      ...output,
      streams: followed.map(withHashedFields),
      detectDeletes: mode,
      isConfirmed,
      onCompared: (one) => void compared.set(streamLabel(one.stream), one),
    });
    const catalog = { streams: followed.map(keysOnly) };
    keys = await read({ config, catalog, state: [], hashKey }, sink).finally(() => sink.close());
  } catch (error) {
    thrown = toConnectorError(error).toRecord();
  }
  const errors = new Map<string, ErrorRecord>();
  for (const { stream } of followed) {
    const label = streamLabel(stream);
    const found = compared.get(label);
    if (found && found.refusal === undefined) continue;
    const own = keys?.streams.find((one) => one.stream === label)?.error ?? keys?.error ?? thrown;
    errors.set(label, found ? refusedBy(label, found) : (own ?? internal(label)));
  }
  const deleted = new Map([...compared].map(([label, one]) => [label, one.deletedCount]));
  const [first] = errors.values();
  if (!first) return { summary, deleted };
  return {
    summary: {
      ...summary,
      status: keys?.status === "cancelled" ? "cancelled" : "failed",
      error: summary.error ?? first,
      streams: summary.streams.map((one) => {
        const error = errors.get(one.stream);
        return error ? { ...one, status: "incomplete", error } : one;
      }),
    },
    deleted,
  };
}

const refusedBy = (stream: string, { refusal = "" }: ComparedKeys) =>
  new ConnectorError("DELETES_REFUSED", { stream, reason: refusal }).toRecord(stream);

const internal = (stream: string) => new ConnectorError("INTERNAL").toRecord(stream);
