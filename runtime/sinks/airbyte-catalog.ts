/**
 * Streams in a catalog of the Airbyte Protocol. Clients map `airbyte_type` to types of their own
 * and take text for what they do not know, so types that are ours alone are written in another
 * word: `{"type": "number", "svc_type": "big_number"}` is a number to everybody, and all its digits
 * to us.
 */
import type { CatalogStream } from "../contract/catalog.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../contract/json.ts";

const ownTypes: ReadonlySet<JsonValue | undefined> = new Set(["big_number", "big_integer"]);

/** A stream as clients of the protocol read it, without what only svc understands. */
export function toProtocolStream({
  proposed_cursors: _proposed,
  estimated_rows: _estimated,
  supports_row_filter: _filter,
  ...stream
}: CatalogStream): JsonObject {
  return renamed(stream as unknown as JsonObject, "airbyte_type", "svc_type");
}

/** A stream as svc wrote it, of a catalog that a client gives back. */
export const fromProtocolStream = (stream: JsonObject): JsonObject =>
  renamed(stream, "svc_type", "airbyte_type");

/** The object with the word for a type of ours changed, in its JSON Schema. */
function renamed(stream: JsonObject, from: string, to: string): JsonObject {
  const change = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(change);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) =>
        name === from && ownTypes.has(part) ? [to, part] : [name, change(part)],
      ),
    );
  };
  const { json_schema: schema, ...rest } = stream;
  return schema === undefined ? stream : { ...rest, json_schema: change(schema) };
}
