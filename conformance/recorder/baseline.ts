import type { JsonObject, JsonValue } from "svc-connectors";
import type { CatalogStream } from "svc-connectors/host";
import { isJsonObject } from "svc-connectors/host";
import type { Baseline } from "../contract/recording.ts";
import type { Published } from "./subject.ts";

/** The baseline: spec and streams as published today, with which later versions are compared. */
export function toBaseline(
  { version, spec }: Pick<Published, "version" | "spec">,
  catalog: readonly CatalogStream[],
): Baseline {
  return {
    version,
    spec,
    streams: catalog.map(
      ({ name, namespace, source_defined_primary_key, default_cursor_field, json_schema }) => ({
        name,
        ...(namespace === undefined ? {} : { namespace }),
        primary_key: source_defined_primary_key,
        cursor_field: default_cursor_field,
        fields: Object.fromEntries(
          Object.entries(objectOf(json_schema.properties)).map(([field, schema]) => [
            field,
            typeOf(objectOf(schema)),
          ]),
        ),
      }),
    ),
  };
}

/** The type of a property; of a union the types of its parts, each once. */
function typeOf(schema: JsonObject): JsonValue {
  if (schema.type !== undefined) return schema.type;
  const parts = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []));
  const types = parts.flatMap((part) => typeOf(objectOf(part)));
  return [...new Set(types.map(String))].sort();
}

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? (value as JsonObject) : {});
