/**
 * A connector's declaration about the network, as plain data: the host applies it without running
 * connector code, and a reviewer reads it. The connector itself never sees a secret and never opens
 * a connection.
 */
import type { ErrorCode } from "./errors.ts";

/**
 * How the host authenticates a request. `Field` is the name of a config property; a dotted path
 * reaches nested ones.
 */
export type Auth<Field extends string = string> =
  | {
      readonly type: "headers";
      readonly headers: Readonly<Record<string, HeaderTemplate<Field>>>;
      /**
       * Lets users connect an account instead of entering the token: it goes into the setting of
       * the one header.
       */
      readonly authorization?: TokenAuthorization<Field>;
    }
  | { readonly type: "basic"; readonly username: AuthField<Field>; readonly password: Field }
  | {
      readonly type: "body";
      readonly fields: Readonly<Record<string, AuthField<Field>>>;
      /** Requests whose path ends with one of these ("/institutions/get") go without the fields. */
      readonly except?: readonly string[];
    }
  | { readonly type: "query"; readonly fields: Readonly<Record<string, AuthField<Field>>> }
  | OAuth2<Field>;

/** A setting that authenticates: a secret, or an {@link identifier} beside one. */
export type AuthField<Field extends string = string> = Field | Identifier<Field>;

/** @see identifier */
export interface Identifier<Field extends string = string> {
  readonly identifier: Field;
}

/**
 * Declares that a setting which goes with the credentials proves nothing alone and is no secret:
 * the id of a client or an account, the user name beside a password. Everything else that
 * authentication uses must be marked {@link secret}; a connector is refused whose identifier has
 * the name of a secret, or no secret beside it.
 */
export function identifier<const Field extends string>(field: Field): Identifier<Field> {
  return { identifier: field };
}

/** The name of the setting, whether it is a secret or an identifier. */
export function settingOf(field: AuthField): string {
  return typeof field === "string" ? field : field.identifier;
}

/** A header value: `prefix` (may be empty) followed by the config value. */
export interface HeaderTemplate<Field extends string> {
  readonly prefix: string;
  readonly field: AuthField<Field>;
  /** Values that begin so go without the prefix: for a provider with two kinds of token. */
  readonly bareIfStartsWith?: string;
}

/** OAuth 2.0 with a refresh token (RFC 6749 section 6). Access tokens live in the host only. */
export interface OAuth2<Field extends string = string> {
  readonly type: "oauth2";
  /** Token endpoint: an https URL template as in {@link HttpEgress.baseUrl}. */
  readonly tokenUrl: string;
  /** Public by nature (RFC 6749 section 2.2), and need not be a secret. */
  readonly clientId: Field;
  readonly clientSecret: Field;
  readonly refreshToken: Field;
  /** How the client authenticates at the token endpoint. Default "body". */
  readonly clientAuth?: "basic" | "body";
  /** The word before the token in the Authorization header. Default "Bearer". */
  readonly scheme?: string;
  /**
   * How a user connects an account in the browser. Without it the refresh token is entered as a
   * setting.
   */
  readonly authorization?: Authorization<Field>;
}

/**
 * The authorization code grant (RFC 6749 section 4.1, RFC 9700 section 2.1). The host runs it; the
 * connector has no part in it.
 */
export interface Authorization<Field extends string = string> {
  /** Authorization endpoint: an https URL template as {@link OAuth2.tokenUrl}. */
  readonly authorizeUrl: string;
  /** The scopes to request. Empty: no `scope` parameter is sent. */
  readonly scopes: readonly string[];
  /** The separator of scopes. Default " ", as RFC 6749 section 3.3 says. */
  readonly scopeSeparator?: " " | ",";
  /**
   * Every callback must carry exactly this as `iss` (RFC 9207). Without it an `iss` must be the
   * origin of `authorizeUrl`.
   */
  readonly issuer?: string;
  /** Proof key S256 (RFC 7636). Default true; false only for servers that refuse its parameters. */
  readonly pkce?: boolean;
  /** Fixed query parameters, for instance `{ access_type: "offline", prompt: "consent" }`. */
  readonly extra?: Readonly<Record<string, string>>;
  /**
   * Revocation endpoint (RFC 7009): an https URL template as {@link OAuth2.tokenUrl}. Without it
   * nothing is revoked.
   */
  readonly revokeUrl?: string;
  readonly region?: AuthorizationRegion<Field>;
}

/**
 * How a user connects an account whose access token is sent like one that was typed in: it takes
 * the place of the setting. The client is the operator's, and no setting. A token that ends is
 * renewed before a run, not in the middle of one.
 */
export interface TokenAuthorization<Field extends string = string> extends Authorization<Field> {
  /** Token endpoint, as {@link OAuth2.tokenUrl}. */
  readonly tokenUrl: string;
  /** As {@link OAuth2.clientAuth}. */
  readonly clientAuth?: "basic" | "body";
}

/**
 * For a provider whose callback names the token host, because only it knows where the account of
 * the user lives.
 */
