/** Whole accounts into DuckDB, without the service: what `svc read` does. */
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import {
  createHost,
  findConnector,
  type Host,
  openDuckdbOutput,
  selectStreams,
  systemClock,
} from "svc-connectors/host";
import type { Printer } from "./printer.ts";
import type { Simulators } from "./simulators.ts";

type Config = Parameters<Host["check"]>[1];

const campaigns = `
  SELECT name, sent_to_number_of_subscribers AS sent, round(open_rate * 100, 1) AS "opened %", round(click_rate * 100, 1) AS "clicked %"
  FROM campaigns ORDER BY sent_at DESC LIMIT 5`;
const orders = `
  SELECT c.country, count(*) AS orders, sum(o.total::DECIMAL(18, 2)) AS revenue, max(o.ordered_at) AS latest
  FROM public.orders o JOIN public.customers c ON c.id = o.customer_id GROUP BY 1 ORDER BY revenue DESC LIMIT 5`;

/** @param folder for the databases */
export async function fillWarehouse(print: Printer, { mailer, postgres, seams, settings }: Simulators, folder: string) {
  await using host = createHost({ settings: settings.network, seams });
  await print.line("a mailer account");
  const config = { base_url: mailer.baseUrl, api_token: mailer.token };
  await readInto(print, host, { name: "mailer", config, file: join(folder, "mailer.duckdb"), query: campaigns });
  if (!postgres)
    return print.line("a PostgreSQL server: skipped, none is installed (Debian: apt-get install postgresql)");
  await print.line("a real PostgreSQL server");
  const shop = { ...postgres.config, schemas: ["public"] };
  await readInto(print, host, { name: "postgres", config: shop, file: join(folder, "postgres.duckdb"), query: orders });
}

async function readInto(
  print: Printer,
  host: Host,
  { name, config, file, query }: { name: string; config: Config; file: string; query: string },
): Promise<void> {
  const startedMs = performance.now();
  const connector = findConnector(name, ".");
  const { id: connectorId } = await host.spec(connector);
  const catalog = { streams: selectStreams(await host.discover(connector, config), undefined, undefined) };
  const output = await openDuckdbOutput(file, { connectorId, clock: systemClock, streams: catalog.streams });
  const summary = await host.read(connector, { config, catalog, state: output.savedState() }, output);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  await print.fact(
    `${summary.status}: ${summary.recordCount} records of ${summary.streams.length} streams in ${seconds} s`,
  );
  if (summary.error) await print.fact(summary.error.message);
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(query)).getRowObjectsJson();
  connection.closeSync();
  instance.closeSync();
  await print.table(rows as Record<string, unknown>[]);
}
