import type { Clock } from "./clock.ts";
import type { HttpEgress, TokenRenewal } from "./egress.ts";
import type { UnsignedToken } from "./jwt.ts";
import type { ByteStream, Signal } from "./platform.ts";

/**
 * Query parameters in order of insertion; an array repeats the parameter; undefined is left out.
 */
export type Query = { readonly [name: string]: QueryValue | readonly QueryValue[] | undefined };
type QueryValue = string | number | boolean;

export interface RequestOptions {
  readonly query?: Query | undefined;
  /**
   * Extra request headers. Authentication, host, cookie and connection headers are refused: they
   * are the host's.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Statuses besides 2xx that come back as an answer instead of an error, for instance `[404]`;
   * also 206, since a part of an answer must be asked for.
   */
  readonly accept?: readonly number[] | undefined;
  /**
   * A JSON Web Token that the host signs: only of a connector that declares placeholders.
   * @throws CONFIG_INVALID when its key does not fit its algorithm
   */
  readonly jwt?: UnsignedToken | undefined;
  /**
   * The request asks for tokens at a URL that is declared to mint them for a refresh token which
   * changes with each use. The host sends it when it needs new ones, with the token that it keeps.
   * @throws CONFIG_INVALID where nothing keeps the next one · REAUTHORIZATION_NEEDED
   */
  readonly renewal?: TokenRenewal | undefined;
}

export interface BodyOptions extends RequestOptions {
  /** Sent as JSON. */
  readonly body?: unknown | undefined;
  /** Sent as it is, in place of `body`; its content-type stands among `headers`. */
  readonly text?: string | undefined;
}

/** An answer of the provider: a 2xx, or a status that was listed in `accept`. */
export interface HttpResponse {
  readonly status: number;
  /** The allowed response headers, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The parsed body. Integers beyond 2^53 come as `bigint`, decimals with more than 15 digits as
   * raw JSON: both are written exactly.
   * @throws RESPONSE_INVALID when it is not JSON.
   */
  json<T = unknown>(): T;
  text(): string;
}

/**
 * Requests to the declared base URL. A path is a list of segments, each encoded: `["lists", id,
 * "members"]`; never a URL. The host adds authentication, waits for rate limits, retries what may
 * be retried, and caps sizes and times. May be called concurrently.
 * @throws CREDENTIALS_REJECTED 401 · PERMISSION_DENIED 403 · RESOURCE_NOT_FOUND 404 and 410 ·
 * RATE_LIMITED 429 · PROVIDER_UNAVAILABLE 5xx · REQUEST_REJECTED other 4xx · or what an error rule
 * of the connector says · CONNECTION_FAILED, PROVIDER_TIMEOUT, TLS_FAILED, RESPONSE_TOO_LARGE,
 * REDIRECT_REFUSED, CANCELLED
 */
export interface HttpClient {
  get(path: Path, options?: RequestOptions): Promise<HttpResponse>;
  post(path: Path, options?: BodyOptions): Promise<HttpResponse>;
}

/**
 * Segments below the base URL. A connector that declares placeholders may give a whole URL of a
 * declared host instead, in which a query may stand.
 */
export type Path = readonly PathSegment[] | string;

/** Text or a number; not empty, not "." or "..". */
export type PathSegment = string | number;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
}

/**
 * Numbers, booleans and short identifiers. Never log a record or a response. A source that reads a
 * log of changes says as `lagBytes` how much of it the server keeps for it: the Control API shows
 * that. A warning with `stream` and `unreadRows` says that no run reads so many rows, at least: the
 * pipeline is degraded.
 */
export type LogFields = { readonly [name: string]: string | number | boolean | null };

/** The context that every verb of a connector receives. */
export interface BaseContext<Config> {
  /**
   * The user's configuration without its secrets, validated against the spec, defaults filled in.
   */
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** Aborts when the run is cancelled. Waits and requests of ctx obey it by themselves. */
  readonly signal: Signal;
}

export interface HttpContext<Config> extends BaseContext<Config> {
  readonly http: HttpClient;
}

export interface DatabaseContext<Config> extends BaseContext<Config> {
  /**
   * A new authenticated session with the declared database, as a byte stream on which a client can
   * start: give it to `pg` (or a client for MySQL) as `stream`, with any password. May be called
   * more than once, up to 4 sessions at a time.
   * @throws HOST_UNKNOWN, ADDRESS_REFUSED, CONNECTION_FAILED, TLS_FAILED, CREDENTIALS_REJECTED,
   * DATABASE_UNUSABLE
   */
  connect(options?: ConnectOptions): Promise<ByteStream>;
}

export interface ConnectOptions {
  /**
   * A session of PostgreSQL's streaming replication with the database, for a logical slot that the
   * egress names (`replication`). The host lets through what reading that slot needs, and nothing
   * else.
   */
  readonly isReplication?: boolean | undefined;
}

/** The context that fits the declared egress. */
export type Context<Config, E> = E extends HttpEgress
  ? HttpContext<Config>
  : DatabaseContext<Config>;