export interface AuthorizationRegion<Field extends string = string> {
  /** Parameter of the callback that holds the host or origin, for instance "accounts-server". */
  readonly parameter: string;
  /**
   * Setting with an enum that ends or begins the host of `tokenUrl`. The hosts that `tokenUrl` has
   * for its choices are the only ones accepted; the choice that fits becomes the setting's value.
   */
  readonly field: Field;
}

/**
 * `Authorization: Bearer <value>`; tokens that begin with `bareIfStartsWith` go without the word.
 * With `authorization` users may connect an account instead of entering a token.
 */
export function bearer<const Field extends string>(
  field: Field,
  options: Pick<HeaderTemplate<Field>, "bareIfStartsWith"> & {
    readonly authorization?: TokenAuthorization<Field>;
  } = {},
): Auth<Field> {
  const { authorization, ...template } = options;
  const headers = { authorization: { prefix: "Bearer ", field, ...template } };
  return { type: "headers", headers, ...(authorization ? { authorization } : {}) };
}

/** One or more request headers, each with the value of a config property. */
export function headers<const Field extends string>(
  fields: Readonly<Record<string, AuthField<Field>>>,
): Auth<Field> {
  const entries = Object.entries(fields) as [string, AuthField<Field>][];
  return {
    type: "headers",
    headers: Object.fromEntries(
      entries.map(([name, field]) => [name.toLowerCase(), { prefix: "", field }]),
    ),
  };
}

/** HTTP Basic (RFC 7617). A user name that is no secret is an {@link identifier}. */
export function basic<const Field extends string>(
  username: AuthField<Field>,
  password: Field,
): Auth<Field> {
  return { type: "basic", username, password };
}

/**
 * Properties added to every JSON request body; `except` names the paths whose endpoints refuse
 * them.
 */
export function bodyFields<const Field extends string>(
  fields: Readonly<Record<string, AuthField<Field>>>,
  options: { readonly except?: readonly string[] } = {},
): Auth<Field> {
  return { type: "body", fields, ...options };
}

/** Query parameters. A last resort: providers and proxies log URLs. */
export function queryFields<const Field extends string>(
  fields: Readonly<Record<string, AuthField<Field>>>,
): Auth<Field> {
  return { type: "query", fields };
}

/** Refreshes ahead of expiry and once on 401; rotation and single flight are the host's work. */
export function oauth2<const Field extends string>(
  options: Omit<OAuth2<Field>, "type">,
): Auth<Field> {
  return { type: "oauth2", ...options };
}

/** A base URL that the customer types in; accepted only for hosts that an operator approved. */
export interface ApprovedUrl<Field extends string = string> {
  readonly field: Field;
  /** The path must end with this, for instance "/api". */
  readonly pathEnd: string;
  /**
   * Hosts approved without an operator's word: exact names, or `*.suffix` for exactly one label.
   */
  readonly approvedHosts?: readonly string[];
}

/** @see ApprovedUrl */
export function approvedUrl<const Field extends string>(
  field: Field,
  options: Omit<ApprovedUrl<Field>, "field">,
): ApprovedUrl<Field> {
  return { field, ...options };
}

/**
 * Gives answers of this provider an error code when HTTP status alone would mislead. The first rule
 * that fits wins; all given conditions must hold. Codes of kind "transient" are retried.
 */
export interface ErrorRule {
  readonly status?: number | readonly number[];
  /** Response header, lower case, and the exact value it must have. */
  readonly header?: { readonly name: string; readonly equals: string };
  /**
   * JSON pointer (RFC 6901) into the body; without `equals` and `contains` it is enough that it
   * exists and is not null or false.
   */
  readonly pointer?: string;
  readonly equals?: readonly (string | number | boolean)[];
  /** Case-insensitive substring of the value at `pointer`. */
  readonly contains?: string;
  readonly code: ErrorCode;
}

export interface RateLimit {
  readonly requests: number;
  readonly perMs: number;
}
export const perSecond = (requests: number): RateLimit => ({ requests, perMs: 1_000 });
export const perMinute = (requests: number): RateLimit => ({ requests, perMs: 60_000 });

/**
 * A connector that puts its credentials into requests itself, as one that was written elsewhere
 * does. Its configuration has a placeholder in place of each secret: a random text, new for each
 * run. The host puts the secret in when a request leaves for a declared host: in the path, the
 * query, header values, HTTP Basic, and JSON, form and other bodies. In answers secrets become
 * placeholders again.
 */
export interface Placeholders {
  /**
   * Further hosts that requests may go to, besides that of the base URL: https URL templates as
   * {@link HttpEgress.baseUrl}.
   */
  readonly urls?: readonly string[];
  /** Where the provider mints tokens: the connector gets placeholders of these too. */
  readonly minted?: readonly MintedTokens[];
  /**
   * Answers that are ZIP archives are unpacked, so that secrets are found in them too: the
   * connector gets a list of the texts of their files, as JSON.
   */
  readonly archives?: boolean | undefined;
}

