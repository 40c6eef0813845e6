/** Any value that JSON can hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue };

/** A JSON object. */
export type JsonObject = { [key: string]: JsonValue };

/**
 * A JSON Schema document as plain data (draft 2020-12 keywords; TypeBox schemas are such
 * documents).
 */
export type JsonSchema = { readonly [key: string]: unknown };

/** True for an object, false for a list, null and the rest. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
