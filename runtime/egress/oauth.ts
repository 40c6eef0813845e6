/**
 * Access tokens of one credential: minted ahead of expiry or when one is refused, by one refresh at
 * a time, saved before use.
 */
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { StoredTokens, TokenStore, Tokens } from "../contract/token-store.ts";
import type { SecretRegistry } from "../filter/secrets.ts";
import { type RetryPolicy, withRetries } from "./retry.ts";
import type { TokenResponse } from "./token-endpoint.ts";

/** A token is renewed when a tenth of its life is left, at most this long ahead. */
const maxAheadMs = 300_000;
const aheadShare = 0.1;
/** Rounds of "someone else saved first"; more means that they never come to rest. */
const maxRounds = 4;

export interface TokenSourceOptions {
  readonly store: TokenStore;
  readonly secrets: SecretRegistry;
  readonly clock: Clock;
  readonly retry: RetryPolicy;
  /**
   * Ends waits between tries. A request that is under way is let through: its answer may hold the
   * only valid token.
   */
  readonly closing: AbortSignal;
}

/** Asks the provider for new tokens: once, and whatever happens meanwhile to its end. */
export type Refresh = (refreshToken: string) => Promise<TokenResponse>;

export type ValidTokens = Tokens & { readonly accessToken: string };

export interface TokenSource {
  /**
   * Tokens that are valid now, for all that is known. May be called at once for many requests: one
   * refresh serves all.
   * @param rejected an access token that the provider refused: another one is meant
   * @throws REAUTHORIZATION_NEEDED and as `refresh` does
   */
  valid(refresh: Refresh, rejected?: string): Promise<ValidTokens>;
  /** Resolves when no refresh is under way. */
  settled(): Promise<void>;
}

export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { store, secrets, clock, retry, closing } = options;
  let current: Tokens | undefined;
  let refreshing: Promise<ValidTokens> | undefined;
  /**
   * Minted but not saved, because the store failed. The provider may have ended the stored ones.
   */
  let unsaved: { readonly expectedVersion: number; readonly tokens: Tokens } | undefined;

  const isUsable = (
    tokens: Tokens | undefined,
    rejected: string | undefined,
  ): tokens is ValidTokens =>
    tokens?.accessToken !== undefined &&
    tokens.accessToken !== rejected &&
    clock.now() < renewAtMs(tokens);

  function valid(refresh: Refresh, rejected?: string): Promise<ValidTokens> {
    if (isUsable(current, rejected)) return Promise.resolve(current);
    refreshing ??= exclusively(() => renew(refresh, rejected)).finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  async function exclusively<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await (store.exclusively ? store.exclusively(work) : work());
    } catch (error) {
      throw toConnectorError(error);
    }
  }

  async function renew(refresh: Refresh, rejected: string | undefined): Promise<ValidTokens> {
    if (unsaved) await saveMinted(unsaved.expectedVersion, unsaved.tokens);
    for (let round = 0; round < maxRounds; round++) {
      const stored = await load();
      if (isUsable(stored.tokens, rejected)) return use(stored.tokens);
      const minted = await mint(refresh, stored);
      if (minted === undefined) continue;
      if (await saveMinted(stored.version, minted)) return use(minted);
    }
    throw new ConnectorError("CONNECTION_FAILED", { reason: "the stored tokens keep changing" });
  }

  /** Undefined when the refresh token was refused because someone else has used it meanwhile. */
  async function mint(
    refresh: Refresh,
    { version, tokens }: StoredTokens,
  ): Promise<ValidTokens | undefined> {
    const { refreshToken, refusedAtMs } = tokens;
    if (refreshToken === undefined || refusedAtMs !== undefined)
      throw new ConnectorError("REAUTHORIZATION_NEEDED");
    try {
      const minted = await withRetries(retry, closing, () => refresh(refreshToken));
      return toTokens(minted, refreshToken, clock.now());
    } catch (error) {
      if (!(error instanceof ConnectorError) || error.code !== "REAUTHORIZATION_NEEDED")
        throw error;
      // Saved, so that no other run or process asks again: providers lock out clients that keep
      // asking.
      if (await store.save(version, { ...tokens, refusedAtMs: clock.now() })) throw error;
      return undefined;
    }
  }

  async function load(): Promise<StoredTokens> {
    const stored = await store.load();
    await register(stored.tokens);
    return stored;
  }

  async function saveMinted(expectedVersion: number, tokens: Tokens): Promise<boolean> {
    await register(tokens);
    unsaved = { expectedVersion, tokens };
    const isFirst = await store.save(expectedVersion, tokens);
    unsaved = undefined;
    return isFirst;
  }

  function use(tokens: ValidTokens): ValidTokens {
    current = tokens;
    return tokens;
  }

  async function register({ accessToken, refreshToken }: Tokens): Promise<void> {
    if (accessToken !== undefined) secrets.addPassing(accessToken);
    if (refreshToken !== undefined) secrets.addPassing(refreshToken);
    await secrets.prepare();
  }

  return {
    valid,
    settled: async () => {
      await refreshing?.catch(() => undefined);
    },
  };
}

function renewAtMs({ obtainedAtMs, expiresAtMs }: Tokens): number {
  if (expiresAtMs === undefined) return Number.POSITIVE_INFINITY;
  const lifetimeMs = expiresAtMs - (obtainedAtMs ?? expiresAtMs - maxAheadMs / aheadShare);
  return expiresAtMs - Math.min(maxAheadMs, lifetimeMs * aheadShare);
}

function toTokens(
  { accessToken, refreshToken, expiresInMs }: TokenResponse,
  previous: string,
  nowMs: number,
) {
  const expiry = expiresInMs === undefined ? {} : { expiresAtMs: nowMs + expiresInMs };
  return { accessToken, refreshToken: refreshToken ?? previous, obtainedAtMs: nowMs, ...expiry };
}
