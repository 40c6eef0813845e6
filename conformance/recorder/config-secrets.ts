import type { JsonObject, JsonValue } from "svc-connectors";
import { isJsonObject, parsePointer } from "svc-connectors/host";
import { secretPointers } from "../fixtures/canaries.ts";

export interface ConfigSecret {
  /** Dotted, as in placeholders. */
  readonly path: string;
  readonly value: string;
}

/** The secrets of a configuration, as its spec marks them. */
export function configSecrets(config: JsonObject, spec: JsonObject): ConfigSecret[] {
  return secretPointers(spec).flatMap((pointer) => {
    const steps = parsePointer(pointer);
    const value = settingAt(config, steps);
    return typeof value === "string" || typeof value === "number"
      ? [{ path: steps.join("."), value: String(value) }]
      : [];
  });
}

/** The setting of that path; undefined when it is not there. */
export function settingAt(config: JsonObject, steps: readonly string[]): JsonValue | undefined {
  return steps.reduce<JsonValue | undefined>(memberOf, config);
}

/**
 * The same configuration with credentials that nobody gave out: of the same form, other at their
 * end.
 */
export function withWrongSecrets(config: JsonObject, spec: JsonObject): JsonObject {
  const wrong = structuredClone(config);
  for (const pointer of secretPointers(spec)) {
    const steps = parsePointer(pointer);
    const parent = settingAt(wrong, steps.slice(0, -1));
    const last = steps.at(-1) ?? "";
    if (!isJsonObject(parent)) continue;
    const value = parent[last];
    if (typeof value === "string") parent[last] = altered(value);
  }
  return wrong;
}

/**
 * Number of last letters and digits that become others: the beginning says of which kind a key is.
 */
const alteredCount = 8;

function altered(secret: string): string {
  let left = alteredCount;
  return [...secret]
    .reverse()
    .map((character) => {
      if (left === 0 || !/[A-Za-z0-9]/.test(character)) return character;
      left--;
      if (character === "9") return "0";
      if (character === "z" || character === "Z") return character === "z" ? "a" : "A";
      return String.fromCharCode(character.charCodeAt(0) + 1);
    })
    .reverse()
    .join("");
}

const memberOf = (value: JsonValue | undefined, step: string): JsonValue | undefined =>
  isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
