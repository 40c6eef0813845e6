/** The connectors of hostile tests, and the catalog of their one stream. */
import type { ConfiguredCatalog, ConnectorReference } from "svc-connectors/host";

/** A connector of fixtures/broken/worker. */
export const broken = (name: string): ConnectorReference => ({
  name,
  url: new URL(`../../fixtures/broken/worker/${name}.ts`, import.meta.url).href,
});

/** The stream of every misbehaving source, in full. */
export const rowsOnly: ConfiguredCatalog = {
  streams: [
    {
      stream: {
        name: "rows",
        json_schema: {
          type: "object",
          properties: { id: { type: "integer" }, text: { type: "string" } },
        },
        supported_sync_modes: ["full_refresh"],
        source_defined_cursor: false,
        default_cursor_field: [],
        source_defined_primary_key: [["id"]],
        is_resumable: false,
      },
      sync_mode: "full_refresh",
    },
  ],
};
