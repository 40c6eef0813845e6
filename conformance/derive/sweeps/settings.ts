/** Settings by their dotted path, in copies. */
import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject } from "svc-connectors/host";

export function settingAt(config: JsonObject, path: string): JsonValue | undefined {
  return path
    .split(".")
    .reduce<JsonValue | undefined>(
      (value, name) =>
        isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined,
      config,
    );
}

/**
 * A copy in which the setting has that value; `undefined` takes it out. Undefined when there is no
 * object that could hold it.
 */
export function withSetting(
  config: JsonObject,
  path: string,
  value: JsonValue | undefined,
): JsonObject | undefined {
  const copy = structuredClone(config);
  const steps = path.split(".");
  const parent = steps
    .slice(0, -1)
    .reduce<JsonValue | undefined>(
      (part, name) => (isJsonObject(part) && Object.hasOwn(part, name) ? part[name] : undefined),
      copy,
    );
  if (!isJsonObject(parent)) return undefined;
  const last = steps.at(-1) ?? "";
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}
