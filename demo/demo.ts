/**
 * `svc demo`: shows the product in less than a minute, against simulated providers on this machine.
 * Start at buildDemo; each part is a file. `--serve` keeps everything up instead, for tests and for
 * people who explore.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CommandBuilder, exitCode, type Terminal, wholeNumber } from "svc-connectors/host";
import { otherAccounts } from "./accounts.ts";
import { createClient, DemoFailed } from "./client.ts";
import { readAccount } from "./command-line.ts";
import { surviveKill } from "./crash.ts";
import { runHostile } from "./hostile.ts";
import { proveRows, startSync, watchJob } from "./pipelines.ts";
import { createPrinter, type Printer } from "./printer.ts";
import { askQuestion } from "./question.ts";
import { sendBack } from "./reverse-etl.ts";
import { serveDemo } from "./serve.ts";
import { type DemoService, startService } from "./service.ts";
import { type Simulators, startSimulators } from "./simulators.ts";
import { takeTour } from "./tour.ts";

export const buildDemo: CommandBuilder = (command, terminal) => {
  command
    .option(
      "--serve",
      "stay up, and print one line of JSON with addresses, tokens and values to try",
    )
    .option(
      "--port <N>",
      "where the Control API listens; default a free one",
      wholeNumber("port", 0, 65_535),
    )
    .action((options) => runDemo(options, terminal));
};

interface DemoOptions {
  readonly serve?: true | undefined;
  readonly port?: number | undefined;
}

async function runDemo({ serve, port = 0 }: DemoOptions, terminal: Terminal): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-demo-"));
  try {
    await using simulators = await startSimulators();
    const isLogging = serve === true;
    await using service = await startService({
      simulators,
      folder: join(folder, "service"),
      port,
      isLogging,
    });
    if (serve) await serveDemo(terminal, service, simulators);
    else await show(createPrinter(terminal), service, simulators, folder, terminal.signal);
  } catch (error) {
    if (terminal.signal.aborted) {
      terminal.exitCode = exitCode.interrupted;
      return;
    }
    if (!(error instanceof DemoFailed)) throw error;
    terminal.exitCode = exitCode.failed;
    await terminal.err.line(`svc: ${error.message}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws DemoFailed */
async function show(
  print: Printer,
  service: DemoService,
  simulators: Simulators,
  folder: string,
  signal: AbortSignal,
): Promise<void> {
  await print.heading("1. A source, set up by HTTP");
  await takeTour(print, service, simulators);
  await print.heading("2. An account into DuckDB, from the command line");
  await readAccount(print, simulators, folder);
  await print.heading("3. A hostile connector");
  await runHostile(print);

  await print.heading("4. Every source into one warehouse, by jobs");
  const [acme] = service.workspaces;
  const ask = createClient(service.url, acme.tokens.editor);
  const warehouse = {
    name: "Warehouse",
    connector_id: "conn_duckdb",
    configuration: { file: "warehouse" },
  };
  const { destination_id } = await ask(201, "POST", "/destinations", warehouse);
  const file = join(folder, "service", "warehouses", acme.workspace_id, "warehouse.duckdb");
  await print.line("each has a source and a pipeline, which runs as a job");
  const syncs = [];
  for (const account of otherAccounts(simulators))
    syncs.push(await startSync(print, ask, account, destination_id));
  for (const sync of syncs) await watchJob(print, ask, sync, signal);
  if (!simulators.postgres)
    await print.line(
      "a PostgreSQL server: skipped, none is installed (Debian: apt-get install postgresql)",
    );
  await print.heading("5. kill -9 in the middle of a sync");
  const survivor = await surviveKill(print, ask, service, simulators, destination_id, signal);
  await proveRows(print, file, [...syncs, survivor]);
  await print.heading("6. One question about all of them");
  await askQuestion(print, file, simulators);
  await print.heading("7. And back: the keenest readers, marked in the mailer");
  await sendBack(print, ask, simulators, { warehouseId: destination_id, ...survivor }, signal);

  await print.heading("Next");
  await print.line(
    "npx svc serve                        the Control API and the console: it prints a link that signs in",
  );
  await print.line("npx svc demo --serve                 this demo's server, to try things out:");
  await print.line(
    "                                     open its console_url, which signs in once",
  );
  await print.line("npx svc read postgres --config my-db.yaml --out my.duckdb");
}
