/** Streams of an image's catalog, as connectors declare them, and back. */
import {
  isJsonObject,
  type JsonObject,
  type JsonSchema,
  type JsonValue,
} from "../contract/json.ts";
import type { SelectedStream, Stream, SyncMode } from "../contract/stream.ts";
import { refused } from "./messages.ts";

/** An AirbyteStream. Keys and cursors inside of objects are beyond what a sync here compares. */
export function toStream(value: unknown): Stream {
  const one = value as Record<string, unknown> & { readonly json_schema?: JsonValue };
  const { name, namespace, json_schema: schema } = isJsonObject(one as JsonValue) ? one : {};
  if (typeof name !== "string" || name === "" || !isJsonObject(schema ?? null))
    throw refused("a stream of its catalog lacks a name or a schema");
  const properties = ((schema as JsonObject).properties ?? {}) as JsonObject;
  const isProperty = (path: readonly string[]) =>
    path.length === 1 && Object.hasOwn(properties, path[0] ?? "");
  const keys = pathsOf(one.source_defined_primary_key);
  const cursor = pathsOf([one.default_cursor_field])[0] ?? [];
  const modes = (Array.isArray(one.supported_sync_modes) ? one.supported_sync_modes : []).filter(
    (mode): mode is SyncMode => mode === "full_refresh" || mode === "incremental",
  );
  return {
    name,
    ...(typeof namespace === "string" && namespace !== "" ? { namespace } : {}),
    schema: schema as JsonSchema,
    primaryKey: keys.every(isProperty) ? keys.map(([field = ""]) => field) : [],
    ...(isProperty(cursor) ? { cursorField: cursor[0] } : {}),
    syncModes: modes.length > 0 ? modes : ["full_refresh"],
    isResumable: one.is_resumable === true && modes.includes("incremental"),
  };
}

/** A ConfiguredAirbyteStream. */
export function toConfiguredStream(stream: SelectedStream): JsonObject {
  const { name, namespace, schema, syncMode, cursorField, primaryKey = [] } = stream;
  const cursor = cursorField === undefined ? [] : [cursorField];
  const keys = primaryKey.map((field) => [field]);
  return {
    stream: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      json_schema: schema as unknown as JsonObject,
      supported_sync_modes: [...(stream.syncModes ?? ["full_refresh"])],
      source_defined_cursor: cursorField !== undefined,
      default_cursor_field: cursor,
      source_defined_primary_key: keys,
    },
    sync_mode: syncMode,
    destination_sync_mode: "append",
    ...(cursor.length > 0 ? { cursor_field: cursor } : {}),
    ...(keys.length > 0 ? { primary_key: keys } : {}),
  };
}

function pathsOf(value: unknown): string[][] {
  return (Array.isArray(value) ? value : []).flatMap((path) =>
    Array.isArray(path) && path.length > 0 ? [path.map(String)] : [],
  );
}
