/**
 * Opens a run, the beginning of every verb: a worker with the connector loaded, its checked
 * manifest, the configuration taken apart, the secrets that the output filter looks for, and the
 * broker that holds them.
 */

import { budgets } from "../contract/budgets.ts";
import type { Manifest } from "../contract/catalog.ts";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, type ErrorDetails, toConnectorError } from "../contract/errors.ts";
import type {
  ConnectorReference,
  HostEvent,
  HostOptions,
  VerbOptions,
  WorkerLimits,
} from "../contract/host.ts";
import { imageMemoryMb } from "../contract/image.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "../contract/network.ts";
import type { Broker } from "../egress/broker.ts";
import { configValue } from "../egress/config-field.ts";
import { createBroker } from "../egress/create-broker.ts";
import { createPlaceholders, type PlaceholderRegistry } from "../egress/placeholders.ts";
import { createSecretRegistry, runSecretLimits, type SecretRegistry } from "../filter/secrets.ts";
import { sanitizeText } from "../filter/text.ts";
import { type ParsedConfig, parseConfig, withSubstitutes } from "../spec/config.ts";
import { egressFields, mustBeSecret } from "../spec/egress-fields.ts";
import { parseManifest } from "../spec/manifest.ts";
import { canonicalize } from "../wire/canonical-json.ts";
import type { VerbRequest } from "../wire/verb-request.ts";
import type { LoadedWorker, WorkerPool } from "./pool.ts";
import { builtInName } from "./registry.ts";
import type { SessionHandlers } from "./worker-output.ts";

/** The parts of a host that all its runs share. */
export interface HostParts {
  readonly pool: WorkerPool;
  readonly clock: Clock;
  readonly settings: NetworkSettings;
  readonly seams: NetworkSeams;
  readonly limits: WorkerLimits;
  readonly http: Partial<HttpLimits>;
  readonly allowLocal: boolean;
  readonly tokens: NonNullable<HostOptions["tokens"]>;
}

export interface Run {
  readonly manifest: Manifest;
  readonly config: ParsedConfig;
  readonly secrets: SecretRegistry;
  readonly broker: Broker;
  /** The host's clock; ms. */
  now(): number;
  /**
   * Runs a verb in a worker: the one that the run was opened with, and another one for each further
   * call; calls may overlap. Logs and refusals become events.
   * @throws ConnectorError · CONNECTOR_INVALID when another worker says something else of itself
   */
  execute(request: Omit<VerbRequest, "config">, handlers: SessionHandlers): Promise<void>;
  /**
   * Gives the result of `filter`; a secret that it took out becomes an event that names the place.
   */
  withRedactionEvent<T>(where: string, filter: () => T, stream?: string): T;
  /** A copy of the error whose texts hold no secret and nothing internal. */
  sanitizeError(error: unknown): ConnectorError;
}

/** @throws CONFIG_INVALID when they are too many: the connector is not at fault */
function addConfigured(secrets: SecretRegistry, values: readonly string[]): void {
  try {
    for (const value of values) secrets.add(value);
  } catch {
    const [most] = budgets.runSecrets.count;
    throw new ConnectorError("CONFIG_INVALID", {
      path: "the document",
      problem: `has more than ${most} secrets of less than ten characters`,
    });
  }
}

/**
 * Opens a run, hands it to `work`, and ends the worker and the broker whatever happens.
 * @throws CONNECTOR_INVALID, CONFIG_INVALID, BASE_URL_REFUSED before the connector has been asked
 * anything
 */
