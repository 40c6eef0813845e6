/**
 * Runs destinations in this process: loads the module, takes the secrets out of its configuration,
 * gives it an authenticated connection or its file, and lets no error of it leave unsanitised.
 * docs/decisions/0017 says why it is no worker.
 */

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../contract/clock.ts";
import type { Log } from "../contract/context.ts";
import type {
  Destination,
  DestinationContext,
  DestinationEgress,
  DestinationSink,
  QueryCommand,
  QueryResult,
  WriteCommand,
} from "../contract/destination.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { CheckResult, ConnectorReference, HostEvent } from "../contract/host.ts";
import type { JsonObject } from "../contract/json.ts";
import type { NetworkSeams, NetworkSettings } from "../contract/network.ts";
import type { Broker } from "../egress/broker.ts";
import { createBroker } from "../egress/create-broker.ts";
import { createSecretRegistry, type SecretRegistry } from "../filter/secrets.ts";
import { sanitizeText } from "../filter/text.ts";
import { systemClock } from "../host/clock.ts";
import { parseConfig } from "../spec/config.ts";
import { type DestinationManifest, describeDestination } from "../spec/destination-manifest.ts";
import { deepFreeze } from "../wire/deep-freeze.ts";
import { writing } from "./failures.ts";

export interface DestinationHostOptions {
  readonly settings?: Partial<NetworkSettings>;
  readonly seams?: NetworkSeams;
  readonly clock?: Clock;
}

export interface DestinationOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: HostEvent) => void;
  /** Where the files of this owner's warehouses are. Only for destinations that declare a file. */
  readonly folder?: string;
}

/** An open writer. Whoever opened it disposes of it, after the sink was closed by the read. */
export interface OpenDestination extends AsyncDisposable {
  readonly sink: DestinationSink;
}

export interface OpenQuery extends AsyncDisposable {
  readonly result: QueryResult;
}

/** Every method throws ConnectorError only. */
export interface DestinationHost {
  /** @throws CONNECTOR_INVALID */
  manifest(destination: ConnectorReference): Promise<DestinationManifest>;
  /** Whatever is wrong is a result. @throws CANCELLED only */
  check(
    destination: ConnectorReference,
    config: JsonObject,
    options?: DestinationOptions,
  ): Promise<CheckResult>;
  /** @throws CONFIG_INVALID, and as the destination's `write` says */
  write(
    destination: ConnectorReference,
    config: JsonObject,
    command: WriteCommand,
    options?: DestinationOptions,
  ): Promise<OpenDestination>;
  /** @throws QUERY_REFUSED, QUERY_FAILED, QUERY_REFUSED also when it cannot be queried */
  query(
    destination: ConnectorReference,
    config: JsonObject,
    command: QueryCommand,
    options?: DestinationOptions,
  ): Promise<OpenQuery>;
}

interface Opened extends AsyncDisposable {
  readonly module: Destination;
  readonly ctx: DestinationContext<never, DestinationEgress>;
  sanitize(error: unknown): ConnectorError;
}

