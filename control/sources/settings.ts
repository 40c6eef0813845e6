/**
 * Checks the settings of a source against its connector's spec, as far as that can be done without
 * secrets.
 */
import {
  compileSchema,
  copyJson,
  findAccount,
  type JsonObject,
  type JsonValue,
} from "svc-connectors/host";
import type { AnyManifest, ConnectorDefinition } from "../connectors/registry.ts";
import { refuseFields } from "../contract/reasons.ts";
import { propertiesOf, withObjects, withoutSecrets } from "../contract/secret-settings.ts";
import type { CredentialRow } from "../credentials/rows.ts";
import { safeName } from "../door/json-body.ts";

/** Most faults that one answer lists. */
const maxFaults = 20;

/**
 * A setting that the credential brings need not be given, and cannot be given otherwise.
 * @throws invalid_configuration with the places
 */
export function checkSettings(
  { sourceRules }: ConnectorDefinition,
  manifest: AnyManifest,
  configuration: JsonObject,
  {
    metadata,
    auth_type,
    secret_fields,
  }: Pick<CredentialRow, "metadata" | "auth_type" | "secret_fields">,
): void {
  // The client of an account that was connected is the operator's.
  const isConnected = auth_type === "oauth2" && !("syncModes" in manifest);
  const client = isConnected ? Object.values(findAccount(manifest)?.client ?? {}) : [];
  const schema = withoutSettings(withoutSecrets(manifest.spec), client);
  const known = Object.keys(propertiesOf(schema));
  const brought = Object.entries(metadata as JsonObject).filter(([name]) => known.includes(name));
  // An object in which there are secrets alone is the credential's to bring.
  const whole = copyJson(
    withObjects({ ...Object.fromEntries(brought), ...configuration }, secret_fields, manifest.spec),
  );
  const rules = sourceRules ? { allOf: [sourceRules] } : {};
  const faults = [
    ...brought
      .filter(([name, value]) => differs(configuration[name], value))
      .map(([path]) => ({ path, problem: "is not the credential's" })),
    ...compileSchema({ additionalProperties: false, ...schema, ...rules })(whole),
    ...controlCharacters(configuration, schema),
  ];
  if (faults.length === 0) return;
  throw refuseFields(
    "invalid_configuration",
    faults.slice(0, maxFaults).map(({ path, problem }) => ({
      path: ["configuration", path].filter((part) => part !== "").join("."),
      reason: "invalid_configuration",
      message: problem,
    })),
  );
}

function withoutSettings(schema: JsonObject, names: readonly string[]): JsonObject {
  const kept = Object.entries(propertiesOf(schema)).filter(([name]) => !names.includes(name));
  const required = ((schema.required ?? []) as string[]).filter((name) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(kept), required };
}

const differs = (given: JsonValue | undefined, brought: JsonValue) =>
  given !== undefined && JSON.stringify(given) !== JSON.stringify(brought);

/**
 * Texts of several lines only where the spec says so: in a header or a query a line break would
 * begin something new.
 */
function controlCharacters(configuration: JsonObject, schema: JsonObject) {
  const isMultiline = (name: string) => propertiesOf(schema)[name]?.multiline === true;
  return Object.entries(configuration)
    .filter(
      ([name, value]) =>
        !isMultiline(name) && textsIn(value).some((text) => /[\u0000-\u001f\u007f]/.test(text)),
    )
    .map(([name]) => ({ path: safeName(name) ?? "", problem: "has control characters in it" }));
}

function textsIn(value: JsonValue): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
