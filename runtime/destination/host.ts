/**
 * Runs destinations and activations in this process: loads the module, takes the secrets out of its
 * configuration, gives it the access that it declares, and lets no error of it leave unsanitised.
 * docs/decisions/0017 says why it is no worker. destination-host.ts and activation-host.ts add the
 * verbs of each kind.
 */
import type { Clock } from "../contract/clock.ts";
import type { BaseContext, Log } from "../contract/context.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type {
  CheckResult,
  ConnectorReference,
  HostEvent,
  ProviderRequest,
} from "../contract/host.ts";
import type { JsonObject } from "../contract/json.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "../contract/network.ts";
import type { RateLedger } from "../contract/rate-ledger.ts";
import { createSecretRegistry, runSecretLimits, type SecretRegistry } from "../filter/secrets.ts";
import { sanitizeText } from "../filter/text.ts";
import { systemClock } from "../host/clock.ts";
import { builtInName } from "../host/registry.ts";
import { parseConfig } from "../spec/config.ts";
import { deepFreeze } from "../wire/deep-freeze.ts";
import { type Access, type DeclaredEgress, openAccess } from "./access.ts";

export interface DestinationHostOptions {
  readonly settings?: Partial<NetworkSettings> | undefined;
  readonly seams?: NetworkSeams | undefined;
  readonly clock?: Clock | undefined;
  /** Deadlines and retries of requests. */
  readonly http?: Partial<HttpLimits> | undefined;
}

/** Options of one verb. */
export interface DestinationOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: ((event: HostEvent) => void) | undefined;
  /** A request has reached the provider, or has failed on the way: for metrics and traces. */
  readonly onRequest?: ((request: ProviderRequest) => void) | undefined;
  /** Deadlines and retries of this call, in place of the host's. */
  readonly http?: Partial<HttpLimits> | undefined;
  /** Where other processes with the same credential count their requests. Default: nowhere. */
  readonly ledger?: RateLedger | undefined;
  /** The folder of this owner's warehouses. Only for destinations that declare a file. */
  readonly folder?: string | undefined;
}

/** A module whose configuration is taken apart and whose access is open. */
export interface OpenModule<Module, Context> extends AsyncDisposable {
  readonly module: Module;
  readonly ctx: Context;
  sanitize(error: unknown): ConnectorError;
}

/** The steps that every kind of module goes through. */
export interface ModuleHost<Module, Context, Manifest> {
  /** @throws CONNECTOR_INVALID */
  manifest(reference: ConnectorReference): Promise<Manifest>;
  /** @throws CONNECTOR_INVALID, CONFIG_INVALID and how the access fails */
  open(
    reference: ConnectorReference,
    config: JsonObject,
    options: DestinationOptions | undefined,
  ): Promise<OpenModule<Module, Context>>;
  /** Whatever is wrong is a result. @throws CANCELLED only */
  check(
    reference: ConnectorReference,
    config: JsonObject,
    options?: DestinationOptions,
  ): Promise<CheckResult>;
}

/** @param describe checks the default export of a module, and gives its declaration */
export function createModuleHost<
  Context,
  Module extends { check?(ctx: Context): Promise<void> },
  Manifest extends { readonly spec: JsonObject; readonly egress: DeclaredEgress },
>(
  { settings, seams = {}, clock = systemClock, http = {} }: DestinationHostOptions,
  describe: (exported: unknown) => Manifest,
): ModuleHost<Module, Context, Manifest> {
  const network = { approvedHosts: [], allowNetworks: [], ...settings };

  async function load({
    url,
  }: ConnectorReference): Promise<{ readonly module: Module; readonly manifest: Manifest }> {
    const imported = (await import(url).catch(() => {
      throw new ConnectorError("CONNECTOR_INVALID", {
        path: "module",
        problem: "cannot be loaded",
      });
    })) as { default?: unknown };
    return { module: imported.default as Module, manifest: describe(imported.default) };
  }

  async function open(
    reference: ConnectorReference,
    config: JsonObject,
    options: DestinationOptions = {},
  ): Promise<OpenModule<Module, Context>> {
    const { signal = new AbortController().signal, onEvent = () => {}, folder } = options;
    const { module, manifest } = await load(reference);
    const parsed = parseConfig(manifest, config, builtInName(reference));
    const secrets = createSecretRegistry(runSecretLimits);
    for (const secret of parsed.secrets) secrets.add(secret);
    await secrets.prepare();
    const sanitize = (error: unknown) => sanitizeError(error, secrets);
    const base: BaseContext<JsonObject> = {
      config: deepFreeze(parsed.withoutSecrets),
      clock,
      signal,
      log: createLog(secrets, onEvent),
    };
    let access: Access;
    try {
      access = await openAccess(manifest.egress, {
        config: parsed.whole,
        spec: manifest.spec,
        secrets,
        clock,
        settings: network,
        seams,
        limits: options.http ?? http,
        onRequest: options.onRequest ?? (() => {}),
        ledger: options.ledger,
        onWaiting: (untilMs, reason) => onEvent({ type: "waiting", untilMs, reason }),
        signal,
        folder,
      });
    } catch (error) {
      throw sanitize(error);
    }
    return {
      module,
      ctx: Object.freeze({ ...base, ...access.context }) as Context,
      sanitize,
      [Symbol.asyncDispose]: () => access[Symbol.asyncDispose](),
    };
  }

  return {
    open,
    manifest: async (reference) => (await load(reference)).manifest,
    async check(reference, config, options) {
      try {
        await using opened = await open(reference, config, options);
        await opened.module.check?.(opened.ctx).catch((error: unknown) => {
          throw opened.sanitize(error);
        });
        return { status: "succeeded" };
      } catch (error) {
        const failure = toConnectorError(error);
        if (failure.code === "CANCELLED") throw failure;
        return { status: "failed", error: failure.toRecord() };
      }
    },
  };
}

function sanitizeError(error: unknown, secrets: SecretRegistry): ConnectorError {
  const failure = toConnectorError(error, "OUTPUT_FAILED");
  const details = Object.entries(failure.details).map(([name, value]) => [
    name,
    typeof value === "string" ? sanitizeText(value, secrets) : value,
  ]);
  return new ConnectorError(failure.code, Object.fromEntries(details), failure.retryAfterMs);
}

function createLog(secrets: SecretRegistry, onEvent: (event: HostEvent) => void): Log {
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
