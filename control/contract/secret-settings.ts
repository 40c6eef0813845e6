/**
 * Secrets of a spec by the names that credentials have for them: `api_token`, and of one within an
 * object its path, `credentials.client_secret`.
 */
import {
  exclusiveKeyword,
  isJsonObject,
  isSecret,
  type JsonObject,
  type JsonValue,
  releaseKeyword,
  schemaAlternatives,
} from "svc-connectors/host";

export interface SecretSetting {
  readonly path: readonly string[];
  readonly schema: JsonObject;
  /** There is no valid configuration without it. */
  readonly isNeeded: boolean;
}

export const propertiesOf = (schema: JsonObject) =>
  (schema.properties ?? {}) as Readonly<Record<string, JsonObject>>;

/** Names of the settings that a connector declares as secrets. */
export const secretFieldsOf = ({ spec }: { readonly spec: JsonObject }): string[] => [
  ...secretSettingsOf(spec).keys(),
];

/** The secrets by their names. One that several alternatives have is one. */
export function secretSettingsOf(spec: JsonObject): ReadonlyMap<string, SecretSetting> {
  const found = new Map<string, SecretSetting>();
  eachSetting(spec, (path, schema, isNeeded) => {
    const name = path.join(".");
    if (isSecret(schema) && !found.has(name)) found.set(name, { path, schema, isNeeded });
  });
  return found;
}

/** Names of the settings that are no secrets, whatever they are called. */
export function openSettingsOf(spec: JsonObject): string[] {
  const names = new Set<string>();
  eachSetting(spec, (path, schema) => {
    if (!isSecret(schema)) names.add(path.join("."));
  });
  return [...names];
}

export interface ExclusiveSetting {
  readonly path: readonly string[];
  /** The statement that removes what is named, with `{}` in the place of its name. */
  readonly release: string | undefined;
}

/** The settings that name what one reader alone may use. */
export function exclusiveSettingsOf(spec: JsonObject): readonly ExclusiveSetting[] {
  const found: ExclusiveSetting[] = [];
  eachSetting(spec, (path, schema) => {
    const release = schema[releaseKeyword];
    if (schema[exclusiveKeyword] === true)
      found.push({ path, release: typeof release === "string" ? release : undefined });
  });
  return found;
}

type Visit = (path: readonly string[], schema: JsonObject, isNeeded: boolean) => void;

/** Visits the settings at any depth and in alternatives; what a secret has within is the secret. */
function eachSetting(
  schema: JsonObject,
  visit: Visit,
  around: readonly string[] = [],
  isNeeded = true,
): void {
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const [name, part] of Object.entries(propertiesOf(schema))) {
    const path = [...around, name];
    const isNeededToo = isNeeded && required.includes(name);
    visit(path, part, isNeededToo);
    if (!isSecret(part)) eachSetting(part, visit, path, isNeededToo);
  }
  for (const one of alternativesOf(schema)) eachSetting(one, visit, around, false);
}

const alternativesOf = (schema: JsonObject): JsonObject[] =>
  schemaAlternatives.flatMap((keyword) => listOf(schema[keyword]));

const listOf = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isJsonObject) : [];

/** The whole settings of a run. @param fields secrets by their names, as a credential holds them */
export function withSecrets(settings: JsonObject, fields: JsonObject, spec: JsonObject) {
  const known = secretSettingsOf(spec);
  return Object.entries(fields).reduce(
    (whole, [name, value]) => put(whole, known.get(name)?.path ?? [name], () => value),
    settings,
  );
}

/** Settings with the objects in which these secrets will stand. */
export function withObjects(settings: JsonObject, fields: readonly string[], spec: JsonObject) {
  const known = secretSettingsOf(spec);
  return fields.reduce((whole, name) => {
    const around = known.get(name)?.path.slice(0, -1) ?? [];
    return around.length === 0 ? whole : put(whole, around, (value = {}) => value);
  }, settings);
}

/**
 * A copy with another value at that place; what is no object on the way there is left to the spec.
 */
function put(
  object: JsonObject,
  [name = "", ...rest]: readonly string[],
  change: (value: JsonValue | undefined) => JsonValue,
): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  if (rest.length === 0) return { ...object, [name]: change(value) };
  if (value !== undefined && !isJsonObject(value)) return object;
  return { ...object, [name]: put(value ?? {}, rest, change) };
}

/** The spec as sources are held to it, which have no secrets. */
export function withoutSecrets(spec: JsonObject): JsonObject {
  const secrets = secretSettingsOf(spec);
  return secrets.size === 0 ? spec : strip(spec, secrets, []);
}

function strip(
  schema: JsonObject,
  secrets: ReadonlyMap<string, SecretSetting>,
  around: readonly string[],
): JsonObject {
  const isHidden = (name: unknown) => secrets.has([...around, String(name)].join("."));
  const { properties, required, ...rest } = schema;
  const made: JsonObject = { ...rest };
  if (properties !== undefined)
    made.properties = Object.fromEntries(
      Object.entries(propertiesOf(schema))
        .filter(([, part]) => !isSecret(part))
        .map(([name, part]) => [name, strip(part, secrets, [...around, name])]),
    );
  if (Array.isArray(required)) made.required = required.filter((name) => !isHidden(name));
  for (const keyword of schemaAlternatives)
    if (Array.isArray(schema[keyword]))
      made[keyword] = listOf(schema[keyword]).map((one) => strip(one, secrets, around));
  // Forms that their secrets tell apart may be alike without them: the run sees them whole.
  if (!Array.isArray(made.oneOf) || listOf(made.oneOf).every(saysWhichItIs)) return made;
  const { oneOf, ...others } = made;
  return { ...others, allOf: [...listOf(made.allOf), { anyOf: oneOf ?? [] }] };
}

/** True of a form with a constant, as one of several has it by which it is chosen. */
const saysWhichItIs = (schema: JsonObject): boolean =>
  Object.values(propertiesOf(schema)).some(
    (part) => part.const !== undefined || (Array.isArray(part.enum) && part.enum.length === 1),
  );
