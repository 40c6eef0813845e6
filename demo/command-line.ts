/** A whole account into DuckDB, without the service: what `svc read` does. */
import { join } from "node:path";
import {
  createHost,
  findConnector,
  openDuckdbOutput,
  printable,
  selectStreams,
  systemClock,
} from "svc-connectors/host";
import { queryFile } from "./duckdb-file.ts";
import { createSeams } from "./network.ts";
import type { Printer } from "./printer.ts";
import type { Simulators } from "./simulators.ts";

const campaigns = `
  SELECT name, sent_to_number_of_subscribers AS sent, round(open_rate * 100, 1) AS "opened %", round(click_rate * 100, 1) AS "clicked %"
  FROM campaigns ORDER BY sent_at DESC LIMIT 5`;

/** @param folder for the database */
export async function readAccount(
  print: Printer,
  simulators: Simulators,
  folder: string,
): Promise<void> {
  const { mailer, network, settings } = simulators;
  await using host = createHost({
    settings: settings.network,
    seams: createSeams(network, simulators.see),
  });
  const startedMs = performance.now();
  const file = join(folder, "mailer.duckdb");
  const config = { base_url: mailer.baseUrl, api_token: mailer.token };
  const connector = findConnector("mailer", ".");
  const { id: connectorId } = await host.spec(connector);
  const catalog = {
    streams: selectStreams(await host.discover(connector, config), undefined, undefined),
  };
  const output = await openDuckdbOutput(file, {
    connectorId,
    clock: systemClock,
    streams: catalog.streams,
  });
  const summary = await host.read(
    connector,
    { config, catalog, state: output.savedState() },
    output,
  );
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  const { status, recordCount, streams } = summary;
  await print.line(
    `a mailer account: ${status}, ${recordCount} records of ${streams.length} streams in ${seconds} s`,
  );
  if (summary.error) await print.fact(printable(summary.error.message, 300));
  await print.table(await queryFile(file, campaigns));
}
