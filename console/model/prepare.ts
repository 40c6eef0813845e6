import { api, askNow } from "../api/client.ts";
import { type CatalogStream, keyOf, type Prepared, type Selection } from "./streams.ts";

/** Asks the source what it has, page by page. @throws Problem */
export async function prepare(
  sourceId: string,
  destinationId: string,
  refresh = false,
): Promise<Prepared> {
  const streams: CatalogStream[] = [];
  const suggested = new Map<string, Selection>();
  const warnings: Prepared["warnings"][number][] = [];
  let cursor: string | undefined;
  let prepareId = "";
  let namespaceDefinition: Prepared["namespaceDefinition"] = "destination";
  do {
    const page = await askNow(
      api.POST("/pipelines/prepare", {
        body: {
          source_id: sourceId,
          destination_id: destinationId,
          limit: 1_000,
          ...(cursor === undefined ? { refresh } : { cursor }),
        },
      }),
    );
    prepareId = page.prepare_id;
    namespaceDefinition = page.suggested_configuration.namespace_definition;
    streams.push(...page.catalog.streams);
    for (const one of page.suggested_configuration.streams) suggested.set(keyOf(one), one);
    if (cursor === undefined) warnings.push(...page.warnings);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return { prepareId, streams, suggested, namespaceDefinition, warnings };
}
