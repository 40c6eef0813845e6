/** The selection of a request, checked against what the source has. */
import {
  type CatalogStream,
  type DestinationSyncMode,
  destinationSyncModes,
  streamLabel,
} from "svc-connectors/host";
import { type Static, Type } from "typebox";
import {
  ControlError,
  type FieldFault,
  type Reason,
  refuseField,
  refuseFields,
} from "../contract/reasons.ts";
import { Nullable, OneOf, StrictObject } from "../contract/schemas.ts";
import { tableLimit, tooManyTables } from "./catalogs.ts";
import { hasColumn } from "./columns.ts";
import { deletesProblemOf, modeProblem, suggest, usualMode } from "./modes.ts";
import { partFaults, partsOfStream } from "./parts-of-streams.ts";
import { type AgreedStream, detectDeletes, identityOf } from "./selection.ts";
import { collisionsOf, type TableNaming, tableOf } from "./table-names.ts";
import { unknownStreams } from "./unknown-streams.ts";

const Field = Type.String({ minLength: 1, maxLength: 1_000 });

/** A stream by its name, as every request names it. */
export const streamName = {
  name: Field,
  namespace: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
};

export const StreamName = StrictObject(streamName, { title: "StreamName" });

/** A stream and how it is to be synced; what is left out is as prepare suggests it. */
export const StreamBody = StrictObject(
  {
    ...streamName,
    sync_mode: Type.Optional(OneOf(["full_refresh", "incremental"])),
    destination_sync_mode: Type.Optional(OneOf(destinationSyncModes)),
    cursor_field: Type.Optional(Type.Array(Field, { description: "A path of one name." })),
    primary_key: Type.Optional(Type.Array(Type.Array(Field, { minItems: 1 }))),
    selected_fields: Type.Optional(
      Nullable(
        Type.Array(Field, { minItems: 1, uniqueItems: true, description: "Null or absent: all." }),
      ),
    ),
    detect_deletes: Type.Optional(
      OneOf(detectDeletes, {
        description:
          "Rows that the source has no more: none (default): they stay · soft: _svc_deleted_at says when it was noticed · hard: they are removed. For append_dedup: each job compares the keys.",
      }),
    ),
    ...partsOfStream,
  },
  { title: "StreamSelection" },
);

export interface SelectionBody {
  readonly streams?: readonly Static<typeof StreamBody>[] | undefined;
  /** Everything that the source has; `streams` then says what is to be otherwise than suggested. */
  readonly select_all?: boolean | undefined;
}

/** As a stream is named inside. */
export const toDescriptor = ({
  name,
  namespace,
}: {
  readonly name: string;
  readonly namespace?: string | null | undefined;
}) =>
  namespace === undefined || namespace === null || namespace === ""
    ? { name }
    : { name, namespace };

/** Most faults that one answer lists, and most names in a sample. */
const maxFaults = 20;

const refuseSome = (reason: Reason, faults: readonly FieldFault[]) =>
  refuseFields(reason, faults.slice(0, maxFaults));

/**
 * Checks that need no catalog.
 * @throws validation_failed: nothing is selected, or a stream twice · table_limit_exceeded
 */
export function checkSelection({ streams = [], select_all = false }: SelectionBody): void {
  if (streams.length === 0 && !select_all)
    throw refuseField(
      "validation_failed",
      "streams",
      "is missing: name streams, or set select_all",
    );
  if (streams.length > tableLimit)
    throw tooManyTables(streams.length, sampleOf(streams.map(toDescriptor)));
  const identities = streams.map((stream) => identityOf(toDescriptor(stream)));
  const firsts = new Map(identities.map((identity, index) => [identity, index] as const).reverse());
  const faults = identities.flatMap((identity, index) =>
    firsts.get(identity) === index
      ? []
      : [faultAt(index, "duplicate", "is the same stream as one before")],
  );
  if (faults.length > 0) throw refuseSome("validation_failed", faults);
}

const sampleOf = (streams: readonly { readonly name: string; readonly namespace?: string }[]) =>
  streams.slice(0, 10).map(streamLabel);

/** Everything that a selection is checked against. */
export interface SelectionContext {
  readonly catalog: readonly CatalogStream[];
  /** When the source was found to have it; undefined: just now. */
  readonly seenAt?: Date | undefined;
  readonly modes: readonly DestinationSyncMode[];
  readonly naming: TableNaming;
}

/**
 * @throws stream_unknown, validation_failed, sync_mode_unsupported, table_name_conflict, each with
 * the places
 */
