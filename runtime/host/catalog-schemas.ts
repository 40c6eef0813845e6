import {
  type CatalogStream,
  type ConfiguredCatalog,
  streamKey,
  streamLabel,
} from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject } from "../contract/json.ts";
import { discover } from "./discover.ts";
import type { Run } from "./run.ts";

/**
 * The selection with the discovered schema in the place of each that names no property, as the
 * files of other tools have it: rows would have no field otherwise, and nobody would be told. What
 * is no selection stays as it is, for who checks it. Nothing is asked where every schema has
 * properties, or where the connector's own are read anyway.
 * @throws CATALOG_INVALID for a stream without properties that is not discovered, and as `discover`
 */
export async function withSchemas(
  run: Run,
  catalog: ConfiguredCatalog,
): Promise<ConfiguredCatalog> {
  const streams: unknown = (catalog as Partial<ConfiguredCatalog> | null)?.streams;
  if (run.manifest.streams || !Array.isArray(streams)) return catalog;
  const bare = new Set(catalog.streams.filter(isBare));
  if (bare.size === 0) return catalog;
  const found = new Map((await discover(run)).map((stream) => [streamKey(stream), stream]));
  return {
    ...catalog,
    streams: catalog.streams.map((one) => {
      if (!bare.has(one)) return one;
      const own = found.get(streamKey(one.stream));
      if (!own)
        throw new ConnectorError("CATALOG_INVALID", {
          path: `json_schema of ${streamLabel(one.stream)}`,
          problem: "has no properties, and the stream is not among those that discover finds",
        });
      return { ...one, stream: { ...one.stream, json_schema: own.json_schema } };
    }),
  };
}

/** A stream that has a name and a schema, and the schema no property. */
function isBare({ stream }: { readonly stream?: Partial<CatalogStream> }): boolean {
  const { name, json_schema: schema } = stream ?? {};
  if (typeof name !== "string" || !isJsonObject(schema ?? null)) return false;
  const { properties } = schema as CatalogStream["json_schema"];
  return properties === undefined || Object.keys(properties as object).length === 0;
}
