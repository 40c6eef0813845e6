/** OAuth tokens of one credential. */
export interface Tokens {
  /** Missing until the first refresh. */
  readonly accessToken?: string;
  /**
   * When the access token was minted and when it ends, in milliseconds since the epoch. Missing
   * end: it is used until it is refused.
   */
  readonly obtainedAtMs?: number;
  readonly expiresAtMs?: number;
  readonly refreshToken?: string;
  /**
   * When the provider refused the refresh token for good. It is not sent again: the tokens of a new
   * authorisation replace these.
   */
  readonly refusedAtMs?: number;
}

/** The tokens with the number that each save raises by one. */
export interface StoredTokens {
  readonly version: number;
  readonly tokens: Tokens;
}

/**
 * Where the tokens of one credential live. The egress broker saves a rotated refresh token before
 * it uses what came with it, so that a crash never leaves the only valid token in memory.
 */
export interface TokenStore {
  load(): Promise<StoredTokens>;
  /**
   * Compare and swap: writes version `expectedVersion + 1`, or gives false and writes nothing
   * because someone else was first.
   */
  save(expectedVersion: number, tokens: Tokens): Promise<boolean>;
  /**
   * Runs `work` while nobody else refreshes this credential (a database lock that ends with its
   * process). Stores that several runs or processes share need it: a provider that rotates refresh
   * tokens revokes all of them when it sees one twice. `work` loads anew, refreshes and saves.
   * Default: `work` just runs.
   */
  exclusively?<T>(work: () => Promise<T>): Promise<T>;
}

/** A store for one process. What it learned is lost with it. */
export function createMemoryTokenStore(initial: Tokens): TokenStore {
  let stored: StoredTokens = { version: 1, tokens: initial };
  let line: Promise<unknown> = Promise.resolve();
  return {
    exclusively(work) {
      const mine = line.then(work);
      line = mine.catch(() => undefined);
      return mine;
    },
    load: async () => stored,
    async save(expectedVersion, tokens) {
      if (stored.version !== expectedVersion) return false;
      stored = { version: expectedVersion + 1, tokens };
      return true;
    },
  };
}