export function selectStreams(
  body: SelectionBody,
  context: SelectionContext,
): readonly AgreedStream[] {
  checkSelection(body);
  const { catalog, modes, naming, seenAt } = context;
  const { streams = [], select_all = false } = body;
  const present = new Map(catalog.map((stream) => [identityOf(stream), stream]));
  const named = streams.map((stream) => ({
    stream,
    found: present.get(identityOf(toDescriptor(stream))),
  }));
  const unknown = unknownStreams(streams, catalog, { owner: "the source", seenAt });
  if (unknown.length > 0) throw refuseSome("stream_unknown", unknown);
  const chosen = named.flatMap(({ stream, found }) =>
    found ? [toAgreed(stream, found, modes)] : [],
  );
  const lacking = chosen.flatMap((one, index) =>
    missingFields(one).map((at) =>
      faultAt(index, "unknown", "is not one of the stream's columns", at),
    ),
  );
  if (lacking.length > 0) throw refuseSome("validation_failed", lacking);
  const problems = chosen.flatMap((one, index) => {
    const problem = modeProblem(one, modes);
    return problem === undefined ? [] : [faultAt(index, "sync_mode_unsupported", problem)];
  });
  if (problems.length > 0) throw refuseSome("sync_mode_unsupported", problems);
  const impossible = chosen.flatMap((one, index) =>
    partFaults(one).map(({ at, message }) => faultAt(index, "refused", message, at)),
  );
  if (impossible.length > 0) throw refuseSome("validation_failed", impossible);
  const deletes = chosen.flatMap((one, index) => {
    const problem = deletesProblemOf(one);
    return problem === undefined ? [] : [faultAt(index, "refused", problem, ".detect_deletes")];
  });
  if (deletes.length > 0) throw refuseSome("validation_failed", deletes);
  const agreed = select_all ? withAll(chosen, catalog, modes) : chosen;
  requireOwnTables(naming, agreed);
  return agreed;
}

const faultAt = (index: number, reason: string, message: string, at = ""): FieldFault => ({
  path: `streams.${index}${at}`,
  reason,
  message,
});

function toAgreed(
  {
    sync_mode,
    destination_sync_mode,
    cursor_field,
    primary_key,
    selected_fields,
    detect_deletes,
    hashed_fields,
    row_filter,
  }: Static<typeof StreamBody>,
  stream: CatalogStream,
  modes: readonly DestinationSyncMode[],
): AgreedStream {
  const suggested = suggest(stream, modes);
  const syncMode = sync_mode ?? (cursor_field?.length ? "incremental" : suggested.syncMode);
  const primaryKey = primary_key?.length ? primary_key : stream.source_defined_primary_key;
  const ownCursor = syncMode === "incremental" ? stream.default_cursor_field : [];
  return {
    ...suggested,
    syncMode,
    destinationSyncMode: destination_sync_mode ?? usualMode(syncMode, primaryKey, modes),
    cursorField: cursor_field?.length ? cursor_field : ownCursor,
    primaryKey,
    selectedFields: selected_fields ?? null,
    detectDeletes: detect_deletes ?? "none",
    hashedFields: hashed_fields?.length ? hashed_fields : null,
    rowFilter: row_filter?.length ? row_filter : null,
  };
}

const missingFields = ({ selectedFields, stream }: AgreedStream): string[] =>
  (selectedFields ?? []).flatMap((field, at) =>
    hasColumn(stream.json_schema, field) ? [] : [`.selected_fields.${at}`],
  );

/** In the order of the catalog. */
function withAll(
  chosen: readonly AgreedStream[],
  catalog: readonly CatalogStream[],
  modes: readonly DestinationSyncMode[],
): readonly AgreedStream[] {
  const own = new Map(chosen.map((one) => [identityOf(one.stream), one]));
  return catalog.map((stream) => own.get(identityOf(stream)) ?? suggest(stream, modes));
}

/** @throws table_name_conflict naming streams that would share a table */
export function requireOwnTables(naming: TableNaming, agreed: readonly AgreedStream[]): void {
  const streams = agreed.map(({ stream }) => stream);
  const collisions = collisionsOf(naming, streams);
  if (collisions.length === 0) return;
  const conflicts = collisions.slice(0, maxFaults).map(([first, second]) => ({
    table: streams[first] && tableOf(naming, streams[first]).table,
    streams: [streams[first], streams[second]].flatMap((stream) =>
      stream ? [streamLabel(stream)] : [],
    ),
  }));
  throw new ControlError("table_name_conflict", { conflict_count: collisions.length, conflicts });
}