export function createDestinationHost(options: DestinationHostOptions = {}): DestinationHost {
  const { seams = {}, clock = systemClock } = options;
  const settings = { approvedHosts: [], allowNetworks: [], ...options.settings };

  async function load({
    url,
  }: ConnectorReference): Promise<{ module: Destination; manifest: DestinationManifest }> {
    const imported = (await import(url).catch(() => {
      throw new ConnectorError("CONNECTOR_INVALID", {
        path: "module",
        problem: "cannot be loaded",
      });
    })) as { default?: unknown };
    return {
      module: imported.default as Destination,
      manifest: describeDestination(imported.default),
    };
  }

  async function open(
    reference: ConnectorReference,
    config: JsonObject,
    { signal = new AbortController().signal, onEvent = () => {}, folder }: DestinationOptions,
  ): Promise<Opened> {
    const { module, manifest } = await load(reference);
    const parsed = parseConfig(manifest as never, config);
    const secrets = createSecretRegistry();
    for (const secret of parsed.secrets) secrets.add(secret);
    const base = {
      config: deepFreeze(parsed.withoutSecrets),
      clock,
      signal,
      log: createDestinationLog(secrets, onEvent),
    };
    let broker: Broker | undefined;
    const { egress } = manifest;
    let ctx: object;
    if (egress.kind === "file")
      ctx = { ...base, path: await filePath(egress, parsed.whole, folder) };
    else {
      broker = createBroker({
        declaration: egress,
        config: parsed.whole,
        spec: manifest.spec,
        secrets,
        clock,
        settings,
        seams,
        mayWrite: true,
      });
      const opened = broker;
      ctx = { ...base, connect: () => opened.connect(signal) };
    }
    return {
      module,
      ctx: Object.freeze(ctx) as Opened["ctx"],
      sanitize: (error) => sanitizeError(error, secrets),
      [Symbol.asyncDispose]: async () => broker?.close(),
    };
  }

  /** Opens the destination for `work`; what `work` gives keeps it open until it is disposed of. */
  async function keepOpen<T>(
    reference: ConnectorReference,
    config: JsonObject,
    options: DestinationOptions,
    work: (opened: Opened) => Promise<T>,
  ): Promise<T> {
    const opened = await open(reference, config, options);
    try {
      return await work(opened);
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw opened.sanitize(error);
    }
  }

  return {
    manifest: async (reference) => (await load(reference)).manifest,
    async check(reference, config, verb = {}) {
      try {
        await using opened = await open(reference, config, verb);
        await opened.module.check(opened.ctx).catch((error: unknown) => {
          throw opened.sanitize(error);
        });
        return { status: "succeeded" };
      } catch (error) {
        const failure = toConnectorError(error);
        if (failure.code === "CANCELLED") throw failure;
        return { status: "failed", error: failure.toRecord() };
      }
    },
    write: (reference, config, command, verb = {}) =>
      keepOpen(reference, config, verb, async (opened) => {
        const sink = await opened.module.write(opened.ctx, command);
        return {
          sink: sanitizing(sink, opened),
          [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
        };
      }),
    query: (reference, config, command, verb = {}) =>
      keepOpen(reference, config, verb, async (opened) => {
        if (!opened.module.query)
          throw new ConnectorError("QUERY_REFUSED", {
            reason: "this destination cannot be queried",
          });
        const { columns, pages } = await opened.module.query(opened.ctx, command);
        const result = { columns, pages: sanitizingPages(pages, opened) };
        return { result, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
      }),
  };
}

/** Names of files are what people may type into a shell. */
const fileName = /^[a-z0-9][a-z0-9_-]{0,62}$/;

async function filePath(
  { name, ending }: Extract<DestinationEgress, { kind: "file" }>,
  config: JsonObject,
  folder: string | undefined,
): Promise<string> {
  const value = config[name];
  if (typeof value !== "string" || !fileName.test(value))
    throw new ConnectorError("CONFIG_INVALID", {
      path: name,
      problem: "must be small letters, digits, - and _",
    });
  if (folder === undefined)
    throw new ConnectorError("OUTPUT_FAILED", { reason: "no folder for warehouses is set" });
  await writing(() => mkdir(folder, { recursive: true, mode: 0o700 }));
  return join(folder, `${value}${ending}`);
}

export function sanitizeError(error: unknown, secrets: SecretRegistry): ConnectorError {
  const failure = toConnectorError(error, "OUTPUT_FAILED");
  const details = Object.entries(failure.details).map(([name, value]) => [
    name,
    typeof value === "string" ? sanitizeText(value, secrets) : value,
  ]);
  return new ConnectorError(failure.code, Object.fromEntries(details), failure.retryAfterMs);
}

function sanitizing(sink: DestinationSink, { sanitize }: Opened): DestinationSink {
  const safe = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw sanitize(error);
    }
  };
  return {
    lineFormat: sink.lineFormat,
    savedState: () => sink.savedState(),
    location: (stream) => sink.location(stream),
    open: (streams) => safe(() => sink.open(streams)),
    write: (stream, lines, rowCount) => safe(() => sink.write(stream, lines, rowCount)),
    checkpoint: (stream, state, rowCount) => safe(() => sink.checkpoint(stream, state, rowCount)),
    status: (stream, status) => safe(() => sink.status(stream, status)),
    close: () => safe(() => sink.close()),
  };
}

async function* sanitizingPages(
  pages: QueryResult["pages"],
  { sanitize }: Opened,
): QueryResult["pages"] {
  try {
    yield* pages;
  } catch (error) {
    throw sanitize(error);
  }
}

export function createDestinationLog(
  secrets: SecretRegistry,
  onEvent: (event: HostEvent) => void,
): Log {
  const at =
    (level: "debug" | "info" | "warn"): Log["info"] =>
    (message, fields = {}) =>
      onEvent({
        type: "log",
        level,
        message: sanitizeText(message, secrets),
        fields: { ...fields },
      });
  return { debug: at("debug"), info: at("info"), warn: at("warn") };
}
