/** Errors of MySQL and MariaDB that a reader meets. */
import type { DatabaseFault, DatabaseFaults } from "../contract/database-sql.ts";

const error = (
  number: number,
  sqlState: string,
  message: string,
  isTransient: boolean,
): DatabaseFault => ({
  name: `answered ${number} (${message})`,
  kind: "status",
  isTransient,
  type: { severity: "ERROR", number, sqlState, message },
});

const shutdown = {
  severity: "FATAL",
  number: 1053,
  sqlState: "08S01",
  message: "Server shutdown in progress",
} as const;

export const mysqlFaults: DatabaseFaults = {
  /**
   * @see https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html (read 2026-11)
   */
  sweep: [
    error(1142, "42000", "SELECT command denied to user for table notes", false),
    error(1146, "42S02", "Table notes doesn't exist", false),
    error(1030, "HY000", "Got error 126 from storage engine", false),
    error(1366, "22007", "Incorrect integer value", false),
    error(1213, "40001", "Deadlock found when trying to get lock", true),
    error(1205, "HY000", "Lock wait timeout exceeded", true),
    error(1969, "70100", "Query execution was interrupted (max_statement_time exceeded)", true),
    error(1037, "HY001", "Out of memory", true),
    {
      name: "answered 1053 and the end of the session",
      kind: "connection",
      isTransient: true,
      type: shutdown,
    },
    { name: "broken by a reset", kind: "connection", isTransient: true, type: "reset" },
  ],
  statementErrors: [
    { number: 1142, sqlState: "42000" },
    { number: 1146, sqlState: "42S02" },
    { number: 1054, sqlState: "42S22" },
    { number: 1064, sqlState: "42000" },
    { number: 1205, sqlState: "HY000" },
    { number: 1213, sqlState: "40001" },
    { number: 1366, sqlState: "22007" },
    { number: 1644, sqlState: "45000" },
    { number: 1105, sqlState: "HY000" },
  ],
  sessionErrors: [
    { number: 1053, sqlState: "08S01" },
    { number: 1040, sqlState: "08004" },
    { number: 1045, sqlState: "28000" },
  ],
  shutdown,
  // Whoever has no right to a database is not told whether there is one.
  goneDatabase: ["config", "permission", "auth"],
  scheme: "mysql",
};
