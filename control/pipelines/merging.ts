/** Changes of some streams of a selection: what a request does not name stays as it was agreed. */
import type { CatalogStream, DestinationSyncMode } from "svc-connectors/host";
import type { Static } from "typebox";
import { refuseField } from "../contract/reasons.ts";
import { toFilterBody } from "./parts-of-streams.ts";
import { type StreamBody, selectStreams, toDescriptor } from "./selecting.ts";
import { type AgreedStream, identityOf } from "./selection.ts";
import type { Selection } from "./streams.ts";
import type { TableNaming } from "./table-names.ts";

type Named = Pick<Static<typeof StreamBody>, "name" | "namespace">;

/** Streams as they are to be: changed or added, and taken away. */
export interface StreamChanges {
  readonly streams?: readonly Static<typeof StreamBody>[] | undefined;
  readonly remove?: readonly Named[] | undefined;
}

const identity = (stream: Named): string => identityOf(toDescriptor(stream));

/** The streams of a request that the selection does not have yet: the source's catalog has to. */
export const addedStreams = (before: Selection, { streams = [] }: StreamChanges) => {
  const agreed = new Set(before.agreed.map((one) => identityOf(one.stream)));
  return streams.filter((stream) => !agreed.has(identity(stream)));
};

/**
 * The selection with the changes of a request.
 * @param catalog of the source; only what is added is looked up there
 * @throws validation_failed, stream_unknown, sync_mode_unsupported, each with the places
 */
export function mergeStreams(
  before: Selection,
  changes: StreamChanges,
  {
    catalog,
    modes,
    naming,
  }: {
    readonly catalog: readonly CatalogStream[];
    readonly modes: readonly DestinationSyncMode[];
    readonly naming: TableNaming;
  },
): Selection {
  const { streams = [], remove = [] } = changes;
  const agreed = new Map(before.agreed.map((one) => [identityOf(one.stream), one]));
  requireRemovable(before, changes);
  const known = before.agreed.map(({ stream }) => stream);
  const added = catalog.filter((stream) => !agreed.has(identityOf(stream)));
  const bodies = streams.map((stream) => ({ ...bodyOf(agreed.get(identity(stream))), ...stream }));
  const changed =
    bodies.length === 0
      ? []
      : selectStreams({ streams: bodies }, { catalog: [...known, ...added], modes, naming });
  for (const one of changed) agreed.set(identityOf(one.stream), one);
  for (const one of remove) agreed.delete(identity(one));
  if (agreed.size === 0)
    throw refuseField("validation_failed", "remove", "would leave the pipeline without a stream");
  return {
    agreed: [...agreed.values()],
    known: new Set([...before.known, ...changed.map((one) => identityOf(one.stream))]),
  };
}

/** An agreed stream as a request would name it. */
function bodyOf(agreed: AgreedStream | undefined): Partial<Static<typeof StreamBody>> {
  if (agreed === undefined) return {};
  const { syncMode, destinationSyncMode, cursorField, primaryKey } = agreed;
  const { selectedFields, hashedFields, rowFilter, detectDeletes } = agreed;
  return {
    sync_mode: syncMode,
    destination_sync_mode: destinationSyncMode,
    cursor_field: [...cursorField],
    primary_key: primaryKey.map((path) => [...path]),
    selected_fields: selectedFields && [...selectedFields],
    detect_deletes: detectDeletes,
    hashed_fields: hashedFields && [...hashedFields],
    row_filter: rowFilter && toFilterBody(rowFilter),
  };
}

/**
 * Refuses to remove a stream that the source never had: a slip. One that the pipeline does not have
 * any more may be removed again: the request may have been sent twice.
 */
function requireRemovable(
  { agreed, known }: Selection,
  { streams = [], remove = [] }: StreamChanges,
): void {
  const changed = new Set(streams.map(identity));
  const there = new Set([...known, ...agreed.map((one) => identityOf(one.stream))]);
  for (const [index, stream] of remove.entries()) {
    if (!there.has(identity(stream)))
      throw refuseField("stream_unknown", `remove.${index}`, "is no stream of the pipeline");
    if (changed.has(identity(stream)))
      throw refuseField("validation_failed", `remove.${index}`, "is changed by the same request");
  }
}
