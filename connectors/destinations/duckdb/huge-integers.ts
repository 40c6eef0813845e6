import type { DuckDBConnection } from "@duckdb/node-api";
import { quoteName } from "svc-connectors/destination";

const largest = "9".repeat(38);

/** Whether all integers of a HUGEINT column have at most 38 digits, so that decimals hold them. */
export async function fitsDecimal(
  connection: DuckDBConnection,
  table: string,
  column: string,
): Promise<boolean> {
  const name = quoteName(column);
  const result = await connection.runAndReadAll(
    `SELECT bool_and(${name} BETWEEN -${largest} AND ${largest}) FROM ${table}`,
  );
  return result.getRowsJS()[0]?.[0] !== false;
}
