/** Streams as a worker lists them: checked part by part, as they come. */
import { Type } from "typebox";
import { budgets } from "../contract/budgets.ts";
import type { CatalogStream } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { compileLater, type Fault } from "./validation.ts";

/**
 * Most tables that one discovery lists and one sync reads.
 * @see control API specification, part 8
 */
export const maxTables = budgets.catalog.count[0];

export const Path = Type.Array(Type.String());
export const SyncModes = Type.Union([Type.Literal("full_refresh"), Type.Literal("incremental")]);
export const Stream = Type.Object({
  name: Type.String({ minLength: 1 }),
  namespace: Type.Optional(Type.String()),
  json_schema: Type.Object({}),
  supported_sync_modes: Type.Array(SyncModes, { default: ["full_refresh"] }),
  source_defined_cursor: Type.Boolean({ default: false }),
  default_cursor_field: Type.Array(Type.String(), { default: [] }),
  proposed_cursors: Type.Optional(
    Type.Array(
      Type.Object({
        field: Type.String(),
        finds: Type.Union([Type.Literal("changes"), Type.Literal("new_rows")]),
        is_indexed: Type.Boolean(),
        is_nullable: Type.Optional(Type.Boolean()),
      }),
      { maxItems: 100 },
    ),
  ),
  estimated_rows: Type.Optional(Type.Number({ minimum: 0 })),
  source_defined_primary_key: Type.Array(Path, { default: [] }),
  is_resumable: Type.Boolean({ default: false }),
  supports_row_filter: Type.Optional(Type.Boolean()),
});
const partFaults = compileLater(Type.Array(Stream));

/** Takes the next part of a catalog. @throws CONNECTOR_INVALID, TOO_MANY_TABLES */
export type StreamList = (part: JsonValue) => readonly CatalogStream[];

/** A list that is empty at first. What it gives is all that it has been given. */
export function createStreamList(): StreamList {
  const streams: CatalogStream[] = [];
  const seen = new Set<string>();
  return (part) => {
    refuseTooMany(streams.length + (Array.isArray(part) ? part.length : 0));
    refuse(partFaults(part).at(0));
    for (const stream of part as unknown as CatalogStream[]) {
      refuse(nameFault(stream, seen) ?? keyFault(stream));
      streams.push(stream);
    }
    return streams;
  };
}

function refuse(fault: Fault | undefined): void {
  if (fault === undefined) return;
  const { path, problem } = fault;
  throw new ConnectorError("CONNECTOR_INVALID", { path: path || "streams", problem });
}

/** @throws TOO_MANY_TABLES */
export function refuseTooMany(found: number): void {
  if (found <= maxTables) return;
  const hint = "Narrow the selection with the connector's include and exclude settings.";
  throw new ConnectorError("TOO_MANY_TABLES", { found, limit: maxTables, hint });
}

/** Names are unique also without case; that of the stream joins those that were `seen`. */
export function nameFault(stream: CatalogStream, seen: Set<string>): Fault | undefined {
  const key = JSON.stringify([stream.namespace ?? null, stream.name]).toLowerCase();
  if (seen.has(key))
    return { path: `stream ${stream.name}`, problem: "has the same name as another one" };
  seen.add(key);
  return undefined;
}

/** Keys and cursors are declared in the schema. */
function keyFault(stream: CatalogStream): Fault | undefined {
  const properties = (stream.json_schema.properties ?? {}) as JsonObject;
  const fields = [
    ...stream.source_defined_primary_key.map((one) => one[0] ?? ""),
    ...stream.default_cursor_field,
    ...(stream.proposed_cursors ?? []).map(({ field }) => field),
  ];
  const unknown = fields.find((field) => !Object.hasOwn(properties, field));
  if (unknown === undefined) return undefined;
  return {
    path: `stream ${stream.name}`,
    problem: `names ${unknown} as key or cursor, which its schema lacks`,
  };
}
