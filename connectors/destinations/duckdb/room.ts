/** Whether the types of files have room for all values of a column of DuckDB. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { quoteName } from "svc-connectors/destination";

const largest = "9".repeat(38);

/** Whether all integers of a HUGEINT column have at most 38 digits, so that decimals hold them. */
export const fitsDecimal = (connection: DuckDBConnection, table: string, column: string) =>
  holdsForAll(connection, table, `${quoteName(column)} BETWEEN -${largest} AND ${largest}`);

/** Whether the hours, minutes and seconds of all intervals are nanoseconds of 64 bits. */
export const fitsNanoseconds = (connection: DuckDBConnection, table: string, column: string) =>
  holdsForAll(connection, table, `abs(hour(${quoteName(column)})) < 2562047`);

async function holdsForAll(
  connection: DuckDBConnection,
  table: string,
  condition: string,
): Promise<boolean> {
  const result = await connection.runAndReadAll(`SELECT bool_and(${condition}) FROM ${table}`);
  return result.getRowsJS()[0]?.[0] !== false;
}
