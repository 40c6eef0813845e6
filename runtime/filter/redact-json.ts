/**
 * The slow path of the output filter: one JSON text, taken apart, with every string that holds a
 * secret replaced.
 */

import { isJsonObject } from "../contract/json.ts";
import { rawJson } from "../wire/exact-json.ts";

/** The replacement of a secret. */
export const redactedWord = "[redacted]";

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

/**
 * The JSON text with every string, and every property name, for which `isSecret` holds replaced by
 * "[redacted]". Numbers keep their exact text; the order of properties stays, except that
 * JavaScript puts integer-like names first.
 * @throws SyntaxError when it is not JSON, RangeError when it is nested too deeply.
 */
export function redactJson(
  json: string,
  isSecret: (text: string, role: "value" | "key") => boolean,
): string {
  const reviver: Reviver = (_, value, { source }) => {
    if (typeof value === "number") return rawJson(source ?? String(value));
    if (typeof value === "string") return isSecret(value, "value") ? redactedWord : value;
    if (!isJsonObject(value)) return value;
    return withSafeNames(value, (name) => isSecret(name, "key"));
  };
  return JSON.stringify(JSON.parse(json, reviver as Parameters<typeof JSON.parse>[1]));
}

/** Two hidden names in one object stay two. */
function withSafeNames(object: object, isSecret: (name: string) => boolean): object {
  let hidden = 0;
  const entries = Object.entries(object).map(([name, value]) => {
    if (!isSecret(name)) return [name, value];
    hidden++;
    return [hidden === 1 ? redactedWord : `${redactedWord} ${hidden}`, value];
  });
  return hidden === 0 ? object : Object.fromEntries(entries);
}
