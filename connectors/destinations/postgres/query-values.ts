import { type JsonValue, parseExact, rawJson } from "svc-connectors";

/** OIDs of built-in types never change. @see pg_type.dat of PostgreSQL */
const oids = {
  bool: 16,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  timestamp: 1114,
  timestamptz: 1184,
  jsonb: 3802,
} as const;

/** A value as the server writes it, as JSON. Integers beyond 2^53 and exact decimals stay text. */
export function toJson(text: string | null, oid: number): JsonValue {
  if (text === null) return null;
  switch (oid) {
    case oids.bool:
      return text === "t";
    case oids.int2:
    case oids.int4:
    case oids.oid:
      return Number(text);
    case oids.int8:
      return Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case oids.float4:
    case oids.float8:
      return Number.isFinite(Number(text)) ? Number(text) : text;
    case oids.timestamp:
      return text.charCodeAt(10) === 32 ? text.replace(" ", "T") : text;
    case oids.timestamptz:
      return text.charCodeAt(10) === 32 && text.endsWith("+00")
        ? `${text.slice(0, -3).replace(" ", "T")}Z`
        : text;
    case oids.json:
    case oids.jsonb:
      return plain(parseExact(text));
    default:
      return text;
  }
}

/** Numbers that a double cannot hold are text here too. */
function plain(value: unknown): JsonValue {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value as JsonValue;
  if (Array.isArray(value)) return value.map(plain);
  if (isRaw(value)) return value.rawJSON;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

const rawPrototype: unknown = Object.getPrototypeOf(rawJson("0"));

const isRaw = (value: object): value is { readonly rawJSON: string } =>
  Object.getPrototypeOf(value) === rawPrototype;
