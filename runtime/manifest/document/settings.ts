/** The settings of a manifest, its secrets marked. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { schemaAlternatives } from "../../contract/spec.ts";
import { invalid } from "./invalid.ts";
import { plainSchema } from "./settings-schema.ts";

const reach = /\bconfig((?:\.\w+|\[\s*(?:'\w+'|"\w+")\s*\])+)/g;

/** A setting that the manifest makes, and the expression that it is made of. */
export interface DerivedSetting {
  readonly path: readonly string[];
  readonly value: string;
}

/**
 * The schema of the settings. What an authenticator sends is a secret, whether its author has said
 * so or not; the name of a user beside a password is what its author says.
 */
export function markSecrets(
  specification: JsonObject,
  authenticators: readonly JsonValue[],
  derived: readonly DerivedSetting[] = [],
): JsonObject {
  const spec = structuredClone({ ...plainSchema(specification), type: "object" }) as JsonObject;
  spec.properties ??= {};
  const followed = new Set<DerivedSetting>();
  const markAll = (text: string, name: string) => {
    for (const [, chain = ""] of text.matchAll(reach)) {
      const names = chain.match(/\w+/g) ?? [];
      const sources = derived.filter(({ path }) => path.every((name, at) => names[at] === name));
      mark(spec, names, sources.length > 0, optionalNames.has(name));
      for (const source of sources)
        if (!followed.has(source)) {
          followed.add(source);
          markAll(source.value, name);
        }
    }
  };
  for (const [name, text] of authenticators.flatMap(credentialTexts)) markAll(text, name);
  return spec;
}

/** Properties of authenticators that prove who asks. */
const credentialNames = new Set([
  ...["api_token", "password", "client_secret", "refresh_token", "access_token_value"],
  ...["secret_key", "passphrase"],
]);

/** Beside a name that is the secret, some have nothing. */
const optionalNames = new Set(["password", "passphrase"]);

/** By the names of the properties. */
function credentialTexts(authenticator: JsonValue): [string, string][] {
  if (Array.isArray(authenticator)) return authenticator.flatMap(credentialTexts);
  if (!isJsonObject(authenticator)) return [];
  return Object.entries(authenticator).flatMap(([name, part]): [string, string][] => {
    if (typeof part === "string") return credentialNames.has(name) ? [[name, part]] : [];
    const kept = name === "refresh_token_updater" ? [refreshTokenPath(part)] : [];
    return [
      ...kept.map((path): [string, string] => [name, `config['${path.join("']['")}']`]),
      ...credentialTexts(part),
    ];
  });
}

/**
 * The setting of a refresh token that changes, of which a `refresh_token_updater` says the path.
 */
export function refreshTokenPath(updater: JsonValue): readonly string[] {
  const path = isJsonObject(updater) ? updater.refresh_token_config_path : undefined;
  return Array.isArray(path) ? path.map(String) : ["credentials", "refresh_token"];
}

function mark(
  spec: JsonObject,
  chain: readonly string[],
  isMade: boolean,
  isOptional: boolean,
): void {
  const around: JsonObject[] = [];
  let found = [spec];
  for (const name of chain) {
    around.push(...found);
    found = found.flatMap((one) => partsOf(one, name));
  }
  for (const part of found) part.airbyte_secret = true;
  if (found.length === 0 && !isMade && isOptional) {
    // A setting that nobody declared stays empty: given all the same, it would be no secret.
    for (const one of around) one.additionalProperties = false;
    return;
  }
  // Of several forms one may be older than the specification: who chooses another one needs it not.
  const hasForms = JSON.stringify(spec).includes('"oneOf"');
  if (found.length === 0 && !isMade && !hasForms)
    throw invalid("spec", `has no setting ${chain.join(".")}, which an authenticator uses`);
}

/** The schemas of a property, in the alternatives of its object too. */
function partsOf(schema: JsonObject, name: string): JsonObject[] {
  const { properties } = schema;
  const own =
    isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  const alternatives = schemaAlternatives.flatMap((keyword) => schema[keyword] ?? []);
  return [
    ...(isJsonObject(own) ? [own] : []),
    ...alternatives.filter(isJsonObject).flatMap((one) => partsOf(one, name)),
  ];
}
