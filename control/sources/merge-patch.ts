import type { JsonObject, JsonValue } from "svc-connectors/host";
import { isJsonObject } from "svc-connectors/host";

/**
 * JSON Merge Patch: null takes a property away, objects are merged, everything else is replaced.
 * @see RFC 7396
 */
export function mergePatch(target: JsonValue | undefined, patch: JsonObject): JsonObject {
  const merged = new Map(isJsonObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isJsonObject(value) ? mergePatch(merged.get(name), value) : value);
  }
  return Object.fromEntries(merged);
}
