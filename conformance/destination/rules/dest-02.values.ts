/**
 * Values that a careless destination changes, and whether one that comes back is still the same.
 */

import { type JsonValue, parseExact } from "svc-connectors";
import { canonicalize, isPlainObject } from "svc-connectors/host";
import type { Random } from "../../contract/random.ts";

export type Kind =
  | "integer"
  | "decimal"
  | "number"
  | "instant"
  | "local"
  | "date"
  | "text"
  | "boolean"
  | "json";

export interface ColumnCase {
  readonly kind: Kind;
  readonly schema: object;
  /** As JSON, digit for digit. */
  readonly literals: readonly string[];
}

const quoted = (texts: readonly string[]) => texts.map((one) => JSON.stringify(one));

export const columns: Readonly<Record<string, ColumnCase>> = {
  whole: {
    kind: "integer",
    schema: { type: "integer" },
    literals: ["0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"],
  },
  wide: {
    kind: "integer",
    schema: { type: "integer", airbyte_type: "big_integer" },
    literals: [
      "123456789012345678901234567890",
      "-98765432109876543210987654321",
      "18446744073709551616",
    ],
  },
  price: {
    kind: "decimal",
    schema: { type: "number", airbyte_type: "big_number", precision: 38, scale: 10 },
    literals: [
      "1234567890123456.1234567891",
      "-0.0000000001",
      "0.1",
      "9999999999999999999999999999.9999999999",
    ],
  },
  exact: {
    kind: "decimal",
    schema: { type: "number", airbyte_type: "big_number" },
    literals: ["0.1000000000000000000001", "79228162514264337593543950335.1", "-17"],
  },
  rate: {
    kind: "number",
    schema: { type: "number" },
    literals: ["0.1", "1e308", "5e-324", "-1.5", "0"],
  },
  moment: {
    kind: "instant",
    schema: { type: "string", format: "date-time" },
    literals: quoted([
      "2024-01-01T02:00:00.123456+02:00",
      "1969-12-31T23:59:59.999999Z",
      "9999-12-31T23:59:59.999999Z",
      "2024-03-31T01:30:00-09:30",
    ]),
  },
  local: {
    kind: "local",
    schema: { type: "string", format: "date-time", airbyte_type: "timestamp_without_timezone" },
    literals: quoted(["2024-01-01T02:00:00.500001", "1900-02-28T23:59:59"]),
  },
  day: {
    kind: "date",
    schema: { type: "string", format: "date" },
    literals: quoted(["0044-03-15", "2024-02-29", "9999-12-31"]),
  },
  flag: { kind: "boolean", schema: { type: "boolean" }, literals: ["true", "false"] },
  words: {
    kind: "text",
    schema: { type: "string" },
    literals: quoted([
      "",
      " ",
      "  two spaces around  ",
      "null",
      "NULL",
      "\\N",
      "\\.",
      "a\tb\nc\rd",
      "\\",
      "\\\\n",
      "ü 😀 \u{1F468}\u200D\u{1F469} ß",
      "\u2028\u2029\ufeff",
      "'\"`;--",
      "true",
      "007",
      "{}",
      "=1+1",
      "x,y;z|w",
      "ﷺ",
      "\u0001\u001f\u007f",
    ]),
  },
  data: {
    kind: "json",
    schema: { type: "object" },
    literals: [
      '{"a":[1,{"b":null,"c":"é\\u2028"}],"e":{}}',
      '{"id":9007199254740993,"":{"":[]}}',
      `${'{"a":'.repeat(60)}"deep"${"}".repeat(60)}`,
      '{"__proto__":{"x":"\\\\u0041"},"k\\"":"\\n"}',
    ],
  },
  list: {
    kind: "json",
    schema: { type: "array" },
    literals: ['[1.5,"2",null,true]', "[]", '[[[]],{"a":[]}]'],
  },
};

/**
 * A value of the kind that nobody thought of; undefined where the table above has all that matters.
 */
