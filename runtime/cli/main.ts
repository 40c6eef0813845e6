/**
 * The command line: one command a file in cli/. Start at `commands`.
 */

import { toConnectorError } from "../contract/errors.ts";
import { packageVersion } from "../host/version.ts";
import { connectors, connectorsFlags } from "./connectors.ts";
import { exitCode, exitCodeOf } from "./exit.ts";
import { check, checkFlags, discover, discoverFlags, spec, specFlags } from "./inspect.ts";
import { describeFlags, type Flags } from "./options.ts";
import { read, readFlags } from "./read.ts";
import { run, runFlags } from "./run.ts";
import { type CliEnvironment, createOutput, type Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

export interface Command {
  readonly usage: string;
  readonly summary: string;
  /** A function where they live in code that is loaded when the command is used. */
  readonly flags: Flags | (() => Promise<Flags>);
  readonly start: (args: readonly string[], terminal: Terminal) => Promise<number>;
}
export type Commands = { readonly [name: string]: Command };

const ownCommands: Commands = {
  read: {
    usage: "<connector> --config FILE",
    summary: "read streams into JSON lines or DuckDB tables",
    flags: readFlags,
    start: read,
  },
  check: {
    usage: "<connector> --config FILE",
    summary: "try whether a configuration works",
    flags: checkFlags,
    start: check,
  },
  discover: {
    usage: "<connector> --config FILE",
    summary: "list the streams that can be read",
    flags: discoverFlags,
    start: discover,
  },
  spec: {
    usage: "<connector>",
    summary: "list the settings that a connector asks for",
    flags: specFlags,
    start: spec,
  },
  connectors: {
    usage: "",
    summary: "list the connectors that come with svc",
    flags: connectorsFlags,
    start: connectors,
  },
  run: {
    usage: "<connector> spec|check|discover|read [--config FILE] [--catalog FILE] [--state FILE]",
    summary: "speak the Airbyte Protocol on stdout",
    flags: runFlags,
    start: run,
  },
};

/**
 * Runs one command line and gives the exit code: 0 done, 1 failed, 2 something to put right in the
 * command line or its files, 130 interrupted, 141 nobody reads stdout any more. Never throws, never
 * prints a stack.
 * @param more commands of other parts of svc
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
  let code: number;
  try {
    code = await dispatch({ ...ownCommands, ...more }, argv, {
      ...environment,
      out,
      err,
      signal: controller.signal,
    });
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const failure = isUsage ? undefined : toConnectorError(error);
    code = failure ? exitCodeOf(failure) : exitCode.usage;
    const text = failure ? `${failure.message} (${failure.code})` : (error as UsageError).message;
    if (!out.isAbandoned) await err.line(`svc: ${printable(text, 600)}`).catch(() => undefined);
  }
  return out.isAbandoned ? exitCode.abandoned : code;
}

async function dispatch(
  commands: Commands,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const [name, ...args] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help")
    return print(terminal, overview(commands));
  if (name === "--version" || name === "-v") return print(terminal, packageVersion);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const kind = name.startsWith("-") ? "flag" : "command";
    throw new UsageError(
      `unknown ${kind} "${printable(name)}"${suggestion(name, Object.keys(commands)) || "; see svc --help"}`,
    );
  }
  if (args.includes("--help") || args.includes("-h"))
    return print(terminal, await help(name, command));
  return command.start(args, terminal);
}

async function print({ out }: Terminal, text: string): Promise<number> {
  await out.line(text);
  return exitCode.ok;
}

function overview(commands: Commands): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`,
  );
  return `svc reads from applications and databases through sandboxed connectors.\n\nUsage: svc <command>\n\n${lines.join("\n")}\n\nsvc <command> --help tells more.`;
}

async function help(name: string, { usage, summary, flags }: Command): Promise<string> {
  const known = typeof flags === "function" ? await flags() : flags;
  return `svc ${name}: ${summary}\n\nUsage: svc ${name} ${usage}\n\n${describeFlags(known)}`;
}
