/**
 * Remembers how the streams of an output were read: rows with hashes and rows in plain, or of two
 * filters, never stand side by side in silence.
 */
import { createHash, createHmac } from "node:crypto";
import {
  type ConfiguredStream,
  type StreamDescriptor,
  type StreamState,
  streamKey,
  streamLabel,
} from "../contract/catalog.ts";
import { isJsonObject, type JsonValue } from "../contract/json.ts";
import type { OutputOptions, OutputSink } from "../sinks/output.ts";
import type { Place } from "./place.ts";
import { printable } from "./usage.ts";

/** A sink that goes on only with streams that were read as they are now. */
export interface RememberingSink extends OutputSink {
  /** Streams with a saved state whose hashed columns, key or filter were others. */
  readonly changed: readonly StreamDescriptor[];
}

/** The states beside how their rows were read. */
export function remembering(
  sink: OutputSink,
  streams: readonly ConfiguredStream[],
  hashKey: Uint8Array | undefined,
): RememberingSink {
  const marks = new Map(streams.map((one) => [streamKey(one.stream), markOf(one, hashKey)]));
  const saved = sink.savedState().map(({ stream, state }) => ({ stream, ...unwrap(state) }));
  const isSame = ({ stream, mark }: { stream: StreamDescriptor; mark: string | undefined }) =>
    mark === marks.get(streamKey(stream));
  return {
    ...sink,
    changed: saved.filter((one) => !isSame(one)).map(({ stream }) => stream),
    savedState: (): readonly StreamState[] =>
      saved.filter(isSame).map(({ stream, state }) => ({ stream, state })),
    checkpoint: (stream, state, rowCount) =>
      sink.checkpoint(stream, wrap(state, marks.get(streamKey(stream))), rowCount),
  };
}

/** Undefined: all of its rows, in plain. */
function markOf(
  { hashed_fields: hashed, row_filter: filter }: ConfiguredStream,
  hashKey: Uint8Array | undefined,
): string | undefined {
  if (!hashed && !filter) return undefined;
  const key =
    hashed && hashKey && createHmac("sha256", hashKey).update("svc hash key").digest("hex");
  const text = JSON.stringify([hashed?.toSorted() ?? null, key ?? null, filter ?? null]);
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

/** An empty state is a beginning, and stays one. */
function wrap(state: JsonValue, mark: string | undefined): JsonValue {
  const isBeginning =
    state === null || (isJsonObject(state) && Object.keys(state as object).length === 0);
  return mark === undefined || isBeginning ? state : { svc_mark: mark, state };
}

function unwrap(state: JsonValue): {
  readonly state: JsonValue;
  readonly mark: string | undefined;
} {
  if (isJsonObject(state) && typeof state.svc_mark === "string" && state.state !== undefined)
    return { state: state.state, mark: state.svc_mark };
  return { state, mark: undefined };
}

/**
 * Opens a place so that streams which were read otherwise begin anew: their rows take the place of
 * those that are there.
 */
export async function openAsBefore(
  place: Pick<Place, "open">,
  options: OutputOptions,
  hashKey: Uint8Array | undefined,
): Promise<RememberingSink & { readonly restarted: readonly StreamDescriptor[] }> {
  const first = remembering(await place.open(options), options.streams, hashKey);
  if (first.changed.length === 0) return { ...first, restarted: [] };
  await first.close();
  const again = await place.open({ ...options, restarting: first.changed });
  return { ...remembering(again, options.streams, hashKey), restarted: first.changed };
}

/** The streams that begin anew, in lines for people. */
export const describeChanged = (streams: readonly StreamDescriptor[]): string[] =>
  streams.length === 0
    ? []
    : [
        `Read anew, because hashed columns, their key or conditions are others than before: ${streams
          .slice(0, 8)
          .map((stream) => printable(streamLabel(stream), 60))
          .join(", ")}${streams.length > 8 ? ` and ${streams.length - 8} more` : ""}`,
      ];
