import { toConnectorError } from "../contract/errors.ts";
import type { HostEvent } from "../contract/host.ts";
import {
  createAirbyteSink,
  createMessageWriter,
  eventLevel,
  eventText,
  type MessageWriter,
  writeErrors,
} from "../sinks/airbyte.ts";
import {
  connectorArgument,
  type HostValues,
  nameConnector,
  type OpenConnector,
  openConnector,
} from "./connector.ts";
import { exitCode, exitCodeOf } from "./exit.ts";
import { readConfig } from "./files.ts";
import { readHashKey } from "./hash-key.ts";
import { addConfigOptions } from "./options.ts";
import type { CommandBuilder } from "./program.ts";
import { readCatalog, readState } from "./state-file.ts";
import type { Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

const verbs = ["spec", "check", "discover", "read"] as const;
type Verb = (typeof verbs)[number];

/**
 * `svc run <connector> spec|check|discover|read`: what a client of the Airbyte Protocol expects of
 * a connector's executable. Messages go to stdout, one JSON document a line. The exit code is 0
 * also for a failed check, 1 for any failed read, discover or spec, 2 for what is wrong with the
 * command line or its files.
 */
export const buildRun: CommandBuilder = (command, terminal) => {
  addConfigOptions(command)
    .argument("<connector>", connectorArgument)
    .argument("[verb]", verbs.join(", "))
    .option("--catalog <FILE>", "configured catalog, for read")
    .option("--state <FILE>", "saved states, for read")
    .option("--hash-key <FILE>", "key of the catalog's hashed_fields, for read")
    .option("--debug", "debug messages too")
    .addHelpText("after", "\nExample: svc run mailer discover --config my-account.yaml")
    .action(async (name, verb, options) => {
      terminal.exitCode = await run(name, parseVerb(verb, name), options, terminal);
    });
};

interface RunOptions extends HostValues {
  readonly config?: string | undefined;
  readonly catalog?: string | undefined;
  readonly state?: string | undefined;
  readonly hashKey?: string | undefined;
  readonly debug?: true | undefined;
}

async function run(
  name: string,
  verb: Verb,
  options: RunOptions,
  terminal: Terminal,
): Promise<number> {
  const path = (flag: "config" | "catalog"): string => {
    const value = options[flag];
    if (value === undefined) throw new UsageError(`${verb} needs --${flag} FILE`);
    return value;
  };

  nameConnector(name, terminal);
  const { out, cwd, clock } = terminal;
  const messages = createMessageWriter((chunk) => out.write(chunk), clock);
  const warn = (warning: string) => void messages.log("WARN", warning).catch(() => undefined);
  try {
    const config = verb === "spec" ? {} : await readConfig(path("config"), cwd, warn);
    const isRead = verb === "read";
    const catalog = isRead ? await readCatalog(path("catalog"), cwd, warn) : { streams: [] };
    const state =
      isRead && options.state !== undefined ? await readState(options.state, cwd, warn) : [];
    const hashKey =
      isRead && options.hashKey !== undefined ? await readHashKey(options.hashKey, cwd) : undefined;
    await using opened = await openConnector(terminal, name, options);
    const { host, connector } = opened;
    const verbOptions = {
      signal: terminal.signal,
      onEvent: logEvents(messages, options.debug === true),
    };

    if (verb === "spec") await messages.spec(await host.spec(connector, verbOptions));
    else if (verb === "check")
      await messages.connectionStatus(await host.check(connector, config, verbOptions));
    else if (verb === "discover")
      await messages.catalog(await host.discover(connector, config, verbOptions));
    else {
      const request = { config, catalog, state, hashKey, isIncrementalOptional: true };
      return await read(opened, request, terminal, messages, verbOptions);
    }
    return exitCode.ok;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const failure = toConnectorError(error);
    await messages.error(failure.toRecord());
    if (exitCodeOf(failure) === exitCode.usage) throw failure;
    return exitCode.failed;
  }
}

function parseVerb(text: string | undefined, connector: string): Verb {
  const verb = verbs.find((one) => one === text);
  if (verb) return verb;
  if (text === undefined && verbs.some((one) => one === connector))
    throw new UsageError(`name a connector before ${connector}`);
  if (text === undefined) throw new UsageError(`say what to do: ${verbs.join(", ")}`);
  throw new UsageError(
    `unknown verb "${printable(text)}"${suggestion(text, verbs) || `; use ${verbs.join(", ")}`}`,
  );
}

async function read(
  { host, connector }: OpenConnector,
  request: Parameters<OpenConnector["host"]["read"]>[1],
  { out }: Terminal,
  messages: MessageWriter,
  options: Parameters<OpenConnector["host"]["read"]>[3],
): Promise<number> {
  const sink = createAirbyteSink((chunk) => out.write(chunk), messages);
  const summary = await host.read(connector, request, sink, options);
  await writeErrors(messages, summary, request.catalog);
  return summary.status === "succeeded" ? exitCode.ok : exitCode.failed;
}

/**
 * Most log messages that wait for a slow reader; more are left out, since a connector may write
 * them without end.
 */
const maxWaitingLogs = 1_000;

function logEvents(messages: MessageWriter, isDebug: boolean): (event: HostEvent) => void {
  let waitingCount = 0;
  const done = () => {
    waitingCount -= 1;
  };
  return (event) => {
    const level = eventLevel(event);
    if ((level === "DEBUG" && !isDebug) || waitingCount >= maxWaitingLogs) return;
    waitingCount += 1;
    // A failure to write is told by the next message that is waited for.
    messages.log(level, eventText(event)).then(done, done);
  };
}
