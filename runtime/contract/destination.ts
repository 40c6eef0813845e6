/**
 * The contract of a destination: where rows are kept for people to query. Unlike a source it runs
 * in the host's process (docs/decisions/0017): the rows that it gets have passed the output filter,
 * and it never sees a secret either, because the host dials and authenticates its connection.
 */
import type { Duplex } from "node:stream";
import type { TObject, TProperties } from "typebox";
import type { ConfiguredStream, StreamDescriptor, StreamState } from "./catalog.ts";
import type { BaseContext } from "./context.ts";
import type { PostgresEgress } from "./egress.ts";
import type { JsonValue } from "./json.ts";
import type { ObjectStore } from "./object-store.ts";
import type { Sink } from "./sink.ts";
import type { FieldOf } from "./source.ts";
import type { PublicConfig } from "./spec.ts";

/**
 * The mode says what becomes of the rows that are there. `append`: they stay, the new ones are
 * added · `overwrite`: the new ones take their place at once, when all have arrived ·
 * `append_dedup`: one row per primary key, the one with the newest cursor.
 */
export const destinationSyncModes = ["append", "overwrite", "append_dedup"] as const;
export type DestinationSyncMode = (typeof destinationSyncModes)[number];

/**
 * Treatments of rows whose key the source has no more. `soft`: `_svc_deleted_at` says when that was
 * noticed · `hard`: they are removed.
 */
export const deleteModes = ["soft", "hard"] as const;
export type DeleteMode = (typeof deleteModes)[number];

/**
 * A file in the folder that the operator keeps for warehouses. The setting is a plain name, never a
 * path.
 */
export interface LocalFile<Field extends string = string> {
  readonly kind: "file";
  readonly name: Field;
  /** For instance ".duckdb". */
  readonly ending: string;
  /** It is a folder of files, which is made when it is missing. */
  readonly isFolder?: boolean;
}

/** Declares a file by the name of the config property that holds its name. */
export const localFile = <const Field extends string>(
  options: Omit<LocalFile<Field>, "kind">,
): LocalFile<Field> => ({
  kind: "file",
  ...options,
});

/** A bucket of an S3-compatible store. Each property names a setting. */
export interface S3Egress<Field extends string = string> {
  readonly kind: "s3";
  readonly bucket: Field;
  /** Below which all objects are. */
  readonly prefix: Field;
  readonly region: Field;
  /** An https URL of a store that is not the vendor's own; empty: the vendor's. */
  readonly endpoint: Field;
  readonly accessKeyId: Field;
  readonly secretAccessKey: Field;
  /** Of a key that ends by itself; such a setting may be left empty. */
  readonly sessionToken?: Field;
  /**
   * How the store encrypts new objects: `bucket` (as it does without being asked), `sse-s3` or
   * `sse-kms`.
   */
  readonly encryption?: Field;
  /** The key of `sse-kms`; empty: the vendor's own for the account. */
  readonly kmsKeyId?: Field;
}

/** Declares a bucket by the names of the config properties that say where it is. */
export const s3Bucket = <const Field extends string>(
  options: Omit<S3Egress<Field>, "kind">,
): S3Egress<Field> => ({ kind: "s3", ...options });

export type DestinationEgress<Field extends string = string> =
  | PostgresEgress<Field>
  | S3Egress<Field>
  | LocalFile<Field>;

export interface FileContext<Config> extends BaseContext<Config> {
  /** Absolute path of the declared file; its folder is there. */
  readonly path: string;
}

export interface ConnectionContext<Config> extends BaseContext<Config> {
  /**
   * An authenticated session after PostgreSQL's start-up, up to 4 at a time.
   * @throws ConnectorError
   */
  connect(): Promise<Duplex>;
}

export interface StoreContext<Config> extends BaseContext<Config> {
  /** Authenticated, and guarded like every connection of the host. */
  readonly store: ObjectStore;
  /** A folder of this machine for rows on their way. It may be missing. */
  readonly scratch: string;
}

export type DestinationContext<Config, E> = E extends LocalFile
  ? FileContext<Config>
  : E extends S3Egress
    ? StoreContext<Config>
    : ConnectionContext<Config>;

/** A stream and where its rows go. */
export interface DestinationStream {
  /**
   * The stream as it is read. Its `destination_sync_mode` is one of {@link destinationSyncModes}.
   */
  readonly configured: ConfiguredStream;
  /** Schema of the table; undefined: the one of the destination's settings. */
  readonly schema?: string | undefined;
  /**
   * Name of the table as people should find it, prefix included. The destination makes it fit, and
   * unique without case.
   */
  readonly table: string;
  /**
   * Read anew from the beginning: its saved state counts no more. The rows that people see stay
   * until the new ones are there.
   */
  readonly isRestart?: boolean | undefined;
  /** Undefined: rows that the source has no more stay. */
  readonly detectDeletes?: DeleteMode | undefined;
}

/** Opens a writer: for whom, as which attempt, of which streams. */
export interface WriteCommand {
  /**
   * Whose rows these are: a connection. Tables, states and fences are kept by it; tables of another
   * owner are never touched.
   */
  readonly owner: string;
  /** Goes into `_svc_job_id`. */
  readonly jobId: string;
  /**
   * Rises with every attempt of the owner. Opening notes it; from then on a writer with a lower one
   * commits nothing any more: its calls throw OUTPUT_FENCED.
   */
  readonly fence: number;
  readonly streams: readonly DestinationStream[];
  /** Called after each commit: so many rows, and the state that goes with them, are durable. */
  onCommitted?(commit: Commit): void;
  /**
   * Called when a stream has ended, for each column of its table that has another type than before,
   * so that every value fits. Of a new table, another type than its schema says.
   */
  onColumnChanged?(change: ColumnTypeChange): void;
}

