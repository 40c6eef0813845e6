import type { TokenRenewal } from "../contract/egress.ts";
import type { ErrorCode } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import type { UnsignedToken } from "../contract/jwt.ts";

export const readingMethods = ["GET", "POST"] as const;
export const writingMethods = [...readingMethods, "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof writingMethods)[number];

/** A request of a worker, which is not trusted: the broker checks every part of it. */
export interface HttpCall {
  /** Other than GET and POST: only of writers. */
  readonly method: HttpMethod;
  /** Segments below the base URL, or, of a connector with placeholders, a whole URL. */
  readonly path: readonly (string | number)[] | string;
  readonly query?: { readonly [name: string]: JsonValue | undefined } | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly body?: JsonValue | undefined;
  /** A body that is sent as it is. */
  readonly text?: string | undefined;
  readonly accept?: readonly number[] | undefined;
  /** A token that the host signs, of a connector with placeholders. */
  readonly jwt?: UnsignedToken | undefined;
  /** It asks for tokens that the host may have, of a connector with placeholders. */
  readonly renewal?: TokenRenewal | undefined;
  /** The connector's lines that asked, where the host wants to know. @see ConnectorCall */
  readonly place?: string | undefined;
  /**
   * The same call once more, because its 2xx answer turned out to mean `code` (an error rule on the
   * body). `attempt` = how many tries it has had. The broker waits as it does for other retries, or
   * throws `code` when no try is left.
   */
  readonly again?: (BodyVerdict & { readonly attempt: number }) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Allowed response headers only, lower case. */
  readonly headers: { readonly [name: string]: string };
  /** The decompressed body. */
  readonly body: Buffer;
}

/**
 * Codes that a 2xx answer may turn out to mean once its body is read (error rules); the worker
 * reports them back for retry.
 */
export type BodyVerdict = { readonly code: ErrorCode };
