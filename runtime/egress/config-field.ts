import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";

/** The config property of that name; a dotted path reaches nested ones. */
export function configValue(config: JsonObject, field: string): JsonValue | undefined {
  if (Object.hasOwn(config, field)) return config[field];
  let value: JsonValue | undefined = config;
  for (const name of field.split(".")) {
    if (
      typeof value !== "object" ||
      value === null ||
      Array.isArray(value) ||
      !Object.hasOwn(value, name)
    )
      return undefined;
    value = value[name];
  }
  return value;
}

/**
 * A setting as text; numbers and booleans are written out.
 * @throws CONFIG_INVALID when it is missing, empty or no such value.
 */
export function configText(config: JsonObject, field: string): string {
  const value = configValue(config, field);
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string" && value !== "") return value;
  throw new ConnectorError("CONFIG_INVALID", { path: field, problem: "is missing" });
}
