/** Keeps an authorization between its start and its callback, and holds the two together. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { JsonObject } from "../contract/json.ts";
import type { OAuthClient } from "./declaration.ts";

/**
 * Who connects what. The callback must come with the same four: so nobody finishes what another
 * began (RFC 9700 section 4.7), and an answer meant for one connector is not taken for another.
 */
export interface AuthorizationContext {
  readonly workspace: string;
  readonly connector: string;
  readonly user: string;
  /** A value that only this browser session has, for instance its id. Kept as a hash. */
  readonly session: string;
}

/**
 * An authorisation that was begun: plain JSON. It holds secrets (`codeVerifier`, `client`,
 * `config`): store it encrypted, looked up by `stateHash`. The state itself is in the browser only.
 */
export interface PendingAuthorization {
  /** SHA-256 of the 32 random bytes of the state as it travels, base64url. */
  readonly stateHash: string;
  /** SHA-256 of the context, base64url. */
  readonly contextHash: string;
  readonly redirectUri: string;
  readonly codeVerifier?: string | undefined;
  readonly scopes: readonly string[];
  /**
   * The settings that the declaration names, as they were at the start: the code is exchanged with
   * the client that asked for it.
   */
  readonly config: JsonObject;
  /** The operator's client, when it was given. */
  readonly client?: OAuthClient | undefined;
  /** A reference that the caller finds again at the callback, for instance the id of a source. */
  readonly reference?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly expiresAtMs: number;
}

/** Where pending authorisations live. Several processes may share it. */
export interface PendingStore {
  put(pending: PendingAuthorization): Promise<void>;
  /**
   * Takes it out: given to one caller once, to all others undefined, also when they ask at the same
   * time (`DELETE … WHERE state_hash = $1 RETURNING …`).
   */
  take(stateHash: string): Promise<PendingAuthorization | undefined>;
}

/** A store for one process. `put` drops what has ended by `now` (milliseconds since the epoch). */
export function createMemoryPendingStore(now: () => number): PendingStore {
  const pending = new Map<string, PendingAuthorization>();
  return {
    async put(one) {
      for (const [hash, { expiresAtMs }] of pending) if (expiresAtMs <= now()) pending.delete(hash);
      pending.set(one.stateHash, one);
    },
    async take(stateHash) {
      const found = pending.get(stateHash);
      pending.delete(stateHash);
      return found;
    },
  };
}

/** A state needs no key: nobody guesses 32 random bytes from their hash. */
export const hashState = (state: string) => createHash("sha256").update(state).digest("base64url");

export function hashContext({ workspace, connector, user, session }: AuthorizationContext): string {
  return createHash("sha256")
    .update(JSON.stringify([workspace, connector, user, session]))
    .digest("base64url");
}

export function isContextOf(
  { contextHash }: PendingAuthorization,
  context: AuthorizationContext,
): boolean {
  const given = Buffer.from(hashContext(context));
  const kept = Buffer.from(contextHash);
  return given.length === kept.length && timingSafeEqual(given, kept);
}
