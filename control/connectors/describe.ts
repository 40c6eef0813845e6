import {
  findAccount,
  isAuthorizable,
  isJsonObject,
  isSecret,
  type JsonObject,
  schemaAlternatives,
} from "svc-connectors/host";
import { propertiesOf, secretFieldsOf } from "../contract/secret-settings.ts";
import type { AnyManifest, ConnectorDefinition } from "./registry.ts";

export const authTypes = ["oauth2", "api_token", "basic", "none"] as const;
export type AuthType = (typeof authTypes)[number];

/** How an account of this connector is authenticated; the preferred way first. */
export function authTypesOf(manifest: AnyManifest): AuthType[] {
  const { egress } = manifest;
  if (egress.kind === "file") return ["none"];
  if (egress.kind !== "http" || "syncModes" in manifest) return ["basic"];
  const declared = egress.auth.map(
    ({ type }): AuthType =>
      type === "basic" || type === "oauth2" ? (type === "basic" ? "basic" : "oauth2") : "api_token",
  );
  const types = new Set<AuthType>([
    ...(isAuthorizable(manifest) ? (["oauth2"] as const) : []),
    ...declared,
  ]);
  // A manifest signs itself: what of its settings is secret goes into a credential.
  if (types.size === 0 && egress.placeholders && secretFieldsOf(manifest).length > 0)
    return ["api_token"];
  return types.size === 0 ? ["none"] : [...types];
}

/** Settings that an account stands for which was connected in the browser. */
export function accountFieldsOf(manifest: AnyManifest): string[] {
  if ("syncModes" in manifest) return [];
  const account = findAccount(manifest);
  if (!account?.authorization) return [];
  return [...Object.values(account.client ?? {}), account.token.field];
}

/** Where a credential of the connector begins; null: it needs none. */
export function startPathOf(
  definition: ConnectorDefinition,
  type: AuthType | undefined,
): string | null {
  if (type === undefined || type === "none") return null;
  return type === "oauth2" ? definition.oauthPath : definition.credentialPath;
}

/**
 * The connector's spec as a JSON Schema for forms: every secret is marked, and says where it goes.
 */
export function specificationOf(
  definition: ConnectorDefinition,
  { spec }: AnyManifest,
): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    ...withMarks(spec, definition.credentialPath),
  };
}

function withMarks(schema: JsonObject, path: string): JsonObject {
  const marked = Object.entries(propertiesOf(schema)).map(([name, property]) => [
    name,
    isSecret(property) ? secretProperty(property, path) : withMarks(property, path),
  ]);
  const alternatives = schemaAlternatives.flatMap((keyword) => {
    const list = schema[keyword];
    return Array.isArray(list)
      ? [[keyword, list.map((one) => (isJsonObject(one) ? withMarks(one, path) : one))] as const]
      : [];
  });
  return {
    ...schema,
    ...(schema.properties === undefined ? {} : { properties: Object.fromEntries(marked) }),
    ...Object.fromEntries(alternatives),
  };
}

const secretProperty = (property: JsonObject, path: string): JsonObject => ({
  ...property,
  description: `${property.description ?? ""} Accepted only via POST ${path}.`.trim(),
  "x-svc-secret": true,
  writeOnly: true,
});
