/**
 * The contract of an activation connector (reverse ETL): it sends rows, each with an address of its
 * own, into an account or a database of the customer. Like a destination it runs in the host's
 * process (docs/decisions/0017) and never sees a secret: the host signs, authenticates and dials.
 */
import type { Duplex } from "node:stream";
import type { TObject, TProperties } from "typebox";
import type { BaseContext, BodyOptions, HttpClient, HttpResponse, PathSegment } from "./context.ts";
import type { Auth, HttpEgress, PostgresEgress } from "./egress.ts";
import type { JsonObject } from "./json.ts";
import type { FieldOf } from "./source.ts";
import type { PublicConfig } from "./spec.ts";

/**
 * The operation says what is made of the model's rows. `insert`: new ones are added · `update`:
 * those that are there are changed · `upsert`: both · `mirror`: both, and what has left the model
 * is removed · `append`: every new or changed row is added once more.
 */
export const rowOperations = ["insert", "update", "upsert", "mirror", "append"] as const;
export type RowOperation = (typeof rowOperations)[number];

/** Operations that find the row which they change by an identifier. */
export const identifyingOperations: readonly RowOperation[] = ["update", "upsert", "mirror"];

/** The change of a row of the model since it was last confirmed. */
export const rowChangeKinds = ["added", "changed", "removed"] as const;
export type RowChangeKind = (typeof rowChangeKinds)[number];

/** Why a row was not taken, in words that may leave. */
export const rowReasons = {
  key_missing: "The row has no value in the model's primary key.",
  key_duplicate: "Several rows of the model have this primary key.",
  key_invalid: "The primary key is too long, or cannot be stored.",
  identifier_missing: "The row has no value in its primary identifier.",
  identifier_duplicate: "Several rows of the model have this primary identifier.",
  value_invalid: "A value does not fit the field of the destination.",
  constraint_violated: "A rule of the destination does not allow the row.",
  row_exists: "The destination has this row already.",
  row_not_found: "The destination does not have this row.",
  rejected: "The destination refused the row.",
} as const;
export type RowReason = keyof typeof rowReasons;

export interface RowField {
  readonly name: string;
  /** The destination's own name of the type. */
  readonly type: string;
  /** A new row cannot be without it. */
  readonly isRequired: boolean;
  /** It can be the primary identifier. */
  readonly isIdentifier: boolean;
}

/** A kind of row that the destination takes. */
export interface ActivationObject {
  /** As a configuration names it. */
  readonly name: string;
  /** Another name under which it is found: an id. */
  readonly id?: string;
  readonly operations: readonly RowOperation[];
  readonly fields: readonly RowField[];
  /**
   * It takes fields of other names too. Where no field is marked as one, any can be the primary
   * identifier.
   */
  readonly isOpen: boolean;
}

export interface RowChange {
  /** The model's key. It names the row in results. */
  readonly key: string;
  readonly change: RowChangeKind;
  /** Values by the destination's fields. Of a removed row only the identifier. */
  readonly fields: JsonObject;
}

export interface RowBatch {
  /**
   * The same for the same rows, also when a crash made them come again: a destination that knows it
   * takes them once.
   */
  readonly id: string;
  readonly rows: readonly RowChange[];
}

export interface FailedRow {
  readonly key: string;
  readonly reason: RowReason;
  /** The destination's own word for it: small letters, digits and _. */
  readonly word?: string;
}

/** Rows that are not named as failed are at the destination. */
export interface BatchResult {
  readonly failed: readonly FailedRow[];
}

/** Says what one run writes. */
export interface ActivationCommand {
  /** Names whose rows these are: the same in every run of one model into one place. */
  readonly owner: string;
  readonly object: string;
  readonly operation: RowOperation;
  /** Field that finds a row. Undefined for insert and append. */
  readonly identifier?: string | undefined;
}

/** Any public https URL that a customer enters; where it resolves to is the guard's question. */
export interface PublicUrl<Field extends string = string> {
  readonly kind: "public_url";
  readonly field: Field;
}

