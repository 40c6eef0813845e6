/**
 * The cursors that a person chooses: `--cursor STREAM=COLUMN`, and `cursor:` in the configuration.
 */
import { type CatalogStream, streamLabel } from "../contract/catalog.ts";
import { isJsonObject, type JsonObject } from "../contract/json.ts";
import type { CursorProposal } from "../contract/stream.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

/** By the stream as the person names it; `*` stands for every stream that has the column. */
export type ChosenCursors = ReadonlyMap<string, string>;

const form = "STREAM=COLUMN, for instance --cursor public.orders=updated_at";

/** Takes one more `--cursor`. @throws UsageError */
export function addCursor(text: string, before: ChosenCursors): ChosenCursors {
  const at = text.lastIndexOf("=");
  const [stream, column] = [text.slice(0, Math.max(at, 0)).trim(), text.slice(at + 1).trim()];
  if (stream === "" || column === "") throw new UsageError(`--cursor has the form ${form}`);
  if (before.has(stream))
    throw new UsageError(`--cursor names a column for ${printable(stream)} twice`);
  return new Map([...before, [stream, column]]);
}

/**
 * Takes `cursor:` out of a configuration: it is no setting of the connector, but says how svc
 * reads.
 * @throws UsageError
 */
export function takeCursors(config: JsonObject): {
  readonly config: JsonObject;
  readonly cursors: ChosenCursors;
} {
  const { cursor, ...rest } = config;
  if (!Object.hasOwn(config, "cursor")) return { config, cursors: new Map() };
  const isMap =
    cursor !== undefined &&
    isJsonObject(cursor) &&
    Object.values(cursor).every((column) => typeof column === "string" && column !== "");
  if (!isMap)
    throw new UsageError(
      "config file: cursor must name a column for each stream, as in { public.orders: updated_at }",
    );
  return { config: rest, cursors: new Map(Object.entries(cursor as Record<string, string>)) };
}

/**
 * The column that was chosen for a stream; undefined: none was.
 * @throws UsageError for a column that the stream lacks, or a stream that has no choice
 */
export function cursorOf(stream: CatalogStream, cursors: ChosenCursors): string | undefined {
  const label = streamLabel(stream);
  const own = cursors.get(label) ?? cursors.get(stream.name);
  const fields = Object.keys((stream.json_schema.properties ?? {}) as object);
  const canChoose =
    stream.supported_sync_modes.includes("incremental") && !stream.source_defined_cursor;
  if (own === undefined) {
    const common = cursors.get("*");
    return common !== undefined && canChoose && fields.includes(common) ? common : undefined;
  }
  const name = printable(label);
  if (stream.source_defined_cursor && stream.default_cursor_field.join(".") !== own)
    throw new UsageError(`${name} has a cursor of its own, and none can be chosen`);
  if (!stream.supported_sync_modes.includes("incremental"))
    throw new UsageError(`${name} can only be read whole, without a cursor`);
  if (!fields.includes(own)) {
    const near = suggestion(own, fields) || proposalOf(stream, "; it has ");
    throw new UsageError(`${name} has no column "${printable(own)}"${near}`);
  }
  return own;
}

/**
 * @param what was chosen for a stream, as in "the cursor of"
 * @throws UsageError for a choice that is for a stream that does not exist
 */
export function requireStreams(
  catalog: readonly CatalogStream[],
  chosen: Iterable<string>,
  what = "the cursor of",
): void {
  const labels = catalog.map(streamLabel);
  const names = new Map<string, number>();
  for (const { name } of catalog) names.set(name, (names.get(name) ?? 0) + 1);
  for (const name of chosen) {
    if (name === "*" || labels.includes(name)) continue;
    const count = names.get(name) ?? 0;
    const shown = `${what} "${printable(name)}"`;
    if (count > 1) throw new UsageError(`${shown} could be for several streams: add the namespace`);
    if (count === 0) {
      const near = suggestion(name, [...labels, ...names.keys()]) || "; discover lists them";
      throw new UsageError(`${shown} is for no stream that there is${near}`);
    }
  }
}

/** The flag that chooses the best proposal, after `before`; empty without one. */
export function proposalOf(stream: CatalogStream, before: string): string {
  const best = stream.proposed_cursors?.[0];
  return best
    ? `${before}--cursor ${printable(streamLabel(stream))}=${describeProposal(best)}`
    : "";
}

/** `updated_at`, and what is worth knowing of it. */
export function describeProposal({ field, finds, is_indexed, is_nullable }: CursorProposal) {
  const notes = [
    ...(finds === "new_rows" ? ["new rows only"] : []),
    ...(is_indexed ? [] : ["no index"]),
    ...(is_nullable ? ["may be null: rows without a value are read by the first sync only"] : []),
  ];
  return `${printable(field)}${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
}
