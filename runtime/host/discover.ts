import { budgets } from "../contract/budgets.ts";
import type { CatalogStream } from "../contract/catalog.ts";
import { ConnectorError } from "../contract/errors.ts";
import { createStreamList, maxTables } from "../spec/streams.ts";
import { measureJson, parseBounded } from "../wire/bounded-json.ts";
import type { Run } from "./run.ts";

/**
 * The streams of the account, at most 6,000: taken, searched and checked part by part.
 * @throws TOO_MANY_TABLES, CATALOG_TOO_LARGE, CONNECTOR_INVALID
 */
export async function discover(run: Run): Promise<CatalogStream[]> {
  const list = createStreamList();
  let streams: readonly CatalogStream[] = list([]);
  let bytes = 0;
  let values = 0;
  const { together, values: most } = budgets.catalog;
  const refuse = (problem: string) => new ConnectorError("CATALOG_TOO_LARGE", { problem });
  await run.execute(
    { verb: "discover", maxStreams: maxTables },
    {
      onStreams(text) {
        bytes += text.length;
        values += measureJson(text).values;
        if (bytes > together) throw refuse(`it has more than ${together} bytes`);
        if (values > most) throw refuse(`it has more than ${most} values`);
        // Names and schemas come from the source: nothing secret may hide in them.
        const safe = run.secrets.contains(text) ? withoutSecrets(run, text) : text;
        streams = list(parseBounded(safe, budgets.catalogPart, notAPart));
      },
    },
  );
  return [...streams];
}

const notAPart = (problem: string) =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: `a part of the catalog ${problem}` });

const withoutSecrets = (run: Run, text: Buffer) =>
  run.withRedactionEvent("catalog", () =>
    run.secrets.redactLines(Buffer.concat([text, Buffer.from("\n")])),
  );
