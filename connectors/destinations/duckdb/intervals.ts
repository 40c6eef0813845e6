/**
 * Intervals: months, days and microseconds, in 16 bytes in DuckDB, and in ISO 8601 as text. DuckDB
 * itself does not read that text.
 */
import { type BatchColumn, isValid } from "svc-connectors/destination";
import { type Texts, textAt } from "./strings.ts";

interface Interval {
  readonly months: number;
  readonly days: number;
  readonly micros: bigint;
}

const form =
  /^P(?=.)(?:(-?\d{1,9})Y)?(?:(-?\d{1,10})M)?(?:(-?\d{1,10})D)?(?:T(?=.)(?:(-?\d{1,10})H)?(?:(-?\d{1,10})M)?(?:(-?)(\d{1,12})(?:\.(\d{1,6}))?S)?)?$/;

/** Undefined when the text is no interval, or one that DuckDB has no room for. */
function parseInterval(text: string): Interval | undefined {
  const parts = form.exec(text);
  if (!parts) return undefined;
  const [, years, more, days = "0", hours = "0", minutes = "0", sign, seconds = "0", rest] = parts;
  const months = Number(years ?? 0) * 12 + Number(more ?? 0);
  const part = BigInt(seconds) * 1_000_000n + BigInt((rest ?? "").padEnd(6, "0"));
  const micros =
    (BigInt(hours) * 60n + BigInt(minutes)) * 60_000_000n + (sign === "-" ? -part : part);
  const fits =
    (months | 0) === months &&
    (Number(days) | 0) === Number(days) &&
    BigInt.asIntN(64, micros) === micros;
  return fits ? { months, days: Number(days), micros } : undefined;
}

/** The texts as they lie in a vector; undefined when some text is no interval. */
export function intervalValues(
  column: BatchColumn & Texts,
  rowCount: number,
): Uint8Array | undefined {
  const values = new DataView(new ArrayBuffer(rowCount * 16));
  for (let row = 0; row < rowCount; row++) {
    if (!isValid(column, row)) continue;
    const interval = parseInterval(textAt(column, row).toString("latin1"));
    if (!interval) return undefined;
    values.setInt32(row * 16, interval.months, true);
    values.setInt32(row * 16 + 4, interval.days, true);
    values.setBigInt64(row * 16 + 8, interval.micros, true);
  }
  return new Uint8Array(values.buffer);
}

/** An interval as PostgreSQL writes it in ISO 8601. */
export function intervalText({ months, days, micros }: Interval): string {
  const [years, more] = [Math.trunc(months / 12), months % 12];
  const [hours, minutes] = [micros / 3_600_000_000n, (micros / 60_000_000n) % 60n];
  const rest = micros % 60_000_000n;
  const [size, sign] = rest < 0n ? [-rest, "-"] : [rest, ""];
  const fraction = String(size % 1_000_000n)
    .padStart(6, "0")
    .replace(/0+$/, "");
  const seconds = `${sign}${size / 1_000_000n}${fraction === "" ? "" : `.${fraction}`}`;
  const part = (value: bigint | number, unit: string) => (Number(value) === 0 ? "" : value + unit);
  const date = `${part(years, "Y")}${part(more, "M")}${part(days, "D")}`;
  const time = `${part(hours, "H")}${part(minutes, "M")}${rest === 0n ? "" : `${seconds}S`}`;
  if (date === "" && time === "") return "PT0S";
  return `P${date}${time === "" ? "" : `T${time}`}`;
}

/** An expression that gives the same text. */
export function intervalTextSql(value: string): string {
  const part = (name: string, unit: string) =>
    `CASE ${name}(${value}) WHEN 0 THEN '' ELSE ${name}(${value}) || '${unit}' END`;
  const rest = `microsecond(${value})`;
  const fraction = `rtrim(rtrim(printf('%d.%06d', abs(${rest}) // 1000000, abs(${rest}) % 1000000), '0'), '.')`;
  const seconds = `CASE ${rest} WHEN 0 THEN '' ELSE CASE WHEN ${rest} < 0 THEN '-' ELSE '' END || ${fraction} || 'S' END`;
  const date = [part("year", "Y"), part("month", "M"), part("day", "D")].join(" || ");
  const time = [part("hour", "H"), part("minute", "M"), seconds].join(" || ");
  return `CASE WHEN ${value} IS NULL THEN NULL ELSE coalesce(nullif('P' || ${date} || coalesce('T' || nullif(${time}, ''), ''), 'P'), 'PT0S') END`;
}
