/**
 * A provider stands in for the real one while the kit runs a connector: it decides answers; the
 * transports (replay, faults, proxy) carry them.
 */

export interface ProviderRequest {
  readonly method: string;
  readonly url: URL;
  /** Lower-case names, as they were sent, credentials included (they are canaries). */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Number of the request in the run, from 0. */
  readonly index: number;
  /** Virtual time. Every transport gives it. */
  readonly atMs?: number | undefined;
}

export interface Answer {
  readonly status: number;
  /** Lower-case names. Content-length is set by the transport unless it is given. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Which recorded interaction this comes from, for reports: "campaigns#2". */
  readonly from?: string | undefined;
  /** Goes wrong on the way. */
  readonly fault?: TransportFault | undefined;
}

/**
 * A fault that a transport adds to an answer. Those marked (server) only the loopback fault server
 * can do; the replay refuses them.
 */
export type TransportFault =
  /** The connection breaks instead of an answer. */
  | { readonly type: "reset" }
  /** Nothing ever comes. */
  | { readonly type: "hang" }
  /** (server) Part of the body, then the connection breaks. */
  | { readonly type: "truncate"; readonly bytes?: number }
  /** (server) The head, part of the body, then nothing more. */
  | { readonly type: "stall"; readonly bytes?: number }
  /** (server) One byte at a time. With `virtualMs` so much virtual time goes by with each. */
  | { readonly type: "slow-loris"; readonly intervalMs: number; readonly virtualMs?: number }
  /** (server) Spaces that decompress to this many bytes. */
  | { readonly type: "gzip-bomb"; readonly bytes: number }
  /**
   * (server) A body without end. With `bytes` the connection breaks after so many: whoever takes
   * them all has no bound.
   */
  | { readonly type: "endless"; readonly bytes?: number }
  /** (server) A content-length that is wrong by so many bytes. */
  | { readonly type: "content-length"; readonly offBy: number }
  /** (server) The body in pieces of so many bytes, each a chunk of its own. */
  | { readonly type: "chunks"; readonly bytes: number };

/** (server) What goes wrong before there is a request. */
export type ConnectionFault =
  | "unknown-host"
  | "refused"
  | "connect-hang"
  | "expired-certificate"
  | "untrusted-certificate"
  | "wrong-host-certificate"
  /** The name leads to loopback. */
  | "inside-address"
  /** The name resolves to a public address first, then to loopback. */
  | "rebinding";

/** A public address (it was example.com's) that every name seems to have. */
export const publicAddress = "93.184.215.14";

/** Stateful: made anew for each run. */
export interface Provider {
  /**
   * Undefined = no recording fits: the run fails whatever the connector makes of it. `reason` says
   * why in one sentence.
   */
  answer(request: ProviderRequest): Answer | { readonly unmatched: string };
  /**
   * Recorded interactions that were not asked for, as "campaigns#2 GET https://…". Empty for
   * providers that are not strict.
   */
  unused(): readonly string[];
}

/** One request and what became of it: the ledger of a run. */
export interface Exchange {
  readonly request: ProviderRequest;
  /** Virtual time. */
  readonly atMs: number;
  /** Missing while the answer is on its way, and for what broke before one. */
  readonly answer?: Answer | undefined;
  /** Why nothing fitted. */
  readonly unmatched?: string | undefined;
  /** The client closed the connection before the answer was complete. */
  readonly isAbandoned?: boolean | undefined;
  /** The connector's lines that asked for it, where they are known. @see PlacedCall */
  readonly place?: string | undefined;
}
