import {
  type CatalogStream,
  ConnectorError,
  type ConnectorReference,
  errorTable,
  type Host,
  isJsonObject,
  isSecret,
  type JsonObject,
  type JsonValue,
  type Manifest,
  schemaAlternatives,
} from "svc-connectors/host";
import { propertiesOf } from "../contract/secret-settings.ts";

/**
 * The streams that a connector has under its standard settings; none where only the account can
 * tell. It is asked with made-up settings. @param offline reaches no network
 */
export async function standardCatalog(
  offline: Host,
  reference: ConnectorReference,
  manifest: Manifest,
): Promise<readonly CatalogStream[]> {
  if (manifest.streams) return manifest.streams;
  try {
    return await offline.discover(reference, madeUpConfig(manifest));
  } catch (error) {
    if (
      error instanceof ConnectorError &&
      !["system", "cancelled"].includes(errorTable[error.code].kind)
    )
      return [];
    throw error;
  }
}

/** Something for every setting that must be there. */
function madeUpConfig({ spec, egress }: Manifest): JsonObject {
  const config = madeUpObject(spec);
  if (egress.kind !== "http" || typeof egress.baseUrl === "string") return config;
  const { field, pathEnd, approvedHosts = [] } = egress.baseUrl;
  return { ...config, [field]: `https://${approvedHosts[0]?.replace("*", "team")}${pathEnd}` };
}

/** An object with the required properties; of several forms the first. */
function madeUpObject(schema: JsonObject): JsonObject {
  const required = (schema.required ?? []) as readonly string[];
  const [form] = schemaAlternatives.flatMap((keyword) => {
    const list = schema[keyword];
    return Array.isArray(list) ? list.filter(isJsonObject) : [];
  });
  const properties = propertiesOf(schema);
  const own = required.map((name) => [name, madeUpValue(properties[name] ?? {})] as const);
  return { ...(form ? madeUpObject(form) : {}), ...Object.fromEntries(own) };
}

function madeUpValue(schema: JsonObject): JsonValue {
  if (isSecret(schema)) return "made-up";
  if (schema.const !== undefined) return schema.const;
  if (schema.type === "object" || schema.properties !== undefined) return madeUpObject(schema);
  const [choice] = [schema.enum, schema.examples].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return choice ?? schema.default ?? "made-up";
}
