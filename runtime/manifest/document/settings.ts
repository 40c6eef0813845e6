/** The settings of a manifest, its secrets marked. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../contract/json.ts";
import { invalid } from "./invalid.ts";
import { plainSchema } from "./settings-schema.ts";

const reach = /\bconfig((?:\.\w+|\[\s*(?:'\w+'|"\w+")\s*\])+)/g;

/**
 * The schema of the settings. What an authenticator sends is a secret, whether its author has said
 * so or not; the name of a user beside a password is what its author says.
 */
export function markSecrets(
  specification: JsonObject,
  authenticators: readonly JsonValue[],
): JsonObject {
  const spec = structuredClone({ ...plainSchema(specification), type: "object" }) as JsonObject;
  spec.properties ??= {};
  for (const text of authenticators.flatMap(credentialTexts))
    for (const [, chain = ""] of text.matchAll(reach)) mark(spec, chain.match(/\w+/g) ?? []);
  return spec;
}

/** Properties of authenticators that prove who asks. */
const credentialNames = new Set([
  ...["api_token", "password", "client_secret", "refresh_token", "access_token_value"],
]);

function credentialTexts(authenticator: JsonValue): string[] {
  if (Array.isArray(authenticator)) return authenticator.flatMap(credentialTexts);
  if (!isJsonObject(authenticator)) return [];
  return Object.entries(authenticator).flatMap(([name, part]) =>
    typeof part === "string" ? (credentialNames.has(name) ? [part] : []) : credentialTexts(part),
  );
}

function mark(spec: JsonObject, chain: readonly string[]): void {
  let at: JsonValue | undefined = spec;
  for (const name of chain) {
    const properties: JsonValue | undefined = isJsonObject(at) ? at.properties : undefined;
    at = isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  }
  if (isJsonObject(at)) at.airbyte_secret = true;
  else if (!JSON.stringify(spec).includes("oneOf"))
    throw invalid("spec", `has no setting ${chain.join(".")}, which an authenticator uses`);
}
