/** Errors of PostgreSQL that a reader meets. */
import type { DatabaseFault, DatabaseFaults } from "../contract/database-sql.ts";

const error = (sqlState: string, message: string, isTransient: boolean): DatabaseFault => ({
  name: `answered ${sqlState} (${message})`,
  kind: "status",
  isTransient,
  type: { severity: "ERROR", sqlState, message },
});

/** @see PostgreSQL, appendix A: the codes that a reader meets */
const sweep: readonly DatabaseFault[] = [
  error("42501", "permission denied for table notes", false),
  error("42P01", 'relation "notes" does not exist', false),
  error("22P02", "invalid input syntax for type integer", false),
  error("XX001", "invalid page in block 7 of relation base/1/2", false),
  error("40001", "canceling statement due to conflict with recovery", true),
  error("57014", "canceling statement due to statement timeout", true),
  error("53200", "out of memory", true),
  {
    name: "answered 57P01 and the end of the session",
    kind: "connection",
    isTransient: true,
    type: {
      severity: "FATAL",
      sqlState: "57P01",
      message: "terminating connection due to administrator command",
    },
  },
  { name: "broken by a reset", kind: "connection", isTransient: true, type: "reset" },
];

/** SQLSTATE of errors of a statement, and of those that end the session. */
const statementErrors = [
  "42501",
  "42P01",
  "42703",
  "22P02",
  "57014",
  "40001",
  "55000",
  "53200",
  "P0001",
  "XX000",
];
const sessionErrors = ["57P01", "53300", "28000"];

const toCode = (sqlState: string) => ({ sqlState });

export const postgresFaults: DatabaseFaults = {
  sweep,
  statementErrors: statementErrors.map(toCode),
  sessionErrors: sessionErrors.map(toCode),
  shutdown: { severity: "FATAL", sqlState: "57P01", message: "terminating connection" },
  goneDatabase: ["config"],
  scheme: "postgres",
};
