/**
 * A connector of svc, run through the whole host: in a sandboxed worker, or in this process where
 * more of it can be watched.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { Egress, JsonObject, JsonValue } from "svc-connectors";
import {
  type ConnectorReference,
  createAirbyteSink,
  createHost,
  createMemoryTokenStore,
  createMessageWriter,
  eventLevel,
  eventText,
  findRotatingField,
  type Host,
  type HostEvent,
  type Manifest,
  type NetworkSettings,
  readConnectorCode,
  type TokenStore,
  writeErrors,
} from "svc-connectors/host";
import { runsAtOnce } from "../contract/kit.ts";
import type { Command } from "../contract/observation.ts";
import type { Ability, Ending, Target, TargetDocument, World } from "../contract/target.ts";
import { freshSpec } from "./fresh-spec.ts";
import { openDocument } from "./manifest-document.ts";
import { readSources } from "./sources.ts";
import { standInFor } from "./stand-in.ts";
import { watchSource } from "./watch-source.ts";

export interface ConnectorTargetOptions {
  readonly connector: ConnectorReference;
  /** worker: Node's permission model around a process of its own. module: this process. */
  readonly kind: "worker" | "module";
  readonly settings: Partial<NetworkSettings>;
}

const abilities = {
  worker: ["clock", "cancel", "backpressure", "faults", "classes", "isolation"],
  module: ["clock", "inside", "environment", "cancel", "backpressure", "faults", "classes"],
} as const satisfies Readonly<Record<string, readonly Ability[]>>;