/** Types are in the destination's own words. */
export interface ColumnTypeChange {
  readonly stream: StreamDescriptor;
  readonly column: string;
  readonly from: string;
  readonly to: string;
}

export interface Commit {
  readonly stream: StreamDescriptor;
  /**
   * Rows of the stream that were committed since the last call; also those that wait beside the
   * table for the swap.
   */
  readonly rowCount: number;
  readonly state?: JsonValue;
}

/** Opens a comparison of keys: whose tables, as which attempt, of which streams. */
export interface CompareCommand extends Pick<WriteCommand, "owner" | "jobId" | "fence"> {
  /** As they were written before, each with what becomes of its deleted rows. */
  readonly streams: readonly DestinationStream[];
  /** Somebody knows that so many rows are gone. */
  readonly isConfirmed?: boolean | undefined;
  /** Called for each stream whose keys came to their end, after the commit. */
  onCompared(compared: ComparedKeys): void;
}

export interface ComparedKeys {
  readonly stream: StreamDescriptor;
  /** Rows that were marked or removed. */
  readonly deletedCount: number;
  /** Rows whose mark was taken back: the source has their key again. */
  readonly returnedCount: number;
  /** Why no row was marked or removed, in words for people. */
  readonly refusal?: string | undefined;
}

/**
 * Takes what a read delivers. Rows and state are committed in one transaction: a crash at any
 * moment leaves both or neither, so a later attempt that reads on from {@link savedState} loses
 * nothing and doubles nothing.
 */
export interface DestinationSink extends Sink {
  readonly lineFormat: "rows";
  /** The states from which this attempt goes on. Streams without one start from the beginning. */
  savedState(): readonly StreamState[];
  /** Quoted name of the table that people query; empty while there is none. */
  location(stream: StreamDescriptor): string;
}

/** A query that only reads, for reverse ETL. */
export interface QueryCommand {
  /** One SELECT, in the destination's own SQL. */
  readonly sql: string;
  readonly maxRows: number;
  readonly timeoutMs: number;
}

export interface QueryColumn {
  readonly name: string;
  /** The destination's own name of the type. */
  readonly type: string;
}

/** Rows as JSON values; integers beyond 2^53 and exact decimals are text. */
export interface QueryResult {
  readonly columns: readonly QueryColumn[];
  /** In pages. Ends early when the caller stops. @throws QUERY_REFUSED, QUERY_FAILED */
  readonly pages: AsyncIterable<readonly (readonly JsonValue[])[]>;
}

export interface Destination<
  Spec extends TObject = TObject,
  E extends DestinationEgress<FieldOf<Spec>> = DestinationEgress<FieldOf<Spec>>,
> {
  /** `conn_…`, permanent. */
  readonly id: string;
  /** Semantic version. */
  readonly version: string;
  readonly title: string;
  readonly documentationUrl?: string;
  readonly spec: Spec;
  readonly egress: E;
  readonly syncModes: readonly DestinationSyncMode[];
  /**
   * True when one writer at a time can have the whole place open: jobs that write there wait for
   * each other.
   */
  readonly isExclusive?: boolean;
  /**
   * A pipeline that follows a log begins no round sooner than so long after the one before; ms, at
   * most a day. For destinations where each change has a price, however small it is. Default 0.
   */
  readonly minRoundMs?: number;
  /**
   * Resolves when rows can be written: it makes a table, writes, reads and removes it.
   * @throws any ConnectorError: its code tells the user why.
   */
  check(ctx: DestinationContext<PublicConfig<Spec>, E>): Promise<void>;
  /**
   * Opens a writer. Whatever a killed run of the same owner left half done is cleared away.
   * @throws OUTPUT_FAILED, OUTPUT_FENCED, PERMISSION_DENIED, DATABASE_UNUSABLE, TABLE_CONFLICT and
   * how the connection fails
   */
  write(
    ctx: DestinationContext<PublicConfig<Spec>, E>,
    command: WriteCommand,
  ): Promise<DestinationSink>;
  /**
   * Opens a sink for the keys that the source has: rows of the key's properties alone. When a
   * stream is complete, the rows of its table whose key did not come are marked or removed, in one
   * transaction under the fence; of a stream that is not complete, nothing is. Rows that the same
   * job has written stay, and so do those with a null in their key.
   * @throws as `write`
   */
  compareKeys?(
    ctx: DestinationContext<PublicConfig<Spec>, E>,
    command: CompareCommand,
  ): Promise<Sink>;
  /**
   * Runs a SELECT for reverse ETL.
   * @throws QUERY_REFUSED (it is not one SELECT, or reaches out of the database), QUERY_FAILED
   */
  query?(
    ctx: DestinationContext<PublicConfig<Spec>, E>,
    command: QueryCommand,
  ): Promise<QueryResult>;
}

/**
 * Gives a destination its types. The object is the module's default export; it is validated when it
 * is loaded.
 */
export function defineDestination<
  Properties extends TProperties,
  const E extends DestinationEgress<FieldOf<TObject<Properties>>>,
>(destination: Destination<TObject<Properties>, E>): Destination<TObject<Properties>, E> {
  return destination;
}
