/** One setting of a configuration, by the property names that lead to it. */
import type { JsonObject, JsonValue } from "svc-connectors";

/** Undefined where the path leads to nothing. */
export const settingAt = (config: JsonObject, path: readonly string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>(
    (part, step) => (part as JsonObject | undefined)?.[step],
    config,
  );

/** A copy with the value there; objects that are missing on the way are made. */
export function withSetting(
  config: JsonValue | undefined,
  [step, ...rest]: readonly string[],
  value: JsonValue,
): JsonValue {
  if (step === undefined) return value;
  const own = (config ?? {}) as JsonObject;
  return { ...own, [step]: withSetting(own[step], rest, value) };
}
