/** Streams of a pipeline in a workspace file: they are told apart by name, in whatever order. */
import { isDeepStrictEqual } from "node:util";
import { streamLabel } from "svc-connectors/host";
import type { Entries } from "./schema.ts";

export type StreamEntry = NonNullable<Entries["pipelines"]["streams"]>[number];

const identityOf = ({ name, namespace }: StreamEntry) => JSON.stringify([namespace ?? "", name]);

export const labelOfStream = ({ name, namespace }: StreamEntry) =>
  streamLabel(namespace ? { name, namespace } : { name });

/** The difference of a stream: the fields of the file that are not as they are. */
export interface StreamDifference {
  readonly wanted: StreamEntry | undefined;
  readonly there: StreamEntry | undefined;
  readonly fields: readonly (keyof StreamEntry)[];
}

type Streams = Pick<Entries["pipelines"], "streams" | "select_all">;

export function streamDifferences(wanted: Streams, before: Streams): StreamDifference[] {
  if (wanted.streams === undefined) return [];
  const there = new Map((before.streams ?? []).map((one) => [identityOf(one), one]));
  const named = new Set(wanted.streams.map(identityOf));
  const differing = wanted.streams.flatMap((stream): StreamDifference[] => {
    const found = there.get(identityOf(stream));
    if (!found) return [{ wanted: stream, there: undefined, fields: [] }];
    const fields = (Object.keys(stream) as (keyof StreamEntry)[]).filter(
      (field) => field !== "name" && field !== "namespace" && !isSame(stream, found, field),
    );
    return fields.length > 0 ? [{ wanted: stream, there: found, fields }] : [];
  });
  const gone = wanted.select_all
    ? []
    : [...there].flatMap(([identity, one]) => (named.has(identity) ? [] : [one]));
  return [
    ...differing,
    ...gone.map((one) => ({ wanted: undefined, there: one, fields: [] as const })),
  ];
}

function isSame(wanted: StreamEntry, there: StreamEntry, field: keyof StreamEntry): boolean {
  const [one, other] = [chosenOf(wanted, field), chosenOf(there, field)];
  if (isDeepStrictEqual(one, other)) return true;
  // An empty cursor or key is the one of the source; columns are a set.
  if ((field === "cursor_field" || field === "primary_key") && (one as unknown[])?.length === 0)
    return true;
  return (
    (field === "selected_fields" || field === "hashed_fields") &&
    one !== null &&
    other !== null &&
    isDeepStrictEqual([...(one as string[])].sort(), [...(other as string[])].sort())
  );
}

/** An empty list of hashes or conditions is none. */
const chosenOf = (entry: StreamEntry, field: keyof StreamEntry) =>
  (field === "hashed_fields" || field === "row_filter") && entry[field]?.length === 0
    ? null
    : (entry[field] ?? null);

/** The request that makes the streams of a pipeline what the file says. */
export function streamChanges(wanted: Streams, before: Streams) {
  const differences = streamDifferences(wanted, before);
  const nameOf = ({ name, namespace }: StreamEntry) => ({ name, namespace: namespace ?? null });
  const streams = differences.flatMap(({ wanted: stream, there, fields }) => {
    if (!stream) return [];
    if (!there) return [stream];
    return [{ ...nameOf(stream), ...Object.fromEntries(fields.map((one) => [one, stream[one]])) }];
  });
  const remove = differences.flatMap(({ wanted: stream, there }) =>
    stream === undefined && there ? [nameOf(there)] : [],
  );
  return {
    ...(streams.length > 0 ? { streams } : {}),
    ...(remove.length > 0 ? { remove } : {}),
  };
}