export async function withRun<T>(
  parts: HostParts,
  connector: ConnectorReference,
  rawConfig: JsonValue,
  options: VerbOptions,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const first = await parts.pool.take(connector, options.signal);
  const workers = [first];
  const secrets = createSecretRegistry(runSecretLimits);
  const emit = (event: HostEvent) => options.onEvent?.(event);
  /** Emits an event when the filter took a secret out. */
  const withRedactionEvent = <T>(where: string, filter: () => T, stream?: string): T => {
    const before = secrets.hitCount;
    const filtered = filter();
    if (secrets.hitCount > before)
      emit({ type: "redacted", where, ...(stream === undefined ? {} : { stream }) });
    return filtered;
  };
  const sanitizeError = (error: unknown) =>
    withRedactionEvent("error", () => withSafeDetails(toConnectorError(error), secrets));
  let outputLines = 0;
  const listen = ({ worker }: LoadedWorker) => {
    let unended = "";
    worker.onText((text) => {
      // A line may come in pieces: searched one by one, each could hide half of a secret.
      const lines = (unended + text).split("\n");
      unended = (lines.pop() ?? "").slice(-maxUnendedChars);
      for (const line of lines) {
        if (line.trim() !== "" && ++outputLines <= maxOutputLines)
          emit({
            type: "log",
            level: "debug",
            message: withRedactionEvent("output", () => sanitizeText(line, secrets)),
            fields: { from: "output" },
          });
      }
    });
  };
  listen(first);
  let unused: LoadedWorker | undefined = first;
  const takeWorker = async (): Promise<LoadedWorker> => {
    const ready = unused;
    unused = undefined;
    if (ready) return ready;
    const another = await parts.pool.take(connector, options.signal);
    workers.push(another);
    listen(another);
    if (canonicalize(another.manifest) === canonicalize(first.manifest)) return another;
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "definition",
      problem: "it changes from one load to the next",
    });
  };
  let broker: Broker | undefined;
  try {
    const manifest = parseManifest(first.manifest);
    const config = parseConfig(manifest, rawConfig, builtInName(connector));
    requireHidden(manifest, config);
    addConfigured(secrets, config.secrets);
    const tokens = options.tokens ?? parts.tokens(connector, config.whole);
    const placeholders = hasPlaceholders(manifest) ? createPlaceholders(secrets) : undefined;
    const given = placeholders
      ? withSubstitutes(config.whole, manifest.spec, placeholders.placeholderOf)
      : config.withoutSecrets;
    broker = createBroker({
      declaration: manifest.egress,
      config: config.whole,
      spec: manifest.spec,
      secrets,
      placeholders,
      clock: parts.clock,
      settings: parts.settings,
      seams: parts.seams,
      limits: parts.http,
      allowLocal: parts.allowLocal,
      tokens,
      ledger: options.ledger,
      onWaiting: (untilMs, reason) => emit({ type: "waiting", untilMs, reason }),
      onRequest: options.onRequest,
      onCall: options.onCall,
    });
    broker = await contain(connector, manifest, broker, {
      config: config.whole,
      placeholders,
      limits: parts.limits,
      onDenied: (resource) => emit({ type: "denied", resource: sanitizeText(resource, secrets) }),
    });
    await (placeholders ?? secrets).prepare();
    const used = broker;
    const isRead = (request: Omit<VerbRequest, "config">) => request.verb === "read";
    return await work({
      manifest,
      config,
      secrets,
      broker: used,
      now: () => parts.clock.now(),
      sanitizeError,
      withRedactionEvent: withRedactionEvent,
      async execute(request, handlers) {
        const { session } = await takeWorker();
        await session.run(
          { ...request, config: given, namesPlaces: options.onCall !== undefined },
          used,
          {
            onLog: (level, message, fields) =>
              emit({
                type: "log",
                level: toLevel(level),
                message: withRedactionEvent("log", () => sanitizeText(message, secrets)),
                fields: withRedactionEvent("log", () => sanitizeFields(fields, secrets)),
              }),
            onDenied: (resource) =>
              emit({ type: "denied", resource: sanitizeText(resource, secrets) }),
            ...handlers,
          },
          {
            timeoutMs: isRead(request) ? parts.limits.readTimeoutMs : parts.limits.verbTimeoutMs,
            unresponsiveMs: parts.limits.unresponsiveMs,
            graceMs: parts.limits.graceMs,
          },
          options.signal,
        );
      },
    });
  } catch (error) {
    throw sanitizeError(error);
  } finally {
    for (const { worker } of workers) worker.kill(new ConnectorError("CANCELLED"));
    await Promise.all([...workers.map(({ worker }) => worker.ended), broker?.close()]);
  }
}

/**
 * Requires that the worker never gets what authenticates, whatever a spec says in alternatives,
 * names with dots or further properties.
 */
function requireHidden({ egress }: Manifest, { withoutSecrets }: ParsedConfig): void {
  for (const { field, isSecret } of egressFields(egress)) {
    if (!isSecret || configValue(withoutSecrets, field) === undefined) continue;
    const path = `spec.properties.${field}`;
    throw new ConnectorError("CONNECTOR_INVALID", { path, problem: mustBeSecret });
  }
}

interface Containment {
  readonly config: JsonObject;
  readonly placeholders: PlaceholderRegistry | undefined;
  readonly limits: WorkerLimits;
  readonly onDenied: (resource: string) => void;
}

/**
 * The broker of an image runs it behind that of its requests. What is an image is the host's to
 * say: no connector becomes one by its own word.
 * @throws CONNECTOR_INVALID
 */
async function contain(
  { container }: ConnectorReference,
  { egress, spec }: Manifest,
  http: Broker,
  { config, placeholders, limits, onDenied }: Containment,
): Promise<Broker> {
  const isImage = egress.kind === "http" && egress.isImage === true;
  if (isImage !== (container !== undefined))
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "egress.isImage",
      problem: "is for images that the host runs, and no connector declares it",
    });
  if (!container || !placeholders) return http;
  // Only who runs an image loads what that takes.
  const { createImageBroker } = await import("../image/image-broker.ts");
  return createImageBroker(http, {
    image: container,
    config: withSubstitutes(config, spec, placeholders.placeholderOf, container.exposed),
    placeholders,
    limits: { memoryMb: imageMemoryMb(limits.memoryMb), silenceMs: limits.imageSilenceMs },
    onDenied,
  });
}

const hasPlaceholders = ({ egress }: Manifest) =>
  egress.kind === "http" && egress.placeholders !== undefined;

const toLevel = (level: string) => (level === "warn" || level === "info" ? level : "debug");

function withSafeDetails(error: ConnectorError, secrets: SecretRegistry): ConnectorError {
  const details: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(error.details)) {
    details[name] = typeof value === "string" ? sanitizeText(value, secrets) : value;
  }
  return new ConnectorError(error.code, details as ErrorDetails, error.retryAfterMs);
}

/** A line without an end is kept up to this length, and dropped when none comes. */
const maxUnendedChars = 20_000;
/** Most lines of a worker's standard output and error that become events. */
const maxOutputLines = budgets.output.count[0];
/** Most fields that one log line keeps. */
const maxLogFields = 20;

function sanitizeFields(fields: JsonObject, secrets: SecretRegistry): JsonObject {
  const safe: JsonObject = {};
  for (const [name, value] of Object.entries(fields).slice(0, maxLogFields)) {
    // a record or a response does not belong into a log
    if (typeof value === "object" && value !== null) continue;
    safe[sanitizeText(name, secrets)] =
      typeof value === "string" ? sanitizeText(value, secrets) : value;
  }
  return safe;
}
