import type {
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBIntervalValue,
  DuckDBValueConverter,
  Json,
} from "@duckdb/node-api";
import { intervalText } from "./intervals.ts";

/** The days that stand for infinity. */
const endlessDay = 2 ** 31 - 1;

/**
 * Values as JSON: integers beyond 2^53, exact decimals, dates, times and intervals are text, bytes
 * are base64.
 * @param fallback DuckDB's own way
 */
export function createToJson(fallback: DuckDBValueConverter<Json>): DuckDBValueConverter<Json> {
  return (value, type, convert) => {
    if (typeof value === "bigint") return fromInteger(value);
    if (value !== null && String(type) === "BLOB")
      return Buffer.from((value as DuckDBBlobValue).bytes).toString("base64");
    if (value !== null && String(type) === "INTERVAL")
      return intervalText(value as DuckDBIntervalValue);
    if (value !== null && String(type) === "DATE") {
      // DuckDB's own way makes days of them.
      const { days } = value as DuckDBDateValue;
      if (Math.abs(days) === endlessDay) return days > 0 ? "infinity" : "-infinity";
    }
    return fallback(value, type, convert);
  };
}

const fromInteger = (value: bigint): Json =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
    ? Number(value)
    : String(value);

/** The value of a JSON column. Text that is no JSON stays text. */
export function fromJson(text: Json): Json {
  if (typeof text !== "string") return text;
  try {
    return JSON.parse(text, (_, value: Json, context?: { source?: string }) =>
      typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value)
        ? (context?.source ?? String(value))
        : value,
    ) as Json;
  } catch {
    return text;
  }
}