export function createConnectorTarget(options: ConnectorTargetOptions): Target {
  const { connector, kind, settings } = options;
  const lanes: Lane[] = [];
  const idle: Lane[] = [];

  let declared: Promise<Manifest> | undefined;
  /** Its manifest, asked for once. */
  const declare = (): Promise<Manifest> => {
    declared ??= (async () => {
      await using host = createHost({
        sandbox: kind === "worker" ? "process" : "inline",
        settings,
      });
      return await host.spec(connector);
    })();
    return declared;
  };

  const openLane = (): Lane => {
    const lane = createLane(options);
    lanes.push(lane);
    return lane;
  };

  const document = documentAt(connector.url);
  return {
    kind,
    name: connector.name,
    abilities: new Set<Ability>(abilities[kind]),
    // Watching is of the whole process: in this one there is one run at a time.
    ...(kind === "worker" ? { runsAtOnce } : {}),
    sources: readSources(connector.url),
    codeDigest: async () => (await readConnectorCode(connector.url)).digest,
    manifest: async () => JSON.parse(JSON.stringify(await declare())) as JsonObject,
    document,
    // A manifest is no module: nothing of it runs when it is loaded.
    ...(kind === "module" && document === undefined
      ? {
          freshSpec: (environment, clockShiftMs) =>
            freshSpec(connector.url, environment, clockShiftMs),
        }
      : {}),
    async run(command, world) {
      const asks = (await declare().catch(() => undefined))?.egress;
      const lane = idle.pop() ?? openLane();
      try {
        return await runVerb(lane.hostFor(world, asks), connector, command, world);
      } finally {
        idle.push(lane);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(lanes.map((lane) => lane[Symbol.asyncDispose]()));
    },
  };
}

/** Hosts for one run after another. */
interface Lane extends AsyncDisposable {
  /** @param asks what the connector declares of its network; undefined: it declares nothing */
  hostFor(world: World, asks: Egress | undefined): Host;
}

/**
 * One host for all its runs, so that workers are kept warm; what differs from run to run is looked
 * up when it is used.
 */
function createLane({ kind, settings }: ConnectorTargetOptions): Lane {
  let world: World | undefined;
  let egress: Egress | undefined;
  const current = (): World => {
    if (!world) throw new Error("no run is under way");
    return world;
  };
  const open = (timeouts: World["timeouts"], keepsWorkers: boolean): Host =>
    createHost({
      sandbox: kind === "worker" ? "process" : "inline",
      keepsWorkers,
      // Two: where one starts while another works, starting is what everything waits for.
      keepWarm: kind === "worker" && !keepsWorkers ? 2 : 0,
      settings,
      clock: {
        now: () => current().clock.now(),
        sleep: (durationMs, signal) => current().clock.sleep(durationMs, signal),
        standsStill: true,
      },
      seams: {
        standIn: standInFor,
        get openDispatcher() {
          return current().network.seams.openDispatcher as never;
        },
        get resolve() {
          return current().network.seams.resolve as never;
        },
        get dial() {
          return current().network.seams.dial as never;
        },
        get ca() {
          return current().network.seams.ca as never;
        },
      },
      aroundSource: (source) => {
        const { onGiven } = current();
        return onGiven ? watchSource(source, onGiven) : source;
      },
      limits: { graceMs: 1_000 },
      tokens: (_, config) =>
        watchedStore(config, refreshTokenFieldOf(egress), current().onTokenSaved),
      http: timeouts
        ? {
            connectTimeoutMs: timeouts.connectMs,
            headersTimeoutMs: timeouts.headersMs,
            idleTimeoutMs: timeouts.idleMs,
            totalTimeoutMs: timeouts.totalMs,
          }
        : {},
    });
  const hosts = new Map<string, Host>();
  return {
    hostFor(given, asks) {
      world = given;
      egress = asks;
      // Reads of databases have a worker of their own: their sessions may be ended in the middle of
      // anything.
      const keepsWorkers = kind === "worker" && asks?.kind === "http";
      const key = JSON.stringify([given.timeouts ?? null, keepsWorkers]);
      const host = hosts.get(key) ?? open(given.timeouts, keepsWorkers);
      hosts.set(key, host);
      return host;
    },
    async [Symbol.asyncDispose]() {
      for (const host of hosts.values()) await host[Symbol.asyncDispose]();
    },
  };
}

/** The text of a declarative manifest; undefined: the connector is a module. */
function documentAt(url: string): TargetDocument | undefined {
  if (!/\.ya?ml$/.test(url)) return undefined;
  const path = fileURLToPath(url);
  return openDocument(readFileSync(path, "utf8"), basename(path));
}

/** Path of the setting with the refresh token; "" = the connector uses none. */
function refreshTokenFieldOf(egress: Egress | undefined): string {
  const declared =
    egress?.kind === "http" ? egress.auth.find((auth) => auth.type === "oauth2") : undefined;
  return declared?.refreshToken ?? (egress && findRotatingField({ egress })) ?? "";
}

/** The store that the runtime uses when it is given none, and a call for each save. */
function watchedStore(
  config: JsonObject,
  field: string | undefined,
  onSaved: World["onTokenSaved"],
): TokenStore | undefined {
  const given = (field ?? "")
    .split(".")
    .reduce<JsonValue | undefined>(
      (part, step) => (part as JsonObject | undefined)?.[step],
      config,
    );
  if (typeof given !== "string") return undefined;
  const store = createMemoryTokenStore({ refreshToken: given });
  return {
    ...store,
    async save(version, tokens) {
      onSaved?.(tokens.refreshToken);
      return await store.save(version, tokens);
    },
  };
}

/** As `svc run <connector> <verb>` does it. */
async function runVerb(
  host: Host,
  connector: ConnectorReference,
  command: Command,
  world: World,
): Promise<Ending> {
  const { clock, signal } = world;
  const write = (chunk: string | Buffer) => writeLines(chunk, world);
  const messages = createMessageWriter(write, clock);
  const denied: string[] = [];
  const redactions: string[] = [];
  const logs: Promise<void>[] = [];
  const onEvent = (event: HostEvent) => {
    if (event.type === "denied") denied.push(event.resource);
    if (event.type === "redacted")
      redactions.push(
        event.stream === undefined ? event.where : `${event.where} of ${event.stream}`,
      );
    logs.push(messages.log(eventLevel(event), eventText(event)).catch(() => undefined));
  };
  const options = { signal, onEvent, onCall: world.onCall };
  let exitCode = 0;
  try {
    if (command.verb === "spec") await messages.spec(await host.spec(connector, options));
    else if (command.verb === "check") {
      const result = await host.check(connector, command.config, options);
      await messages.connectionStatus(result);
      if (result.status === "failed") await messages.error(result.error);
    } else if (command.verb === "discover")
      await messages.catalog(await host.discover(connector, command.config, options));
    else {
      const summary = await host.read(
        connector,
        command,
        createAirbyteSink(write, messages),
        options,
      );
      await writeErrors(messages, summary, command.catalog);
      exitCode = summary.status === "succeeded" ? 0 : 1;
    }
  } catch (error) {
    exitCode = 1;
    // The host throws errors of its table only; anything else is the consumer that has gone.
    if (error instanceof Error && "toRecord" in error)
      await messages
        .error((error as never as { toRecord(): never }).toRecord())
        .catch(() => undefined);
  }
  await Promise.all(logs);
  return { exitCode, denied, redactions };
}

async function writeLines(chunk: string | Buffer, { write }: World): Promise<void> {
  const lines = chunk.toString().split("\n");
  for (const line of lines) if (line !== "") await write(line);
}
