/** The streams of a pipeline while they are chosen. */
import type { schemas } from "../api/schema.ts";

export type CatalogStream = schemas["CatalogStream"];
export type Selection = schemas["StreamSelection"];
/** By the stream's key. What is not in it is not read. */
export type Selections = ReadonlyMap<string, Selection>;

export const keyOf = ({
  name,
  namespace,
}: {
  readonly name: string;
  readonly namespace?: string | null | undefined;
}): string => JSON.stringify([namespace ?? null, name]);

export interface Prepared {
  readonly prepareId: string;
  readonly streams: readonly CatalogStream[];
  readonly suggested: Selections;
  readonly namespaceDefinition: schemas["NamespaceDefinition"];
  readonly warnings: schemas["PreparePipelineResult"]["warnings"];
}

export const columnsOf = ({ json_schema: schema }: CatalogStream): readonly string[] =>
  Object.keys((schema.properties ?? {}) as object);

/** The key that a selection has: its own, or the source's. */
export const primaryKeyOf = (stream: CatalogStream, selection: Selection | undefined) =>
  selection?.primary_key?.length ? selection.primary_key : stream.source_defined_primary_key;

export const modes = {
  "full_refresh overwrite": "Read all, replace",
  "full_refresh append": "Read all, add",
  "incremental append_dedup": "What changed, one row a key",
  "incremental append": "What changed, add",
  "full_refresh append_dedup": "Read all, one row a key",
} as const;
export type Mode = keyof typeof modes;

export const modeOf = ({
  sync_mode: sync = "full_refresh",
  destination_sync_mode: write = "overwrite",
}: Selection): Mode => `${sync} ${write}` as Mode;

/** The modes that a stream can have. One row a key needs a key. */
export const modesOf = (stream: CatalogStream, selection: Selection): readonly Mode[] =>
  (Object.keys(modes) as Mode[]).filter((mode) => {
    if (mode === modeOf(selection)) return true;
    if (mode === "full_refresh append_dedup") return false;
    if (mode.startsWith("incremental") && !stream.supported_sync_modes.includes("incremental"))
      return false;
    return !mode.endsWith("append_dedup") || primaryKeyOf(stream, selection).length > 0;
  });

/** A selection in another mode, with the cursor that it then needs. */
export function inMode(stream: CatalogStream, selection: Selection, mode: Mode): Selection {
  const [sync, write] = mode.split(" ") as [schemas["SyncMode"], schemas["DestinationSyncMode"]];
  const cursor = selection.cursor_field?.length
    ? selection.cursor_field
    : stream.default_cursor_field.length > 0
      ? stream.default_cursor_field
      : stream.proposed_cursors.slice(0, 1).map(({ field }) => field);
  return {
    ...selection,
    sync_mode: sync,
    destination_sync_mode: write,
    ...(sync === "incremental" ? { cursor_field: cursor } : {}),
    // Only where there is one row a key are rows that have gone looked for.
    ...(write === "append_dedup" ? {} : { detect_deletes: "none" }),
  };
}

/** Whether a stream can be read in a mode as it is: with a key and a cursor that it needs. */
export const canBeIn = (stream: CatalogStream, selection: Selection, mode: Mode): boolean =>
  modesOf(stream, selection).includes(mode) &&
  (!mode.startsWith("incremental") ||
    stream.source_defined_cursor ||
    inMode(stream, selection, mode).cursor_field?.length === 1);

/**
 * Chosen streams in another mode; "proposed" is what the API suggests for each. Those that cannot
 * be in it stay as they are.
 * @returns how many those are, besides the selections
 */
export function allInMode(
  streams: readonly CatalogStream[],
  before: Selections,
  mode: Mode | "proposed",
  prepared: Pick<Prepared, "suggested">,
): { readonly selections: Selections; readonly left: number } {
  const selections = new Map(before);
  let left = 0;
  for (const stream of streams) {
    const key = keyOf(stream);
    const selection = before.get(key);
    if (selection === undefined) continue;
    if (mode === "proposed")
      selections.set(key, inMode(stream, selection, modeOf(firstSelection(stream, prepared))));
    else if (canBeIn(stream, selection, mode)) selections.set(key, inMode(stream, selection, mode));
    else left += 1;
  }
  return { selections, left };
}

/** The streams that a source did not have before, by names; and those that it has no more. */
export function newsOf(before: Prepared, after: Prepared) {
  const known = new Map(before.streams.map((one) => [keyOf(one), one]));
  const now = new Set(after.streams.map(keyOf));
  const columnText = (stream: CatalogStream) => JSON.stringify(stream.json_schema);
  return {
    come: after.streams.filter((one) => !known.has(keyOf(one))),
    gone: before.streams.filter((one) => !now.has(keyOf(one))),
    changed: after.streams.filter((one) => {
      const was = known.get(keyOf(one));
      return was !== undefined && columnText(was) !== columnText(one);
    }),
  };
}

/** A place in a request's selection, by the name of its stream: "orders: row_filter". */
export function placeOf(path: string, streams: readonly { readonly name: string }[]): string {
  const [, index, rest = ""] = /^streams\.(\d+)\.?(.*)$/.exec(path) ?? [];
  const stream = index === undefined ? undefined : streams[Number(index)];
  return stream === undefined ? path : [stream.name, rest].filter(Boolean).join(": ");
}

/** A choice that was made before the source was asked again: without what it has no more. */
export function keptOf(selections: Selections, after: Prepared): Selections {
  const streams = new Map(after.streams.map((one) => [keyOf(one), one]));
  return new Map(
    [...selections].flatMap(([key, selection]) => {
      const stream = streams.get(key);
      if (stream === undefined) return [];
      const columns = new Set(columnsOf(stream));
      const fields = selection.selected_fields?.filter((one) => columns.has(one));
      return [
        [
          key,
          fields === undefined ? selection : { ...selection, selected_fields: fields },
        ] as const,
      ];
    }),
  );
}

/** The fields that may be a cursor: first what is proposed. */
export const cursorsOf = (stream: CatalogStream): readonly string[] => {
  const proposed = stream.proposed_cursors.map(({ field }) => field);
  return [...proposed, ...columnsOf(stream).filter((one) => !proposed.includes(one))];
};

/** Changes that a cursor does not find, and its costs: sentences for who chooses it. */
export function cursorLimits(stream: CatalogStream, cursor: string): readonly string[] {
  const proposal = stream.proposed_cursors.find(({ field }) => field === cursor);
  if (proposal === undefined) return [];
  return [
    ...(proposal.finds === "new_rows" ? ["It finds new rows, and no changes of old ones."] : []),
    ...(proposal.is_indexed ? [] : ["It has no index: each sync looks at all rows."]),
    ...(proposal.is_nullable
      ? [
          "Rows may have no value: those that come without one after the first sync are not read before they get one.",
        ]
      : []),
  ];
}

/** The first choice for a stream: as the API suggests it, or all of it. */
export const firstSelection = (
  stream: CatalogStream,
  { suggested }: Pick<Prepared, "suggested">,
): Selection =>
  suggested.get(keyOf(stream)) ?? {
    name: stream.name,
    namespace: stream.namespace,
    sync_mode: "full_refresh",
    destination_sync_mode: "overwrite",
  };