/** Declares the config property that holds the URL. */
export const publicUrl = <const Field extends string>(field: Field): PublicUrl<Field> => ({
  kind: "public_url",
  field,
});

/**
 * Signs every request as Standard Webhooks asks for: `webhook-id` (the connector's, the batch's
 * id), `webhook-timestamp` and `webhook-signature`. The property holds the key: base64, after an
 * optional `whsec_`.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 * (read 2026-07)
 */
export interface WebhookSigning<Field extends string = string> {
  readonly secret: Field;
}

/** As {@link HttpEgress}; requests may also be PUT, PATCH and DELETE. */
export interface ActivationHttpEgress<Field extends string = string>
  extends Omit<HttpEgress<Field>, "baseUrl"> {
  readonly baseUrl: HttpEgress<Field>["baseUrl"] | PublicUrl<Field>;
  readonly signing?: WebhookSigning<Field> | undefined;
}

/** Declares where requests with rows go. */
export function activationHttp<const Field extends string>(
  options: Omit<ActivationHttpEgress<Field>, "kind" | "auth"> & { readonly auth?: Auth<Field> },
): ActivationHttpEgress<Field> {
  const { auth, ...rest } = options;
  return { ...rest, kind: "http", auth: auth ? [auth] : [] };
}

export type ActivationEgress<Field extends string = string> =
  | ActivationHttpEgress<Field>
  | PostgresEgress<Field>;

/**
 * As {@link HttpClient}, with the methods that change things. PUT and DELETE are retried like GET.
 */
export interface WritingHttpClient extends HttpClient {
  put(path: readonly PathSegment[], options?: BodyOptions): Promise<HttpResponse>;
  patch(path: readonly PathSegment[], options?: BodyOptions): Promise<HttpResponse>;
  delete(path: readonly PathSegment[], options?: BodyOptions): Promise<HttpResponse>;
}

export interface ActivationHttpContext<Config> extends BaseContext<Config> {
  readonly http: WritingHttpClient;
}

export interface ActivationConnectionContext<Config> extends BaseContext<Config> {
  /**
   * An authenticated session after PostgreSQL's start-up, up to 4 at a time.
   * @throws ConnectorError
   */
  connect(): Promise<Duplex>;
}

export type ActivationContext<Config, E> = E extends PostgresEgress
  ? ActivationConnectionContext<Config>
  : ActivationHttpContext<Config>;

export interface Activation<
  Spec extends TObject = TObject,
  E extends ActivationEgress<FieldOf<Spec>> = ActivationEgress<FieldOf<Spec>>,
> {
  /** `conn_…`, permanent: credentials for it are of this connector. */
  readonly id: string;
  /** Semantic version. */
  readonly version: string;
  readonly title: string;
  readonly documentationUrl?: string;
  readonly spec: Spec;
  readonly egress: E;
  /** Most rows of a batch. */
  readonly maxBatchRows: number;
  /**
   * Lists the objects that can be written to, as the account has them.
   * @param name only this one, by name or id
   */
  objects(
    ctx: ActivationContext<PublicConfig<Spec>, E>,
    name?: string,
  ): Promise<readonly ActivationObject[]>;
  /**
   * Resolves when rows could be written. Absent: nothing can be said before the first batch.
   * @throws any ConnectorError
   */
  check?(ctx: ActivationContext<PublicConfig<Spec>, E>): Promise<void>;
  /**
   * Takes batches in their order and gives the result of each before it asks for the next. Throwing
   * means: of this batch nothing is known, it will come again with the same id.
   * @throws any ConnectorError
   */
  write(
    ctx: ActivationContext<PublicConfig<Spec>, E>,
    command: ActivationCommand,
    batches: AsyncIterable<RowBatch>,
  ): AsyncIterable<BatchResult>;
}

/**
 * Gives an activation its types. The object is the module's default export; it is validated
 * when it is loaded.
 */
export function defineActivation<
  Properties extends TProperties,
  const E extends ActivationEgress<FieldOf<TObject<Properties>>>,
>(destination: Activation<TObject<Properties>, E>): Activation<TObject<Properties>, E> {
  return destination;
}
