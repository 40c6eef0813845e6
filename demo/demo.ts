/**
 * `svc demo`: what the product does, in about a minute, against simulated providers on this machine. Start at demoCommand; each
 * part is a file. `--serve` keeps everything up instead, for tests and for who explores.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog, silentLog } from "svc-connectors/control";
import {
  exitCode,
  type Flags,
  parseOptions,
  printable,
  type Terminal,
  UsageError,
  wholeNumber,
} from "svc-connectors/host";
import { runHostile } from "./hostile.ts";
import { startInstance } from "./instance.ts";
import { createPrinter } from "./printer.ts";
import { serveDemo } from "./serve.ts";
import { startSimulators } from "./simulators.ts";
import { DemoFailed, takeTour } from "./tour.ts";
import { fillWarehouse } from "./warehouse.ts";

export const demoFlags = {
  serve: { help: "stay up, and print one line of JSON with addresses, tokens and values to try" },
  port: { value: "N", help: "where the Control API listens; default a free one" },
  help: { help: "show this" },
} as const satisfies Flags;

/** @throws UsageError */
export async function demoCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, demoFlags);
  if (positionals[0] !== undefined) throw new UsageError(`unexpected "${printable(positionals[0])}"`);
  const port = wholeNumber("port", values.port ?? "0", 0, 65_535);
  await using simulators = await startSimulators();
  const { seams, settings } = simulators;
  const log = values.serve ? createLog(terminal.stderr) : silentLog;
  await using instance = await startInstance({ seams, settings, log, port });
  if (values.serve) {
    await serveDemo(terminal, instance, simulators);
    return exitCode.ok;
  }
  const print = createPrinter(terminal);
  const folder = await mkdtemp(join(tmpdir(), "svc-demo-"));
  try {
    await print.heading("1. A source, set up by HTTP");
    await takeTour(print, instance, simulators);
    await print.heading("2. Accounts into DuckDB, from the command line");
    await fillWarehouse(print, simulators, folder);
    await print.heading("3. A hostile connector");
    await runHostile(print);
  } catch (error) {
    if (!(error instanceof DemoFailed)) throw error;
    await terminal.err.line(`svc: ${error.message}`);
    return exitCode.failed;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await print.heading("Next");
  await print.line("npx svc serve                        the Control API, with a database in ./.svc");
  await print.line("npx svc demo --serve                 this demo's server, to try things out");
  await print.line("npx svc read postgres --config my-db.yaml --out my.duckdb");
  return exitCode.ok;
}
