import type { DuckDBType } from "@duckdb/node-api";

/** Gives DuckDB's own form of the types that values are given in. */
export async function loadLogicalTypes(): Promise<(type: string) => DuckDBType> {
  const duckdb = await import("@duckdb/node-api");
  const types: Readonly<Record<string, DuckDBType>> = {
    BOOLEAN: duckdb.BOOLEAN,
    INTEGER: duckdb.INTEGER,
    BIGINT: duckdb.BIGINT,
    DOUBLE: duckdb.DOUBLE,
    DATE: duckdb.DATE,
    TIME: duckdb.TIME,
    TIMESTAMP: duckdb.TIMESTAMP,
    TIMESTAMPTZ: duckdb.TIMESTAMPTZ,
    INTERVAL: duckdb.INTERVAL,
    UUID: duckdb.UUID,
    BLOB: duckdb.BLOB,
  };
  return (type) => {
    const [, precision, scale] = /^DECIMAL\((\d+),(\d+)\)$/.exec(type) ?? [];
    if (precision !== undefined) return duckdb.DECIMAL(Number(precision), Number(scale));
    return types[type] ?? duckdb.VARCHAR;
  };
}
