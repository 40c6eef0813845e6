import { systemClock } from "../host/clock.ts";
import { tuneCollector } from "../host/collector.ts";
import type { CliEnvironment } from "./terminal.ts";

const exitCodeOfSignal = { SIGINT: 130, SIGTERM: 143 } as const;

/** The first signal asks for an end; a second one ends at once. */
function onSignal(listener: () => void): Disposable {
  let count = 0;
  const receive = (signal: keyof typeof exitCodeOfSignal) => {
    count += 1;
    if (count > 1) process.exit(exitCodeOfSignal[signal]);
    listener();
  };
  process.on("SIGINT", receive).on("SIGTERM", receive);
  return { [Symbol.dispose]: () => void process.off("SIGINT", receive).off("SIGTERM", receive) };
}

/**
 * Makes this process a command: gives `run` its arguments and environment, and ends with its exit
 * code.
 */
export async function runProcess(
  run: (argv: readonly string[], environment: CliEnvironment) => Promise<number>,
): Promise<void> {
  tuneCollector();
  process.exitCode = await run(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    createHost: async (options) => (await import("../host/create-host.ts")).createHost(options),
    clock: systemClock,
    cwd: process.cwd(),
    isTTY: process.stderr.isTTY === true,
    // A terminal without a size says 0.
    columns: process.stderr.columns || 80,
    onSignal,
  });
}
