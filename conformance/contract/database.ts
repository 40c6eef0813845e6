/**
 * A real database under a connector: what stands in for the provider of connectors that speak to
 * one.
 */
import type { JsonObject } from "svc-connectors";
import type { DatabaseSql } from "./database-sql.ts";

/**
 * The database of the connector's runs. It holds what seed.sql says, and the connector's role may
 * only read it.
 */
export interface Database extends DatabaseCopy {
  /** The SQL that filled it. */
  readonly seed: string;
  /** The role that the connector logs in as. */
  readonly role: string;
  /** The SQL of its kind. */
  readonly sql: DatabaseSql;
  /**
   * Another database, as the seed made this one and changed by the SQL, so that what a run meets or
   * does there stays there.
   */
  copy(sql?: string): Promise<DatabaseCopy & AsyncDisposable>;
  /** Runs the work while the role has another password. */
  withPassword<T>(password: string, work: () => Promise<T>): Promise<T>;
}

/** SQL of the kit runs as the database's owner, each call in a session of its own. */
export interface DatabaseCopy {
  readonly name: string;
  /** Runs from now on meet this one: some servers have one at a time. */
  use(): Promise<void>;
  /** Statements without a result. @throws Error with the server's own words */
  execute(sql: string): Promise<void>;
  /** The rows of one SELECT: values parsed exactly, or as texts. */
  rows(select: string): Promise<readonly JsonObject[]>;
}

/** A fault of the query of that index, and with `isLasting` with all after it. */
export interface QueryFault {
  readonly at: number;
  readonly isLasting?: boolean | undefined;
  readonly type: "reset" | "hang" | DatabaseError;
}

/** The error that the server answers with in place of a result. FATAL also ends the session. */
export interface DatabaseError {
  readonly sqlState: string;
  /** Where errors have a number besides. */
  readonly number?: number | undefined;
  readonly severity: "ERROR" | "FATAL";
  readonly message: string;
  readonly detail?: string | undefined;
}

/** One statement that arrived at the database, and what became of it. */
export interface Query {
  readonly sql: string;
  /** Virtual time. */
  readonly atMs: number;
  readonly rowCount: number;
  /** SQLSTATE of the error that it was answered with. */
  readonly error?: string | undefined;
}
