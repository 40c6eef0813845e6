/**
 * Signed requests to an S3-compatible store: guarded connections, tries, closed errors. See
 * s3-store.ts for what is asked for.
 */
import type { Clock } from "../contract/clock.ts";
import type { S3Egress } from "../contract/destination.ts";
import type { JsonObject } from "../contract/json.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "../contract/network.ts";
import { configText, configValue } from "./config-field.ts";
import { readRaw } from "./response.ts";
import { withRetries } from "./retry.ts";
import { s3Error } from "./s3-answers.ts";
import { encryptionOf } from "./s3-encryption.ts";
import { baseOf, prefixOf } from "./s3-place.ts";
import { encodePart, signS3 } from "./s3-signature.ts";
import { createTransport, type Incoming } from "./transport.ts";

export interface S3Options {
  readonly declaration: S3Egress;
  /** The whole validated configuration, secrets included. */
  readonly config: JsonObject;
  readonly clock: Clock;
  readonly settings: NetworkSettings;
  readonly seams?: NetworkSeams | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly signal: AbortSignal;
  /** 0 ≤ x < 1, for jitter. Default Math.random. */
  readonly random?: (() => number) | undefined;
}

/** A manifest, or a page of a listing. */
const maxAnswerBytes = 64 * 1024 * 1024;

const defaultLimits: HttpLimits = {
  connectTimeoutMs: 10_000,
  headersTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  totalTimeoutMs: 300_000,
  maxAttempts: 5,
  retryBudgetMs: 120_000,
  maxRateLimitWaitMs: 0,
};

export interface S3Call {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Below the prefix; undefined: of the bucket. */
  readonly path?: string | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: Buffer | undefined;
  /** Statuses that are answers besides 2xx. */
  readonly accept?: readonly number[] | undefined;
}

export interface S3Reply {
  readonly status: number;
  readonly headers: Incoming["headers"];
  readonly body: Buffer;
}

export interface S3Client extends AsyncDisposable {
  /** Before the path of each object. */
  readonly prefix: string;
  /** Headers of a request that makes an object: how it is encrypted. */
  readonly encryption: Readonly<Record<string, string>>;
  /** Asks until it succeeds, or the error is no transient one, or the tries are used up. */
  call(one: S3Call): Promise<S3Reply>;
  /** Asks once. */
  once(one: S3Call): Promise<S3Reply>;
  /** Does the work until it succeeds, as `call` does. */
  withRetries<T>(work: () => Promise<T>): Promise<T>;
  /** The error that an answer tells of. */
  errorOf(reply: S3Reply): Error;
}

/** @throws CONFIG_INVALID, BASE_URL_REFUSED */
export function createS3Client(options: S3Options): S3Client {
  const { declaration, config, clock, settings, seams, signal, random = Math.random } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const text = (field: string) => configText(config, field);
  const credentials = {
    accessKeyId: text(declaration.accessKeyId),
    secretAccessKey: text(declaration.secretAccessKey),
    region: text(declaration.region),
  };
  const token = declaration.sessionToken && configValue(config, declaration.sessionToken);
  // Signed as every other header is.
  const session: Readonly<Record<string, string>> =
    typeof token === "string" && token !== "" ? { "x-amz-security-token": token } : {};
  const base = baseOf(declaration, config, credentials.region);
  const prefix = prefixOf(declaration, config);
  const encryption = encryptionOf(declaration, config);
  const port = Number(base.port || 443);
  const transport = createTransport({ settings, seams, port, connections: 8, limits });

  const errorOf = ({ status, headers, body }: S3Reply) =>
    s3Error({ status, headers, xml: body.toString("utf8") }, declaration, clock.now());

  async function once({ method, path, query = {}, headers = {}, body, accept = [] }: S3Call) {
    const url = new URL(base);
    if (path !== undefined)
      url.pathname = `${base.pathname}${`${prefix}${path}`.split("/").map(encodePart).join("/")}`;
    url.search = Object.entries(query)
      .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
      .sort()
      .join("&");
    const signed = signS3(
      { method, url, headers: { ...headers, ...session }, body },
      credentials,
      clock.now(),
    );
    const request = { method, url, headers: signed, body };
    return await transport.exchange(request, signal, async (incoming): Promise<S3Reply> => {
      const answer = await readRaw(incoming.body, incoming.headers, maxAnswerBytes);
      const { status, headers } = incoming;
      const reply = { status, headers, body: answer };
      if ((status >= 200 && status < 300) || accept.includes(status)) return reply;
      throw errorOf(reply);
    });
  }

  const policy = {
    clock,
    random,
    maxAttempts: limits.maxAttempts,
    budgetMs: limits.retryBudgetMs,
    wait: (durationMs: number, aborted: AbortSignal) => clock.sleep(durationMs, aborted),
  };
  return {
    prefix,
    encryption,
    once,
    call: (one) => withRetries(policy, signal, () => once(one)),
    withRetries: (work) => withRetries(policy, signal, work),
    errorOf,
    [Symbol.asyncDispose]: () => transport.close(),
  };
}
