import type { Duplex } from "node:stream";
import type { Clock } from "../contract/clock.ts";
import type { Egress } from "../contract/egress.ts";
import type { ProviderRequest } from "../contract/host.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { TokenStore } from "../contract/token-store.ts";
import type { ErrorCode } from "../errors.ts";
import type { SecretRegistry } from "../sanitize/secrets.ts";

/** What an operator allows (svc.config.yaml). The defaults allow nothing beyond public addresses and declared hosts. */
export interface NetworkSettings {
  /** Hosts that customers may enter as base URL: exact names, or `*.suffix` for exactly one label. */
  readonly approvedHosts: readonly string[];
  /** CIDR blocks outside the public Internet that connections may reach, for instance "10.1.0.0/16". */
  readonly allowNetworks: readonly string[];
}

/** Constructor seams: tests and the demo reach loopback simulators with them. No switch of a production build sets them. */
export interface NetworkSeams {
  /** Replaces DNS. Gives every address of the name. */
  readonly resolve?: (host: string) => Promise<readonly { readonly address: string; readonly family: 4 | 6 }[]>;
  /** Replaces the TCP connect; receives the already classified address, port and name. */
  readonly dial?: (target: { host: string; address: string; port: number }) => import("node:net").Socket;
  /** PEM of a further certificate authority to trust. */
  readonly ca?: string;
  /** Replaces the whole guarded connect by another of undici's form. Only for replaying recorded fixtures, where nothing is dialled. */
  readonly connect?: import("undici").buildConnector.connector;
  /** Sees every exchange of the run as it was on the wire, secrets included. For the recorder, which takes them out. */
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

/** Deadlines and retry bounds of HTTP requests. Network deadlines run in real time, waits on the injected clock. */
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
  /** A rate-limit window that ends later than this is not waited for. Default 65 min: hourly windows are. */
  readonly maxRateLimitWaitMs: number;
}

export interface BrokerOptions {
  readonly declaration: Egress;
  /** The whole validated configuration, secrets included. It never leaves the host process. */
  readonly config: JsonObject;
  /** The connector's spec: only a value from a fixed list may put more than one label into a host. */
  readonly spec?: JsonObject;
  /** Secrets of the run; minted tokens and cookies are added to it before they are used. */
  readonly secrets: SecretRegistry;
  readonly clock: Clock;
  readonly settings: NetworkSettings;
  readonly seams?: NetworkSeams;
  /** Called when a request has to wait, with the time at which it goes on (clock time), and with 0 when it does. */
  readonly onWaiting?: (untilMs: number, reason: "rate_limit" | "retry") => void;
  /** Called for each request that went out, retries and redirects too. */
  readonly onRequest?: (request: ProviderRequest) => void;
  /** Where OAuth tokens are kept. Default: in memory, seeded with the refresh token of the configuration. */
  readonly tokens?: TokenStore;
  readonly limits?: Partial<HttpLimits>;
  /** 0 ≤ x < 1, for jitter. Default Math.random. */
  readonly random?: () => number;
  /** Only for destinations: sessions with a database are not made read-only. Default false. */
  readonly mayWrite?: boolean;
  /** Only for writers of rows: they may also change and delete. */
  readonly writer?: WriterOptions;
}

export interface WriterOptions {
  /** Already checked; in place of the declaration's. */
  readonly baseUrl?: URL;
  /** Headers that sign a request which brings a `webhook-id`, made anew for each try. */
  readonly sign?: (id: string, body: Buffer) => Readonly<Record<string, string>>;
}

export const readingMethods = ["GET", "POST"] as const;
export const writingMethods = [...readingMethods, "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof writingMethods)[number];

/** A request of a worker, which is not trusted: the broker checks every part of it. */
export interface HttpCall {
  /** Other than GET and POST: only of writers. */
  readonly method: HttpMethod;
  readonly path: readonly (string | number)[];
  readonly query?: { readonly [name: string]: JsonValue | undefined };
  readonly headers?: { readonly [name: string]: string };
  readonly body?: JsonValue;
  readonly accept?: readonly number[];
  /**
   * The same call once more, because its 2xx answer turned out to mean `code` (an error rule on the body).
   * `attempt` = how many tries it has had. The broker waits as it does for other retries, or throws `code` when no try is left.
   */
  readonly again?: BodyVerdict & { readonly attempt: number };
}

export interface HttpAnswer {
  readonly status: number;
  /** Allowed response headers only, lower case. */
  readonly headers: { readonly [name: string]: string };
  /** Decompressed. */
  readonly body: Buffer;
}

/** Everything that a run sends to the network goes through its broker. */
export interface Broker {
  /** @throws ConnectorError as HttpClient lists them. */
  request(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer>;
  /** An authenticated database session after its start-up. @throws ConnectorError */
  connect(signal: AbortSignal): Promise<Duplex>;
  /** Requests that reached the network, retries included. */
  readonly requestCount: number;
  /** Ends every connection. Requests under way fail with CANCELLED. */
  close(): Promise<void>;
}

/** Codes that a 2xx answer may turn out to mean once its body is read (error rules); the worker reports them back for retry. */
export type BodyVerdict = { readonly code: ErrorCode };
