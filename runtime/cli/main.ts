/**
 * The command line: one command a file in cli/. Start at `ownCommands`.
 */

import { toConnectorError } from "../contract/errors.ts";
import { exitCode, exitCodeOf } from "./exit.ts";
import { type Commands, runProgram } from "./program.ts";
import { type CliEnvironment, createOutput, type Terminal } from "./terminal.ts";
import { printable, UsageError } from "./usage.ts";

const inspect = () => import("./inspect.ts");

const ownCommands: Commands = {
  read: {
    summary: "read streams into JSON lines or DuckDB tables",
    load: async () => (await import("./read.ts")).buildRead,
  },
  check: {
    summary: "try whether a configuration works",
    load: async () => (await inspect()).buildCheck,
  },
  discover: {
    summary: "list the streams that can be read",
    load: async () => (await inspect()).buildDiscover,
  },
  spec: {
    summary: "list the settings that a connector asks for",
    load: async () => (await inspect()).buildSpec,
  },
  connectors: {
    summary: "list the connectors that come with svc",
    load: async () => (await import("./connectors.ts")).buildConnectors,
  },
  run: {
    summary: "speak the Airbyte Protocol on stdout",
    load: async () => (await import("./run.ts")).buildRun,
  },
};

/**
 * Runs one command line and gives the exit code: 0 done, 1 failed, 2 something to put right in the
 * command line or its files, 130 interrupted, 141 nobody reads stdout any more. Never throws, never
 * prints a stack.
 * @param more commands of other parts of svc; they take the place of those of the same name
 */
export async function main(
  argv: readonly string[],
  environment: CliEnvironment,
  more: Commands = {},
): Promise<number> {
  const controller = new AbortController();
  const out = createOutput(environment.stdout, () => controller.abort());
  const err = createOutput(environment.stderr);
  using _listening = environment.onSignal(() => controller.abort());
  const terminal: Terminal = {
    ...environment,
    out,
    err,
    signal: controller.signal,
    exitCode: exitCode.ok,
  };
  try {
    await runProgram({ ...ownCommands, ...more }, argv, terminal);
  } catch (error) {
    const failure = error instanceof UsageError ? undefined : toConnectorError(error);
    terminal.exitCode = failure ? exitCodeOf(failure) : exitCode.usage;
    const text = failure ? `${failure.message} (${failure.code})` : (error as UsageError).message;
    if (!failure && argv[0] === "run") await traceUsageError(text, terminal);
    if (!out.isAbandoned) await err.line(`svc: ${printable(text, 600)}`).catch(() => undefined);
  }
  return out.isAbandoned ? exitCode.abandoned : terminal.exitCode;
}

/** Clients of the Airbyte Protocol read stdout alone. */
async function traceUsageError(text: string, { out, clock }: Terminal): Promise<void> {
  const { createMessageWriter } = await import("../sinks/airbyte.ts");
  const messages = createMessageWriter((chunk) => out.write(chunk), clock);
  await messages.usageError(printable(text, 600)).catch(() => undefined);
}
