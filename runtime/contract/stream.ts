import type { TObject } from "typebox";
import type { JsonSchema } from "./json.ts";

/** How a stream is read: everything each time, or only what is new since the saved state. */
export type SyncMode = "full_refresh" | "incremental";

/** A column by which a stream can probably be read incrementally. */
export interface CursorProposal {
  readonly field: string;
  /** The rows that a later run finds by it: changed ones too, or new ones only. */
  readonly finds: "changes" | "new_rows";
  /** Without an index each run looks at all rows. */
  readonly is_indexed: boolean;
  /** Rows that have no value when they come are not found before they get one. */
  readonly is_nullable?: boolean | undefined;
}

/**
 * How a column is compared with a value, in SQL's words and with SQL's null: it meets none but its
 * own.
 */
export const rowOperators = [
  "=",
  "!=",
  "<",
  "<=",
  ">",
  ">=",
  "in",
  "not in",
  "is null",
  "is not null",
] as const;
export type RowOperator = (typeof rowOperators)[number];

/** A condition that a row meets to be read: data, never SQL. */
export interface RowCondition {
  readonly column: string;
  readonly operator: RowOperator;
  /** A list for `in` and `not in`; none for `is null` and `is not null`. */
  readonly value?: RowValue | readonly RowValue[] | undefined;
}
export type RowValue = string | number | boolean;

/**
 * A set of rows of one shape. `name` (with `namespace`) identifies it for good: renaming one is a
 * breaking change.
 */
export interface Stream {
  readonly name: string;
  /** Groups streams where names repeat, as a database schema does. */
  readonly namespace?: string;
  /** One sentence for the person who selects streams. */
  readonly description?: string | undefined;
  /**
   * An object schema. Only its declared properties ever leave; a value of another type is written
   * as null and noted. Build it with TypeBox: `Type.Object({ id: Type.String(), opened_at:
   * Nullable(Timestamp()) })`.
   */
  readonly schema: TObject | JsonSchema;
  /** Properties that together identify a row. They must be present and not null in every row. */
  readonly primaryKey?: readonly string[] | undefined;
  /**
   * The property that orders rows for incremental reads; leave it out when the user chooses one.
   */
  readonly cursorField?: string | undefined;
  /**
   * Columns that the user might choose as the cursor, the best one first: a proposal, never used
   * unless somebody chooses it.
   */
  readonly proposedCursors?: readonly CursorProposal[] | undefined;
  /**
   * About how many rows there are, where the provider says it without counting: for progress alone.
   */
  readonly estimatedRows?: number | undefined;
  /** Default: `["full_refresh"]`. */
  readonly syncModes?: readonly SyncMode[] | undefined;
  /** True when a full refresh can go on from a checkpoint after a crash. */
  readonly isResumable?: boolean | undefined;
  /** True when `read` keeps to the `rowFilter` of the selected stream. */
  readonly supportsRowFilter?: boolean | undefined;
}

/**
 * A stream as the user selected it; what `read` receives. Properties that the author added to the
 * stream are kept.
 */
export type SelectedStream<S extends Stream = Stream> = S & {
  readonly syncMode: SyncMode;
  /**
   * The cursor to use: the user's choice, else the stream's own. Set for every incremental read.
   */
  readonly cursorField?: string | undefined;
  /** Properties that the user wants; undefined = all. Others are dropped on output in any case. */
  readonly selectedFields?: readonly string[] | undefined;
  /** Only rows that meet all of them are read; never there unless the stream supports it. */
  readonly rowFilter?: readonly RowCondition[] | undefined;
};
