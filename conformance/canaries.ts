/** Secrets that the kit makes up, so that they can be looked for in everything that comes out. */
import type { JsonObject, JsonValue } from "svc-connectors";
import type { Canary } from "./contract/lab.ts";
import type { Recording } from "./contract/recording.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const length = 24;

/** `cnry` and 24 characters of base32, the same for the same seed and name. */
export function canaryValue(seed: number, name: string): string {
  let state = 0x811c9dc5 ^ seed;
  for (const character of name)
    state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 0x01000193);
  let text = "cnry";
  for (let at = 0; at < length; at++) {
    // xorshift32: more than enough for a name that nothing else has.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    text += alphabet[(state >>> 0) % alphabet.length];
  }
  return text;
}

/** JSON pointers of the secrets that a spec asks for. */
export function secretPointers(spec: JsonValue | undefined, at = ""): string[] {
  if (typeof spec !== "object" || spec === null || Array.isArray(spec)) return [];
  if (spec.airbyte_secret === true || spec["x-svc-secret"] === true) return [at];
  const properties = Object.entries((spec.properties as JsonObject | undefined) ?? {});
  const alternatives = [spec.oneOf, spec.anyOf, spec.allOf].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  const found = [
    ...properties.flatMap(([name, part]) =>
      secretPointers(part, `${at}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`),
    ),
    ...alternatives.flatMap((part) => secretPointers(part, at)),
  ];
  return [...new Set(found)];
}

/**
 * Stands in a setting of conformance.yaml for the made up part of a secret that must have a form:
 * "pk_{{canary}}".
 */
const formMark = "{{canary}}";

/**
 * The whole configuration: the author's settings, and a canary for every secret that is required,
 * given a form, or used in the recordings; for every one where none is required.
 */
export function withCanaries(
  settings: JsonObject,
  spec: JsonObject,
  recordings: readonly Recording[],
  seed: number,
): {
  readonly config: JsonObject;
  readonly canaries: readonly Canary[];
  readonly secretPaths: readonly string[];
} {
  const config = structuredClone(settings);
  const canaries: Canary[] = [];
  const secretPaths = secretPointers(spec);
  const used = new Set(
    recordings.flatMap((recording) =>
      [...JSON.stringify(recording).matchAll(/\{\{secret:([^}]+)\}\}/g)].map(([, path]) => path),
    ),
  );
  // A spec that demands no secret at all has forgotten to, or leaves the choice: then all are
  // given.
  const hasRequiredSecret = secretPaths.some((pointer) =>
    isRequired(spec, pointer.slice(1).split("/")),
  );
  for (const pointer of secretPaths) {
    const steps = pointer
      .slice(1)
      .split("/")
      .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
    const name = steps.join(".");
    const parent = steps
      .slice(0, -1)
      .reduce<JsonValue | undefined>(
        (value, step) => (value as JsonObject | undefined)?.[step],
        config,
      );
    const last = steps.at(-1) ?? "";
    if (typeof parent !== "object" || parent === null || Array.isArray(parent)) continue;
    const given = parent[last];
    const isNeeded = isRequired(spec, steps) || used.has(name) || !hasRequiredSecret;
    if (given === undefined && !isNeeded) continue;
    const value = canaryValue(seed, name);
    parent[last] =
      typeof given === "string" && given.includes(formMark)
        ? given.replace(formMark, value)
        : value;
    canaries.push({ name: `config ${name}`, value });
  }
  return { config, canaries, secretPaths };
}

function isRequired(spec: JsonObject, steps: readonly string[]): boolean {
  let schema: JsonObject | undefined = spec;
  for (const step of steps) {
    if (!Array.isArray(schema?.required) || !schema.required.includes(step)) return false;
    schema = (schema.properties as JsonObject | undefined)?.[step] as JsonObject | undefined;
  }
  return true;
}

/**
 * The recordings with their placeholders filled in, and the canaries of what the provider issues in
 * them.
 */
export function fillPlaceholders(
  recordings: readonly Recording[],
  config: JsonObject,
  seed: number,
): { readonly recordings: readonly Recording[]; readonly canaries: readonly Canary[] } {
  const issued = new Map<string, Canary>();
  const fill = (text: string) =>
    text.replace(/\{\{(secret|issued):([^}]+)\}\}/g, (whole, kind: string, name: string) => {
      if (kind === "secret") {
        const value = name
          .split(".")
          .reduce<JsonValue | undefined>(
            (part, step) => (part as JsonObject | undefined)?.[step],
            config,
          );
        return typeof value === "string" ? value : whole;
      }
      const canary = issued.get(name) ?? {
        name: `issued ${name}`,
        value: canaryValue(seed, `issued ${name}`),
      };
      issued.set(name, canary);
      return canary.value;
    });
  return {
    recordings: recordings.map((recording) => fillDeep(recording, fill)),
    canaries: [...issued.values()],
  };
}

function fillDeep<T>(value: T, fill: (text: string) => string): T {
  if (typeof value === "string") return fill(value) as T;
  if (Array.isArray(value)) return value.map((part) => fillDeep(part, fill)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, fillDeep(part, fill)]),
  ) as T;
}