export function anyLiteral(kind: Kind, random: Random): string | undefined {
  const digits = (count: number) => Array.from({ length: count }, () => random.below(10)).join("");
  const sign = random.below(2) === 0 ? "" : "-";
  switch (kind) {
    case "integer":
      return `${sign}${1 + random.below(8)}${digits(random.below(18))}`;
    case "decimal":
      return `${sign}${1 + random.below(9)}${digits(random.below(20))}.${digits(9)}1`;
    case "number":
      return JSON.stringify(
        Number(`${sign}${1 + random.below(9)}.${digits(14)}e${random.below(200) - 100}`),
      );
    case "instant":
      return JSON.stringify(
        `20${digits(2)}-0${1 + random.below(9)}-1${random.below(10)}T1${random.below(10)}:${random.below(6)}0:00.${digits(6)}Z`,
      );
    case "text":
      return JSON.stringify(
        Array.from({ length: random.below(40) }, () =>
          String.fromCodePoint(anyCodePoint(random)),
        ).join(""),
      );
    default:
      return undefined;
  }
}

function anyCodePoint(random: Random): number {
  const from = [0x20, 0xa0, 0x400, 0x4e00, 0x1f300][random.below(5)] ?? 0x20;
  return from + random.below(90);
}

/** `literal`: as it was written; `actual`: as the destination's query gives it. */
export function isSameValue(kind: Kind, literal: string, actual: JsonValue): boolean {
  if (literal === "null" || actual === null) return literal === "null" && actual === null;
  const given = String(actual);
  const written =
    kind === "integer" || kind === "decimal" || kind === "number"
      ? literal
      : String(JSON.parse(literal));
  switch (kind) {
    case "integer":
    case "decimal":
      return plainDecimal(written) === plainDecimal(given);
    case "number":
      return Number(written) === Number(given);
    case "instant":
    case "local":
      return (
        toMicroseconds(written) !== undefined && toMicroseconds(written) === toMicroseconds(given)
      );
    case "date":
      return given.slice(0, 10) === written;
    case "boolean":
      return given === written;
    case "text":
      return given === written;
    case "json":
      return (
        comparable(parseExact(literal)) ===
        comparable(typeof actual === "string" ? parseOrText(actual) : actual)
      );
  }
}

/** A decimal without sign of zero, exponent, and zeros that say nothing. */
function plainDecimal(text: string): string {
  const [, sign = "", whole = "0", part = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (!/^-?\d/.test(text)) return text;
  const shift = Number(exponent);
  const digits = whole + part.padEnd(Math.max(part.length, shift), "0");
  const point = whole.length + shift;
  const padded = point <= 0 ? "0".repeat(1 - point) + digits : digits;
  const at = point <= 0 ? 1 : point;
  const plain = `${padded.slice(0, at).replace(/^0+(?=\d)/, "")}.${padded.slice(at)}`.replace(
    /\.?0*$/,
    (end) => (end.startsWith(".") ? "" : end),
  );
  const trimmed = plain.includes(".") ? plain.replace(/0+$/, "").replace(/\.$/, "") : plain;
  return trimmed === "0" ? "0" : sign + trimmed;
}

const timestampForm =
  /^(\d{4,6})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?\s*(Z|[+-]\d\d(?::?\d\d)?)?$/;

function toMicroseconds(text: string): bigint | undefined {
  const found = timestampForm.exec(text);
  if (!found) return undefined;
  const [, year = "", month, day, hour, minute, second, part = "", zone = "Z"] = found;
  const [, sign = "+", zoneHours = "0", zoneMinutes = "0"] =
    /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  const offsetMinutes =
    (sign === "-" ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes ?? 0));
  const utc = new Date(0);
  utc.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  utc.setUTCHours(Number(hour), Number(minute) - offsetMinutes, Number(second));
  return BigInt(utc.getTime()) * 1_000n + BigInt(part.padEnd(6, "0").slice(0, 6));
}

function parseOrText(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text;
  }
}

/** One text for the same JSON; integers beyond 2^53 are texts, as queries give them. */
const comparable = (value: unknown) => canonicalize(withLongIntegersAsText(value));

function withLongIntegersAsText(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(withLongIntegersAsText);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, withLongIntegersAsText(part)]),
  );
}
