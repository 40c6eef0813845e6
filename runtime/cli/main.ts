/**
 * The command line: one command a file in cli/. Start at `ownCommands`.
 */

import { toConnectorError } from "../contract/errors.ts";
import { answer, asksForJson, toErrorDocument } from "./answer.ts";
import { exitCode, exitCodeOf } from "./exit.ts";
import { buildProgram, type Commands, runProgram } from "./program.ts";
import { type CliEnvironment, createOutput, type Terminal } from "./terminal.ts";
import { CommandFailed, printable, UsageError } from "./usage.ts";

const inspect = () => import("./inspect.ts");

/** `svc connectors` without further words. */
export const loadConnectorList = async () => (await import("./connectors.ts")).buildConnectors;

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
    load: async () => (await import("./spec.ts")).buildSpec,
  },
  config: {
    summary: "write a first configuration of a connector, with comments",
    load: async () => (await import("./spec.ts")).buildConfig,
  },
  connectors: {
    summary: "list the connectors that come with svc",
    load: loadConnectorList,
  },
  run: {
    summary: "speak the Airbyte Protocol on stdout",
    load: async () => (await import("./run.ts")).buildRun,
  },
  version: {
    summary: "show the version",
    load: async () => (await import("./version.ts")).buildVersion,
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
    const commands: Commands = {
      ...ownCommands,
      ...more,
      completion: {
        summary: "write a script that completes commands and flags in a shell",
        async load() {
          const { createCompletion } = await import("./completion.ts");
          return createCompletion(() => buildProgram(commands, terminal, (_, { load }) => load));
        },
      },
    };
    await runProgram(commands, argv, terminal);
  } catch (error) {
    const failure = describeFailure(error);
    terminal.exitCode = failure.exitCode;
    const message = printable(failure.message, 600);
    if (error instanceof UsageError && argv[0] === "run") await traceUsageError(message, terminal);
    else if (asksForJson(argv)) {
      const error = toErrorDocument({ ...failure, message });
      await answer(terminal, true, { error }, () => "").catch(ignore);
    }
    if (!out.isAbandoned) await err.line(`svc: ${message}${failure.suffix}`).catch(ignore);
  }
  return out.isAbandoned ? exitCode.abandoned : terminal.exitCode;
}

/** A failure in one line, with a code that scripts can compare. */
function describeFailure(error: unknown) {
  if (error instanceof UsageError)
    return { code: "USAGE", message: error.message, suffix: "", exitCode: exitCode.usage };
  if (error instanceof CommandFailed)
    return { code: "FAILED", message: error.message, suffix: "", exitCode: exitCode.failed };
  const failure = toConnectorError(error);
  const record = failure.toRecord();
  return { ...record, suffix: ` (${record.code})`, exitCode: exitCodeOf(failure) };
}

const ignore = () => undefined;

/** Clients of the Airbyte Protocol read stdout alone. */
async function traceUsageError(text: string, { out, clock }: Terminal): Promise<void> {
  const { createMessageWriter } = await import("../sinks/airbyte.ts");
  const messages = createMessageWriter((chunk) => out.write(chunk), clock);
  await messages.usageError(text).catch(ignore);
}
