/** The SQL and the errors of a kind of database, as rules need them. */
import type { DatabaseCopy, DatabaseError, QueryFault } from "./database.ts";
import type { DatabaseLog } from "./database-log.ts";
import type { ErrorClass } from "./observation.ts";

export interface DatabaseSql {
  /** A name in SQL. */
  identifier(name: string): string;
  literal(value: string): string;
  /** Whether a table or a column may have the name. */
  canName(name: string): boolean;
  /** A stream's table in SQL. */
  tableName(stream: TableStream): string;
  /** A table of the kit's own in SQL. */
  ownTable(name: string): string;
  /** The prefix of such a table's name in the patterns of a connector's settings. */
  readonly patternPrefix: string;
  /** A type of texts that may be a key. */
  readonly keyType: string;
  /** Statements for a copy. Its login is the `role`. */
  readonly statements: DatabaseStatements;
  /** Errors of this kind of server that rules have it answer. */
  readonly faults: DatabaseFaults;
  /** Tables of values that are easily lost. */
  readonly values: { readonly numbers: ValueTable; readonly texts: ValueTable };
  readonly uncommonTables: readonly UncommonTable[];
  /** The log of changes, where it can be read. */
  readonly log?: DatabaseLog | undefined;

  /** The streams' tables that are no views: their rows can be changed. In SQL. */
  baseTables(copy: DatabaseCopy): Promise<ReadonlySet<string>>;
  hasOwnTable(copy: DatabaseCopy, name: string): Promise<boolean>;
  /** A number that grows with everything that is written, also where it is rolled back. */
  countWrites(copy: DatabaseCopy): Promise<bigint>;
  /** All rows and columns of a stream's table. */
  tableRows(copy: DatabaseCopy, stream: TableStream): Promise<TableRows>;
  /** Whether a value of another form is the same of the column's type. */
  isSameValue(
    copy: DatabaseCopy,
    column: TableColumn,
    text: string,
    given: string,
  ): Promise<boolean>;
  /** Values that JSON or RFC 3339 cannot write may become null. */
  isUnwritable(text: string): boolean;
}

export interface TableStream {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface DatabaseStatements {
  /** No table has a row any more. */
  readonly empty: string;
  /** Triggers and foreign keys are not looked at while the kit moves rows about. */
  readonly unchecked: string;
  /** The role may not read this table any more, and knows of it. */
  revoke(table: string, role: string): string;
  /** The role may read no table. */
  revokeAll(role: string): string;
  /** The role may not connect to the database. */
  revokeAccess(role: string): string;
  /** The role may do everything there. */
  grantAll(role: string): string;
  /** The role may read the tables that there are now. */
  grantTables(role: string): string;
  /** The role may read the tables that will be made. */
  grantLater(role: string): string;
  /** Many tables with the numbers from `first` to `last` behind the prefix. */
  makeTables(prefix: string, first: number, last: number): string;
}

export interface DatabaseFaults {
  /** Errors that may answer a statement, and whether each is transient. */
  readonly sweep: readonly DatabaseFault[];
  /** Errors whose texts will say too much: of a statement, and those that end the session. */
  readonly statementErrors: readonly ErrorCode[];
  readonly sessionErrors: readonly ErrorCode[];
  readonly shutdown: DatabaseError;
  /** Classes of a check of a database that there is not. */
  readonly goneDatabase: readonly ErrorClass[];
  /** How connection strings begin. */
  readonly scheme: string;
}

export type ErrorCode = Pick<DatabaseError, "sqlState" | "number">;

export interface DatabaseFault {
  readonly name: string;
  readonly kind: "status" | "connection";
  readonly isTransient: boolean;
  readonly type: QueryFault["type"];
}

export interface ValueTable {
  readonly name: string;
  /** SQL type → values as texts. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
}

/** A table with rows as few databases have them: wide, long, deep. */
export interface UncommonTable {
  /** Name of the table. */
  readonly name: string;
  /** "a row of 10 MB". */
  readonly what: string;
  readonly sql: string;
}

export interface TableColumn {
  readonly name: string;
  /** Type in SQL. */
  readonly type: string;
}

/** A value as the database writes it: as JSON and as text. */
export interface Cell {
  readonly json: unknown;
  readonly text: string | null;
}

export interface TableRows {
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly Cell[])[];
}