/** Tokens in an answer, for instance of a log-in or a refresh. */
export interface MintedTokens {
  /**
   * The URL that answers with them, without a query: an https URL template. Its host is declared by
   * this.
   */
  readonly url: string;
  /**
   * JSON pointers (RFC 6901) to them. Values under the name of a secret are taken for tokens too.
   */
  readonly pointers: readonly string[];
  /** They are minted for a refresh token that changes with each use: the host keeps the new one. */
  readonly rotates?: RotatingToken | undefined;
}

/**
 * A refresh token that changes with each use, and the names that an answer has for what it brings.
 */
export interface RotatingToken {
  /** The setting with the first refresh token. */
  readonly field: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds, or the date at which the access token ends. */
  readonly expiresIn: string;
}

/** A request for tokens that are minted for a refresh token which changes with each use. */
export interface TokenRenewal {
  /** The access token that the provider refused: another one is meant. */
  readonly rejected?: string | undefined;
}

export interface HttpEgress<Field extends string = string> {
  readonly kind: "http";
  /**
   * Where requests go: an https URL, in which `{field}` stands for a config property of enum or
   * single-label host form (`https://{environment}.example.com/v2`), or {@link approvedUrl}.
   */
  readonly baseUrl: string | ApprovedUrl<Field>;
  readonly auth: readonly Auth<Field>[];
  /** Starting point; the limiter learns the real limit from response headers. */
  readonly rateLimit?: RateLimit;
  /**
   * Requests under way at once, at most 64. Default 4, or as many as fit where `maxResponseBytes`
   * is above 64 MiB.
   */
  readonly concurrency?: number;
  /**
   * Fixed request headers, lower case (`accept`, API version). `accept: application/json` is the
   * default.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Response headers that the connector needs besides content-type, date, link, etag, last-modified
   * and the rate-limit ones.
   */
  readonly responseHeaders?: readonly string[];
  readonly errors?: readonly ErrorRule[];
  /**
   * Decompressed bytes of one answer. Default 64 MiB, or 256 MiB divided by a larger concurrency;
   * both together are at most that.
   */
  readonly maxResponseBytes?: number;
  /** The connector gets placeholders of its secrets, and puts them into requests itself. */
  readonly placeholders?: Placeholders;
  /** Declares that this provider's POST requests only read, so that they may be retried. */
  readonly isPostSafe?: boolean;
  /**
   * The connector is an image that the host runs, and whose requests come through a proxy. Only of
   * what the host itself has made of an image.
   */
  readonly isImage?: boolean;
}

/**
 * A connection with a database server: the host dials, does TLS and authenticates; the worker gets
 * the session, not the password.
 */
interface DatabaseEgress<Field extends string> {
  readonly host: Field;
  readonly port: Field;
  readonly database: Field;
  readonly username: Field;
  readonly password: Field;
  /**
   * A property with one of: disable, allow, prefer, require, verify-ca, verify-full (libpq's
   * words).
   */
  readonly sslMode: Field;
  /** PEM text of the certificate authority, for verify-ca and verify-full. */
  readonly sslRootCertificate?: Field;
  readonly tunnel?: TunnelEgress<Field>;
}

export interface PostgresEgress<Field extends string = string> extends DatabaseEgress<Field> {
  readonly kind: "postgres";
  /**
   * The setting with the name of a logical replication slot: where it is filled in, sessions of
   * replication may read, make and drop this slot, and make temporary ones whose names begin with
   * it.
   */
  readonly replicationSlot?: Field | `${Field}.${string}`;
}

/** MySQL, MariaDB and what speaks as they do. */
export interface MysqlEgress<Field extends string = string> extends DatabaseEgress<Field> {
  readonly kind: "mysql";
}

/**
 * An SSH server through which the host reaches a database that others cannot: used when the setting
 * `host` is filled in.
 */
export interface TunnelEgress<Field extends string = string> {
  readonly host: Field;
  readonly port: Field;
  readonly user: Field;
  /** A secret: a private key in the form of OpenSSH or PEM, without a passphrase. */
  readonly privateKey: Field;
  /** A secret. */
  readonly password: Field;
  /** The server's key: its fingerprint or the public key. Nothing is sent to another server. */
  readonly hostKey: Field;
}

export type Egress<Field extends string = string> =
  | HttpEgress<Field>
  | PostgresEgress<Field>
  | MysqlEgress<Field>;

type OneOrMore<T> = T | readonly T[];

/** Declares an HTTP provider. */
export function http<const Field extends string = never>(
  options: Omit<HttpEgress<Field>, "kind" | "auth"> & { readonly auth: OneOrMore<Auth<Field>> },
): HttpEgress<Field> {
  const { auth } = options;
  return { ...options, kind: "http", auth: Array.isArray(auth) ? auth : [auth as Auth<Field>] };
}

/** Declares a PostgreSQL server by the names of its config properties. */
export function postgres<const Field extends string>(
  options: Omit<PostgresEgress<Field>, "kind">,
): PostgresEgress<Field> {
  return { kind: "postgres", ...options };
}

/** Declares a MySQL or MariaDB server by the names of its config properties. */
export function mysql<const Field extends string>(
  options: Omit<MysqlEgress<Field>, "kind">,
): MysqlEgress<Field> {
  return { kind: "mysql", ...options };
}
