/**
 * Runs row destinations in this process, as destinations.ts runs destinations: takes the secrets
 * out of the configuration, signs and authenticates what leaves, and lets no error leave
 * unsanitised.
 */

import type {
  Activation,
  ActivationCommand,
  ActivationContext,
  ActivationEgress,
  ActivationHttpEgress,
  ActivationObject,
  BatchResult,
  RowBatch,
  WritingHttpClient,
} from "../contract/activation.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { CheckResult, ConnectorReference, VerbOptions } from "../contract/host.ts";
import type { JsonObject } from "../contract/json.ts";
import type { HttpLimits } from "../contract/network.ts";
import type { Broker, BrokerOptions } from "../egress/broker.ts";
import { configText } from "../egress/config-field.ts";
import { createBroker } from "../egress/create-broker.ts";
import { checkPublicUrl } from "../egress/public-url.ts";
import { signingKey, signWebhook } from "../egress/webhook-signature.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { type ActivationManifest, describeActivation } from "../spec/activation-manifest.ts";
import { parseConfig } from "../spec/config.ts";
import { deepFreeze } from "../wire/deep-freeze.ts";
import { createSender } from "../wire/http-sender.ts";
import {
  createDestinationLog,
  type DestinationHostOptions,
  type DestinationOptions,
  sanitizeError,
} from "./host.ts";

export interface ActivationHostOptions extends DestinationHostOptions {
  readonly http?: Partial<HttpLimits>;
}

export interface ActivationOptions
  extends Pick<DestinationOptions, "signal" | "onEvent">,
    Pick<VerbOptions, "onRequest"> {
  /** Deadlines and retries of this call, in place of the host's. */
  readonly http?: Partial<HttpLimits>;
}

/** Every method throws ConnectorError only. */
export interface ActivationHost {
  /** @throws CONNECTOR_INVALID */
  manifest(destination: ConnectorReference): Promise<ActivationManifest>;
  /**
   * What can be written to; with a name, only what has it as name or id.
   * @throws CONFIG_INVALID and how the connection fails
   */
  objects(
    destination: ConnectorReference,
    config: JsonObject,
    name?: string,
    options?: ActivationOptions,
  ): Promise<readonly ActivationObject[]>;
  /** Whatever is wrong is a result. @throws CANCELLED only */
  check(
    destination: ConnectorReference,
    config: JsonObject,
    options?: ActivationOptions,
  ): Promise<CheckResult>;
  /**
   * As the contract's `write`. The connection ends with the loop over the results.
   * @throws CONFIG_INVALID and as the destination's `write` says
   */
  write(
    destination: ConnectorReference,
    config: JsonObject,
    command: ActivationCommand,
    batches: AsyncIterable<RowBatch>,
    options?: ActivationOptions,
  ): AsyncGenerator<BatchResult>;
}

interface Opened extends AsyncDisposable {
  readonly module: Activation;
  readonly ctx: ActivationContext<never, ActivationEgress>;
  sanitize(error: unknown): ConnectorError;
}

export function createActivationHost(options: ActivationHostOptions = {}): ActivationHost {
  const { seams = {}, clock = systemClock, http = {} } = options;
  const settings = { approvedHosts: [], allowNetworks: [], ...options.settings };

  async function load({
    url,
  }: ConnectorReference): Promise<{ module: Activation; manifest: ActivationManifest }> {
    const imported = (await import(url).catch(() => {
      throw new ConnectorError("CONNECTOR_INVALID", {
        path: "module",
        problem: "cannot be loaded",
      });
    })) as { default?: unknown };
    return {
      module: imported.default as Activation,
      manifest: describeActivation(imported.default),
    };
  }

  async function open(
    reference: ConnectorReference,
    config: JsonObject,
    {
      signal = new AbortController().signal,
      onEvent = () => {},
      onRequest = () => {},
      http: limits = http,
    }: ActivationOptions,
  ): Promise<Opened> {
    const { module, manifest } = await load(reference);
    const parsed = parseConfig(manifest as never, config);
    const secrets = createSecretRegistry();
    for (const secret of parsed.secrets) secrets.add(secret);
    const onWaiting = (untilMs: number, reason: "rate_limit" | "retry") =>
      onEvent({ type: "waiting", untilMs, reason });
    const shared = {
      config: parsed.whole,
      spec: manifest.spec,
      secrets,
      clock,
      settings,
      seams,
      limits,
      onRequest,
      onWaiting,
    };
    const base = {
      config: deepFreeze(parsed.withoutSecrets),
      clock,
      signal,
      log: createDestinationLog(secrets, onEvent),
    };
    const { egress } = manifest;
    let broker: Broker;
    try {
      broker = createBroker(
        egress.kind === "http"
          ? { ...shared, ...httpParts(egress, parsed.whole, clock.now) }
          : { ...shared, declaration: egress, mayWrite: true },
      );
    } catch (error) {
      throw sanitizeError(error, secrets);
    }
    const reach =
      egress.kind === "http"
        ? { http: createClient(broker, egress, signal) }
        : { connect: () => broker.connect(signal) };
    return {
      module,
      ctx: Object.freeze({ ...base, ...reach }) as Opened["ctx"],
      sanitize: (error) => sanitizeError(error, secrets),
      [Symbol.asyncDispose]: () => broker.close(),
    };
  }

  return {
    manifest: async (reference) => (await load(reference)).manifest,
    async objects(reference, config, name, verb = {}) {
      await using opened = await open(reference, config, verb);
      const found = await opened.module.objects(opened.ctx, name).catch((error: unknown) => {
        throw opened.sanitize(error);
      });
      return found.filter((one) => name === undefined || one.name === name || one.id === name);
    },
    async check(reference, config, verb = {}) {
      try {
        await using opened = await open(reference, config, verb);
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
    async *write(reference, config, command, batches, verb = {}) {
      await using opened = await open(reference, config, verb);
      try {
        yield* opened.module.write(opened.ctx, command, batches);
      } catch (error) {
        throw opened.sanitize(error);
      }
    },
  };
}

type HttpParts = Pick<BrokerOptions, "declaration" | "writer">;

/**
 * The base URL and the signing of a row destination are not those of sources: the broker gets them
 * ready made.
 */
function httpParts(
  { signing, baseUrl, ...egress }: ActivationHttpEgress,
  config: JsonObject,
  now: () => number,
): HttpParts {
  const key = signing && signingKey(configText(config, signing.secret), signing.secret);
  const sign = key && ((id: string, body: Buffer) => signWebhook(key, id, body, now()));
  if (typeof baseUrl !== "string" && "kind" in baseUrl) {
    const url = checkPublicUrl(config[baseUrl.field], baseUrl.field);
    return {
      declaration: { ...egress, baseUrl: url.origin },
      writer: { baseUrl: url, ...(sign ? { sign } : {}) },
    };
  }
  return { declaration: { ...egress, baseUrl }, writer: sign ? { sign } : {} };
}

function createClient(
  broker: Broker,
  { errors = [] }: ActivationHttpEgress,
  signal: AbortSignal,
): WritingHttpClient {
  const request = async (call: Parameters<Broker["request"]>[0]) => {
    const { body, ...head } = await broker.request(call, signal);
    return { ...head, text: body.toString("utf8") };
  };
  const send = createSender(request, errors);
  return {
    get: (path, options = {}) => send("GET", path, options),
    post: (path, options = {}) => send("POST", path, options),
    put: (path, options = {}) => send("PUT", path, options),
    patch: (path, options = {}) => send("PATCH", path, options),
    delete: (path, options = {}) => send("DELETE", path, options),
  };
}
