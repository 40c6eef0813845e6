import type { Duplex } from "node:stream";
import type { Clock } from "../contract/clock.ts";
import type { ConnectOptions } from "../contract/context.ts";
import type { Egress } from "../contract/egress.ts";
import type { ConnectorCall, HostOptions, ProviderRequest } from "../contract/host.ts";
import type { JsonObject } from "../contract/json.ts";
import type { HttpLimits, NetworkSeams, NetworkSettings } from "../contract/network.ts";
import type { RateLedger } from "../contract/rate-ledger.ts";
import type { TokenStore } from "../contract/token-store.ts";
import type { SecretRegistry } from "../filter/secrets.ts";
import type { HttpAnswer, HttpCall } from "../wire/http-call.ts";
import type { PlaceholderRegistry } from "./placeholders.ts";

export interface BrokerOptions {
  readonly declaration: Egress;
  /** The whole validated configuration, secrets included. It never leaves the host process. */
  readonly config: JsonObject;
  /**
   * The connector's spec: only a value from a fixed list may put more than one label into a host.
   */
  readonly spec?: JsonObject | undefined;
  /** Secrets of the run; minted tokens and cookies are added to it before they are used. */
  readonly secrets: SecretRegistry;
  /** For a connector that declares them: they stand for the secrets in its calls and answers. */
  readonly placeholders?: PlaceholderRegistry | undefined;
  readonly clock: Clock;
  readonly settings: NetworkSettings;
  readonly seams?: NetworkSeams | undefined;
  /**
   * Called when a request has to wait, with the time at which it goes on (clock time), and with 0
   * when it does.
   */
  readonly onWaiting?: ((untilMs: number, reason: "rate_limit" | "retry") => void) | undefined;
  /** Called for each call of the connector that is taken. */
  readonly onCall?: ((call: ConnectorCall) => void) | undefined;
  /** Called for each request that went out, retries and redirects too. */
  readonly onRequest?: ((request: ProviderRequest) => void) | undefined;
  /**
   * Where OAuth tokens are kept. Default: in memory, seeded with the refresh token of the
   * configuration.
   */
  readonly tokens?: TokenStore | undefined;
  /** Where other processes with the same credential count their requests. */
  readonly ledger?: RateLedger | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  /** A declared provider on this machine is reached; see {@link HostOptions.allowLocal}. */
  readonly allowLocal?: boolean | undefined;
  /** 0 ≤ x < 1, for jitter. Default Math.random. */
  readonly random?: (() => number) | undefined;
  /** Only for destinations: sessions with a database are not made read-only. Default false. */
  readonly mayWrite?: boolean | undefined;
  /** Only for writers of rows: they may also change and delete. */
  readonly writer?: WriterOptions | undefined;
}

export interface WriterOptions {
  /** Already checked; in place of the declaration's. */
  readonly baseUrl?: URL | undefined;
  /** Headers that sign a request which brings a `webhook-id`, made anew for each try. */
  readonly sign?: ((id: string, body: Buffer) => Readonly<Record<string, string>>) | undefined;
}

/** Everything that a run sends to the network goes through its broker. */
export interface Broker {
  /**
   * Sends a request.
   * @param room resolves when the caller can hold one more answer: before that nothing is sent
   * @throws ConnectorError as HttpClient lists them.
   */
  request(call: HttpCall, signal: AbortSignal, room?: () => Promise<void>): Promise<HttpAnswer>;
  /** An authenticated database session after its start-up. @throws ConnectorError */
  connect(signal: AbortSignal, options?: ConnectOptions): Promise<Duplex>;
  /** Requests that reached the network, retries included. */
  readonly requestCount: number;
  /** Ends every connection. Requests under way fail with CANCELLED. */
  close(): Promise<void>;
}
