import type { Socket } from "node:net";
import type { Dispatcher } from "undici";

/**
 * The network settings of an operator (svc.config.yaml). The defaults allow nothing beyond public
 * addresses and declared hosts.
 */
export interface NetworkSettings {
  /**
   * Hosts that customers may enter as base URL: exact names, or `*.suffix` for exactly one label.
   */
  readonly approvedHosts: readonly string[];
  /**
   * CIDR blocks outside the public Internet that connections may reach, for instance "10.1.0.0/16".
   */
  readonly allowNetworks: readonly string[];
  /** Further blocks that connections to databases may reach, and requests may not. Default none. */
  readonly databaseNetworks?: readonly string[] | undefined;
}

/**
 * Constructor seams: tests and the demo reach loopback simulators with them. No switch of a
 * production build sets them.
 */
export interface NetworkSeams {
  /** Replaces DNS. Gives every address of the name. */
  readonly resolve?: (
    host: string,
  ) => Promise<readonly { readonly address: string; readonly family: 4 | 6 }[]>;
  /** Replaces the TCP connect; receives the already classified address, port and name. */
  readonly dial?: (target: { host: string; address: string; port: number }) => Socket;
  /** PEM of a further certificate authority to trust. */
  readonly ca?: string;
  /**
   * Replaces the guarded connections of one transport, which destroys what it is given. Only for
   * replaying recorded fixtures, where nothing is dialled.
   */
  readonly openDispatcher?: () => Dispatcher;
  /**
   * Gives the URL to which requests go in place of a provider that is declared on this machine,
   * which nobody then has to allow. Only for the kit, which answers them itself.
   */
  readonly standIn?: (local: URL) => URL;
  /**
   * Sees every exchange of the run as it was on the wire, secrets included. For the recorder, which
   * takes them out.
   */
  readonly observe?: (exchange: SeenExchange) => void;
}

/** A request and its whole answer, after decompression. */
export interface SeenExchange {
  /** Rises in the order in which the requests were sent; answers may come in another one. */
  readonly index: number;
  readonly method: string;
  readonly url: string;
  readonly requestHeaders: { readonly [name: string]: string };
  readonly requestBody: Buffer | undefined;
  readonly status: number;
  readonly responseHeaders: { readonly [name: string]: string | readonly string[] };
  readonly responseBody: Buffer;
}

/**
 * Deadlines and retry bounds of HTTP requests. Network deadlines run in real time, waits on the
 * injected clock.
 */
export interface HttpLimits {
  /** TCP and TLS together. Default 10 s. */
  readonly connectTimeoutMs: number;
  /** From the end of the request to the first byte of the answer. Default 60 s. */
  readonly headersTimeoutMs: number;
  /** Between two pieces of the body. Default 60 s. */
  readonly idleTimeoutMs: number;
  /** One try as a whole. Default 10 min. */
  readonly totalTimeoutMs: number;
  /** Tries of one request, the first included. Default 5. */
  readonly maxAttempts: number;
  /** Time from the first try, after which no further one starts. Default 10 min. */
  readonly retryBudgetMs: number;
  /**
   * A rate-limit window that ends later than this is not waited for. Default 65 min: hourly windows
   * are.
   */
  readonly maxRateLimitWaitMs: number;
}
