import {
  type CatalogStream,
  ConnectorError,
  type ConnectorReference,
  errorTable,
  type Host,
  isSecret,
  type JsonObject,
  type JsonValue,
  type Manifest,
} from "svc-connectors/host";

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
  const properties = spec.properties as Readonly<Record<string, JsonObject>>;
  const required = (spec.required ?? []) as readonly string[];
  const config = Object.fromEntries(
    required.map((name) => [name, madeUpValue(properties[name] ?? {})]),
  );
  if (egress.kind !== "http" || typeof egress.baseUrl === "string") return config;
  const { field, pathEnd, approvedHosts = [] } = egress.baseUrl;
  return { ...config, [field]: `https://${approvedHosts[0]?.replace("*", "team")}${pathEnd}` };
}

function madeUpValue(schema: JsonObject): JsonValue {
  if (isSecret(schema)) return "made-up";
  const [choice] = [schema.enum, schema.examples].flatMap((list) =>
    Array.isArray(list) ? list : [],
  );
  return choice ?? schema.default ?? "made-up";
}
