/**
 * The command line: one command a file in cli/. Start at `commands`.
 */

import { readFileSync } from "node:fs";
import { connectors, connectorsFlags } from "./cli/connectors.ts";
import { exitCode, exitCodeOf } from "./cli/exit.ts";
import { check, checkFlags, discover, discoverFlags, spec, specFlags } from "./cli/inspect.ts";
import { describeFlags, type Flags } from "./cli/options.ts";
import { read, readFlags } from "./cli/read.ts";
import { run, runFlags } from "./cli/run.ts";
import { createOutput, type Surroundings, type Terminal } from "./cli/terminal.ts";
import { printable, suggestion, UsageError } from "./cli/usage.ts";
import { toConnectorError } from "./errors.ts";
import { packageRoot } from "./location.ts";

interface Command {
  readonly usage: string;
  readonly summary: string;
  readonly flags: Flags;
  readonly start: (args: readonly string[], terminal: Terminal) => Promise<number>;
}

const commands: { readonly [name: string]: Command } = {
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
  spec: { usage: "<connector>", summary: "list the settings that a connector asks for", flags: specFlags, start: spec },
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
 * Runs one command line and gives the exit code: 0 done, 1 failed, 2 something to put right in the command line or its files,
 * 130 interrupted, 141 nobody reads stdout any more. Never throws, never prints a stack.
 */
export async function main(argv: readonly string[], surroundings: Surroundings): Promise<number> {
  const controller = new AbortController();
  const out = createOutput(surroundings.stdout, () => controller.abort());
  const err = createOutput(surroundings.stderr);
  using _listening = surroundings.onSignal(() => controller.abort());
  let code: number;
  try {
    code = await dispatch(argv, { ...surroundings, out, err, signal: controller.signal });
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const failure = isUsage ? undefined : toConnectorError(error);
    code = failure ? exitCodeOf(failure) : exitCode.usage;
    const text = failure ? `${failure.message} (${failure.code})` : (error as UsageError).message;
    if (!out.isAbandoned) await err.line(`svc: ${printable(text, 600)}`).catch(() => undefined);
  }
  return out.isAbandoned ? exitCode.abandoned : code;
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...args] = argv;
  if (name === undefined || name === "--help" || name === "-h" || name === "help") return print(terminal, overview());
  if (name === "--version" || name === "-v") return print(terminal, version());
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) {
    const kind = name.startsWith("-") ? "flag" : "command";
    throw new UsageError(
      `unknown ${kind} "${printable(name)}"${suggestion(name, Object.keys(commands)) || "; see svc --help"}`,
    );
  }
  if (args.includes("--help") || args.includes("-h")) return print(terminal, help(name, command));
  return command.start(args, terminal);
}

async function print({ out }: Terminal, text: string): Promise<number> {
  await out.line(text);
  return exitCode.ok;
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `svc reads from applications and databases through sandboxed connectors.\n\nUsage: svc <command>\n\n${lines.join("\n")}\n\nsvc <command> --help tells more.`;
}

const help = (name: string, { usage, summary, flags }: Command) =>
  `svc ${name}: ${summary}\n\nUsage: svc ${name} ${usage}\n\n${describeFlags(flags)}`;

/** The package's version. */
function version(): string {
  const text = readFileSync(`${packageRoot}/package.json`, "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
