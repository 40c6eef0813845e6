import type { CatalogStream } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { maxTables, parseCatalogStreams } from "../spec/selection.ts";
import { parsePayload } from "../wire/frames.ts";
import type { Run } from "./run.ts";

/** Largest catalog: 6,000 tables of 1,000 columns fit. */
const maxCatalogBytes = 512 * 1024 * 1024;

/** The streams of the account, at most 6,000. @throws TOO_MANY_TABLES, CONNECTOR_INVALID */
export async function discover(run: Run): Promise<CatalogStream[]> {
  const streams: CatalogStream[] = [];
  let catalogBytes = 0;
  await run.execute(
    { verb: "discover", maxStreams: maxTables },
    {
      onStreams(text) {
        catalogBytes += text.length;
        if (catalogBytes > maxCatalogBytes) {
          throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "the catalog is too large" });
        }
        // Names and schemas come from the source: nothing secret may hide in them.
        const part = parsePayload(run.secrets.contains(text) ? withoutSecrets(run, text) : text);
        if (!Array.isArray(part))
          throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "streams must be a list" });
        streams.push(...(part as unknown as CatalogStream[]));
        if (streams.length > maxTables) {
          const hint = "Narrow the selection with the connector's include and exclude settings.";
          throw new ConnectorError("TOO_MANY_TABLES", {
            found: streams.length,
            limit: maxTables,
            hint,
          });
        }
      },
    },
  );
  return parseCatalogStreams(streams);
}

const withoutSecrets = (run: Run, text: Buffer) =>
  run.withRedactionEvent("catalog", () =>
    run.secrets.redactLines(Buffer.concat([text, Buffer.from("\n")])),
  );
