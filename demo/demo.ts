/**
 * `npm run demo`: what the product does, in under a minute. A mailer account (simulated on loopback) and, where one is installed,
 * a real PostgreSQL server are read into DuckDB; then a hostile connector shows what it tried and was refused.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import {
  type ConnectorReference, createHost, type HostEvent, openDuckdbOutput, selectStreams, systemClock,
} from "svc-connectors/host"; // biome-ignore format: a list of names
import { startMailer } from "../fixtures/providers/mailer/mailer.ts";
import { startPostgres } from "../fixtures/providers/postgres-server.ts";
import { fillShop } from "./shop.ts";

const folder = await mkdtemp(join(tmpdir(), "svc-demo-"));
const connector = (name: string): ConnectorReference => ({
  name,
  url: new URL(`../connectors/${name}/index.ts`, import.meta.url).href,
});
const say = (text = "") => process.stdout.write(`${text}\n`);
const heading = (text: string) => say(`\n\u001b[1m${text}\u001b[0m`);

try {
  await readMailer();
  await readPostgres();
  await runHostile();
  heading("Next");
  say("  npx svc connectors                                    what can be read");
  say("  npx svc read postgres --config my-db.yaml --out my.duckdb");
  say("  docs/authors.md                                       write a connector of your own");
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function readMailer(): Promise<void> {
  heading("1. A mailer account → DuckDB");
  await using mailer = await startMailer({ seed: 7, campaigns: 60, lists: 4, subscribersPerList: 500 });
  await using host = createHost({ settings: { approvedHosts: ["mail.example.com"] }, seams: mailer.seams });
  const config = { base_url: mailer.baseUrl, api_token: mailer.token };

  const bad = await host.check(connector("mailer"), { ...config, api_token: mailer.badToken });
  say(`  check with a wrong token:  ${bad.status === "failed" ? bad.error.message : "succeeded?"}`);
  const internal = await host.check(connector("mailer"), { ...config, base_url: "https://169.254.169.254/api" });
  say(`  check of a metadata host:  ${internal.status === "failed" ? internal.error.message : "succeeded?"}`);

  mailer.faults.inject({ type: "echo_authorization" });
  const echo = await host.check(connector("mailer"), config);
  const leaked = JSON.stringify(echo).includes(mailer.token.slice(6, 20));
  say(`  provider echoes the token: ${echo.status}; token in the answer: ${leaked ? "YES" : "no"}`);
  await readInto(host, "mailer", config, join(folder, "mailer.duckdb"), [
    `SELECT name, sent_to_number_of_subscribers AS sent, round(open_rate * 100, 1) AS "opened %", round(click_rate * 100, 1) AS "clicked %"
     FROM campaigns ORDER BY sent_at DESC LIMIT 5`,
  ]);
  say(`  requests that the provider saw: ${mailer.requests.length}`);
}

async function readPostgres(): Promise<void> {
  heading("2. A real PostgreSQL server → DuckDB");
  const server = await startPostgres().catch((error: Error) => error);
  if (server instanceof Error) {
    say(`  skipped: ${server.message}`);
    return;
  }
  await using postgres = server;
  const config = { ...(await fillShop(postgres)), schemas: ["public"] };
  await using host = createHost({ settings: { allowNetworks: ["127.0.0.0/8", "::1/128"] } });
  await readInto(host, "postgres", config, join(folder, "postgres.duckdb"), [
    `SELECT c.country, count(*) AS orders, sum(o.total::DECIMAL(18, 2)) AS revenue, max(o.ordered_at) AS latest
     FROM public.orders o JOIN public.customers c ON c.id = o.customer_id GROUP BY 1 ORDER BY revenue DESC LIMIT 5`,
  ]);
}

async function runHostile(): Promise<void> {
  heading("3. A hostile connector");
  await using host = createHost();
  const hostile = { name: "hostile", url: new URL("../fixtures/broken/worker/hostile.ts", import.meta.url).href };
  const config = { api_token: "a-secret-that-must-not-get-out", region: "eu" };
  const tried: string[] = [];
  const denied = new Map<string, number>();
  const catalog = { streams: selectStreams(await host.discover(hostile, config), undefined, undefined) };
  const nothing = async () => {};
  const onEvent = (event: HostEvent) => {
    if (event.type === "denied") denied.set(event.resource, (denied.get(event.resource) ?? 0) + 1);
  };
  await host.read(
    hostile,
    { config, catalog },
    {
      lineFormat: "rows",
      open: nothing,
      checkpoint: nothing,
      status: nothing,
      close: nothing,
      async write(_stream, lines) {
        for (const line of lines.toString().trim().split("\n")) tried.push((JSON.parse(line) as { text: string }).text);
      },
    },
    { onEvent },
  );
  for (const text of tried) say(`  ${text}`);
  say(`  reported by the sandbox: ${[...denied].map(([resource, count]) => `${resource} ×${count}`).join(", ")}`);
  const isOut = tried.some((text) => text.includes(config.api_token));
  say(`  its secret came out: ${isOut ? "YES" : "no"}`);
}

type Host = ReturnType<typeof createHost>;

async function readInto(
  host: Host,
  name: string,
  config: ConfigObject,
  file: string,
  queries: readonly string[],
): Promise<void> {
  const startedMs = performance.now();
  const { id: connectorId } = await host.spec(connector(name));
  const catalog = { streams: selectStreams(await host.discover(connector(name), config), undefined, undefined) };
  const output = await openDuckdbOutput(file, { connectorId, clock: systemClock });
  const summary = await host.read(
    connector(name),
    { config, catalog, state: output.savedState(catalog.streams) },
    output,
  );
  const seconds = (performance.now() - startedMs) / 1000;
  say(
    `  ${summary.status}: ${summary.recordCount} records of ${summary.streams.length} streams in ${seconds.toFixed(1)} s`,
  );
  if (summary.error) say(`  ${summary.error.message}`);
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  for (const query of queries) {
    const rows = (await connection.runAndReadAll(query)).getRowObjectsJson();
    printTable(rows as Record<string, unknown>[]);
  }
  connection.closeSync();
  instance.closeSync();
}

type ConfigObject = Parameters<Host["check"]>[1];

function printTable(rows: readonly Record<string, unknown>[]): void {
  const names = Object.keys(rows[0] ?? {});
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => String(row[name]).length)));
  const line = (cells: readonly unknown[]) =>
    `  │ ${cells.map((cell, index) => String(cell).padEnd(widths[index] ?? 0)).join(" │ ")} │`;
  say(line(names));
  say(`  ├─${widths.map((width) => "─".repeat(width)).join("─┼─")}─┤`);
  for (const row of rows) say(line(names.map((name) => row[name])));
}
