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
import { type OpenConnector, openConnector } from "./connector.ts";
import { exitCode, exitCodeOf } from "./exit.ts";
import { readConfig } from "./files.ts";
import { configFlag, hostFlags, parseOptions } from "./options.ts";
import { readCatalog, readState } from "./state-file.ts";
import type { Terminal } from "./terminal.ts";
import { printable, suggestion, UsageError } from "./usage.ts";

export const runFlags = {
  ...configFlag,
  catalog: { value: "FILE", help: "configured catalog, for read" },
  state: { value: "FILE", help: "saved states, for read" },
  debug: { help: "debug messages too" },
  ...hostFlags,
} as const;

const verbs = ["spec", "check", "discover", "read"] as const;
type Verb = (typeof verbs)[number];

/**
 * `svc run <connector> spec|check|discover|read`: what a client of the Airbyte Protocol expects of
 * a connector's executable. Messages go to stdout, one JSON document a line. Gives the exit code: 0
 * also for a failed check, 1 for any failed read, discover or spec, 2 for what is wrong with the
 * command line or its files.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseOptions(args, runFlags);
  const [wanted, verbText, ...rest] = positionals;
  const verb = parseVerb(verbText, wanted);
  if (rest[0] !== undefined)
    throw new UsageError(`unexpected "${printable(rest[0])}" after ${verb}`);
  const path = (name: "config" | "catalog"): string => {
    const value = values[name];
    if (value === undefined) throw new UsageError(`${verb} needs --${name} FILE`);
    return value;
  };

  const { out, cwd, clock } = terminal;
  const messages = createMessageWriter((chunk) => out.write(chunk), clock);
  try {
    const config = verb === "spec" ? {} : await readConfig(path("config"), cwd);
    const catalog = verb === "read" ? await readCatalog(path("catalog"), cwd) : { streams: [] };
    const state =
      verb === "read" && values.state !== undefined ? await readState(values.state, cwd) : [];
    await using opened = await openConnector(terminal, wanted, values);
    const { host, connector } = opened;
    const options = {
      signal: terminal.signal,
      onEvent: logEvents(messages, values.debug === true),
    };

    if (verb === "spec") await messages.spec(await host.spec(connector, options));
    else if (verb === "check")
      await messages.connectionStatus(await host.check(connector, config, options));
    else if (verb === "discover")
      await messages.catalog(await host.discover(connector, config, options));
    else return await read(opened, { config, catalog, state }, terminal, messages, options);
    return exitCode.ok;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const failure = toConnectorError(error);
    await messages.error(failure.toRecord());
    if (exitCodeOf(failure) === exitCode.usage) throw failure;
    return exitCode.failed;
  }
}

function parseVerb(text: string | undefined, wanted: string | undefined): Verb {
  const verb = verbs.find((one) => one === text);
  if (verb) return verb;
  if (text === undefined && verbs.some((one) => one === wanted))
    throw new UsageError(`name a connector before ${wanted}`);
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
