/**
 * A refresh token that changes with each use, of a connector with placeholders. The connector says
 * how it is asked for; the host sends that only when new tokens are needed, with the refresh token
 * that is kept, and keeps the new one before the connector learns of what came with it.
 */
import type { Clock } from "../contract/clock.ts";
import type { RotatingToken, TokenRenewal } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../contract/json.ts";
import type { TokenStore } from "../contract/token-store.ts";
import type { SecretRegistry } from "../filter/secrets.ts";
import type { HttpAnswer } from "../wire/http-call.ts";
import { orCancelled } from "./abort.ts";
import { maxTokenAttempts } from "./access-tokens.ts";
import type { PlainRequest } from "./auth.ts";
import { configText } from "./config-field.ts";
import { isSamePlace } from "./minted-tokens.ts";
import { createTokenSource, type ValidTokens } from "./oauth.ts";
import { inJson, type PlaceholderRegistry } from "./placeholders.ts";
import type { RetryPolicy } from "./retry.ts";
import { isToken, type TokenResponse, tokenFault } from "./token-endpoint.ts";

export interface RotatingTokens {
  /**
   * Tokens that are valid now, as the answer that the connector would have got.
   * @throws CONFIG_INVALID where nothing keeps the next refresh token · CONNECTOR_PROTOCOL for a
   * URL that is declared otherwise · REAUTHORIZATION_NEEDED · as the request fails
   */
  answer(plain: PlainRequest, renewal: unknown, signal: AbortSignal): Promise<HttpAnswer>;
  /** Resolves when no refresh is under way. */
  settled(): Promise<void>;
}

export interface RotatingTokensOptions {
  /** URLs that mint for such a token. */
  readonly places: readonly { readonly url: URL; readonly rotates: RotatingToken }[];
  readonly config: JsonObject;
  readonly placeholders: PlaceholderRegistry;
  readonly secrets: SecretRegistry;
  readonly clock: Clock;
  readonly retry: RetryPolicy;
  readonly closing: AbortSignal;
  readonly store: TokenStore | undefined;
  /**
   * Sends a request once; what the provider refuses comes as an answer.
   * @param sending is called when it leaves
   */
  readonly send: (
    plain: PlainRequest,
    signal: AbortSignal,
    sending: () => Promise<void>,
  ) => Promise<HttpAnswer>;
}

/** Statuses with which token endpoints say what is wrong (RFC 6749 section 5.2). */
export const tokenErrorStatuses = [400, 401, 403];
/** Where the provider does not say how long a token is good for: what Airbyte takes it for. */
const usualLifetimeMs = 3_600_000;

export function createRotatingTokens(options: RotatingTokensOptions): RotatingTokens {
  const { places, config, placeholders, secrets, clock, retry, closing, store, send } = options;
  const source =
    store &&
    createTokenSource({
      ...{ store, secrets, clock, closing },
      retry: { ...retry, maxAttempts: Math.min(retry.maxAttempts, maxTokenAttempts) },
    });

  /** It may be taken back until it leaves; its answer may hold the only valid token. */
  async function sendOnce(plain: PlainRequest): Promise<HttpAnswer> {
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    closing.addEventListener("abort", stop);
    if (closing.aborted) stop();
    const leave = async () => closing.removeEventListener("abort", stop);
    try {
      return await send(plain, waiting.signal, leave);
    } finally {
      await leave();
    }
  }

  return {
    async answer(plain, renewal, signal) {
      checkRenewal(renewal);
      const place = places.find(({ url }) => isSamePlace(url, plain.url));
      if (!place)
        throw new ConnectorError("CONNECTOR_PROTOCOL", {
          problem: "this URL is not declared to mint for a refresh token that changes",
        });
      const { rotates } = place;
      if (!source)
        throw new ConnectorError("CONFIG_INVALID", { path: rotates.field, problem: notKept });
      const standing = placeholders.placeholderOf(configText(config, rotates.field));
      const refresh = async (refreshToken: string) => {
        placeholders.rebind(standing, refreshToken);
        return readTokens(await sendOnce(plain), rotates, placeholders, clock.now());
      };
      const rejected = renewal.rejected && placeholders.fill(renewal.rejected);
      const tokens = await orCancelled(source.valid(refresh, rejected), signal);
      return toAnswer(tokens, rotates, standing, placeholders, clock.now());
    },
    settled: async () => await source?.settled(),
  };
}

const notKept =
  "is a refresh token that the provider replaces with each use, and nothing here keeps the new one, so that it would be lost: the service does, with the credential (svc connectors add)";

function checkRenewal(value: unknown): asserts value is TokenRenewal {
  const { rejected } = (value ?? {}) as { rejected?: unknown };
  if (typeof value !== "object" || value === null || !isTextOrNone(rejected))
    throw new ConnectorError("CONNECTOR_PROTOCOL", {
      problem: "a renewal names the token that was refused, or none",
    });
}
const isTextOrNone = (value: unknown) => value === undefined || typeof value === "string";

function readTokens(
  { status, body }: HttpAnswer,
  names: RotatingToken,
  placeholders: PlaceholderRegistry,
  nowMs: number,
): TokenResponse {
  const document = parseObject(placeholders.fill(body.toString("utf8"), inJson));
  const fault = tokenFault(status, document);
  if (fault) throw fault;
  const { [names.accessToken]: accessToken, [names.refreshToken]: refreshToken } = document ?? {};
  if (!isToken(accessToken) || !(isTextOrNone(refreshToken) || refreshToken === null))
    throw new ConnectorError("RESPONSE_INVALID", {
      reason: "no token in the answer of the token endpoint",
    });
  return {
    accessToken,
    refreshToken: isToken(refreshToken) ? refreshToken : undefined,
    expiresInMs: lifetimeMs(document?.[names.expiresIn], nowMs),
  };
}

/** Seconds, or the date at which it ends. */
function lifetimeMs(value: unknown, nowMs: number): number {
  if (Number(value) > 0) return Number(value) * 1_000;
  const leftMs = Date.parse(String(value)) - nowMs;
  return leftMs > 0 ? leftMs : usualLifetimeMs;
}

function parseObject(text: string): { readonly [name: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** @param standing the placeholder that stands for the refresh token, whichever it is */
function toAnswer(
  { accessToken, expiresAtMs }: ValidTokens,
  names: RotatingToken,
  standing: string,
  placeholders: PlaceholderRegistry,
  nowMs: number,
): HttpAnswer {
  const leftMs = expiresAtMs === undefined ? usualLifetimeMs : expiresAtMs - nowMs;
  const document = {
    [names.accessToken]: placeholders.placeholderOf(accessToken),
    [names.refreshToken]: standing,
    [names.expiresIn]: Math.max(1, Math.floor(leftMs / 1_000)),
  };
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(document)),
  };
}
