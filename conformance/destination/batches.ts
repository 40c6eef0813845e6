/**
 * Rows that are written down as JSON lines, as the batches in which a read brings them. Each column
 * has the encoding that a database's source chooses where all of its values have it, or the texts
 * of a source that reads an API.
 */
import { type JsonObject, parseExact, rawJson, streamFields } from "svc-connectors";
import type { Batch, BatchField, Column, ConfiguredStream } from "svc-connectors/host";

/** `texts`: dates, times, UUIDs and bytes are the texts that an API gives. */
export type BatchForm = "columns" | "texts";

/**
 * The lines as one batch of the stream. What its column cannot have is null, and noted, as the
 * runtime does it.
 */
export function batchOfLines(
  { stream, sync_mode, cursor_field: cursor, selected_fields: selected }: ConfiguredStream,
  lines: readonly string[],
  form: BatchForm = "columns",
): Batch {
  const [cursorField] = cursor ?? [];
  const fields = streamFields({
    schema: stream.json_schema,
    primaryKey: stream.source_defined_primary_key.flatMap(([name]) => name ?? []),
    syncMode: sync_mode,
    ...(cursorField !== undefined && { cursorField }),
    ...(selected && { selectedFields: selected }),
  });
  const rows = lines.map((line) => parseExact(line) as Row);
  const noted = rows.map((row) => notedFields(row));
  const columns = fields.map((field) => {
    const values = rows.map((row, index) => {
      const value = Object.hasOwn(row, field.name) ? row[field.name] : undefined;
      if (value === undefined || value === null) return undefined;
      const text = textOf(field.kind, value);
      if (text === undefined) noted[index]?.push(field.name);
      return text;
    });
    return columnOf(field, values, form);
  });
  const notes = noted.flatMap((names, row) => (names.length === 0 ? [] : [{ row, fields: names }]));
  return { rowCount: rows.length, columns, notes };
}

type Row = { readonly [property: string]: unknown };

function notedFields({ _svc_meta: meta }: Row): string[] {
  const { changes = [] } = (meta ?? {}) as { readonly changes?: readonly JsonObject[] };
  return changes.map(({ field }) => String(field));
}

/** The text of a value that a column of the kind can have; undefined: it cannot. */
function textOf(kind: BatchField["kind"], value: unknown): string | undefined {
  if (kind === "json") return jsonOf(value);
  if (kind === "boolean") return typeof value === "boolean" ? String(value) : undefined;
  if (kind !== "integer" && kind !== "number") return typeof value === "string" ? value : undefined;
  if (kind === "number" && endless.has(value)) return String(value);
  const text = typeof value === "boolean" ? "" : jsonOf(value);
  return /^-?\d/.test(text) && (kind === "number" || isWhole(text)) ? text : undefined;
}

/** Numbers that JSON does not have, as texts. */
const endless: ReadonlySet<unknown> = new Set(["NaN", "Infinity", "-Infinity"]);

const jsonOf = (value: unknown) =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "bigint" || Object.is(part, -0)
      ? rawJson(typeof part === "bigint" ? String(part) : "-0")
      : part,
  );

const isWhole = (text: string) => /^-?\d+$/.test(text) || Number.isInteger(Number(text));

type Texts = readonly (string | undefined)[];

function columnOf(field: BatchField, texts: Texts, form: BatchForm): Column {
  const base = { ...field, validity: validityOf(texts) };
  const { kind } = field;
  const isNumeric = kind === "integer" || kind === "number";
  const isTried = form === "columns" || isNumeric || kind === "boolean";
  const values = isTried ? valuesOf(kind, texts) : undefined;
  if (values) return { ...base, ...values } as Column;
  const encoding = isNumeric ? "number" : kind === "json" ? "json" : "utf8";
  return { ...base, encoding, ...inOne(texts.map((text) => Buffer.from(text ?? ""))) };
}

/** The values, where each of them has the usual encoding of its kind. */
function valuesOf(kind: BatchField["kind"], texts: Texts): object | undefined {
  switch (kind) {
    case "boolean": {
      const values = all(texts, 0, (text) => Number(text === "true"));
      return values && { encoding: "bool", values: Uint8Array.from(values) };
    }
    case "integer": {
      const values = all(texts, 0n, longOf);
      return values && { encoding: "int64", values: BigInt64Array.from(values) };
    }
    case "number": {
      const values = all(texts, 0, (text) =>
        String(Number(text)) === text ? Number(text) : undefined,
      );
      return values && { encoding: "float64", values: Float64Array.from(values) };
    }
    case "date": {
      const values = all(texts, 0, dayOf);
      return values && { encoding: "date32", values: Int32Array.from(values) };
    }
    case "time": {
      const values = all(texts, 0n, (text) => instantOf(`1970-01-01T${text}`, "Z"));
      return values && { encoding: "time64", values: BigInt64Array.from(values) };
    }
    case "timestamp":
    case "timestamptz": {
      const zone = kind === "timestamp" ? "Z" : "";
      const values = all(texts, 0n, (text) => instantOf(text, zone));
      return values && { encoding: "timestamp64", values: BigInt64Array.from(values) };
    }
    case "uuid": {
      const values = all(texts, Buffer.alloc(16), (text) =>
        uuidForm.test(text) ? Buffer.from(text.replaceAll("-", ""), "hex") : undefined,
      );
      return values && { encoding: "uuid128", values: new Uint8Array(Buffer.concat(values)) };
    }
    case "binary": {
      const values = all(texts, Buffer.alloc(0), (text) => {
        const bytes = Buffer.from(text, "base64");
        return bytes.toString("base64") === text ? bytes : undefined;
      });
      return values && { encoding: "binary", ...inOne(values) };
    }
    default:
      return undefined;
  }
}

/** Undefined where one of the values has none. */
function all<T>(texts: Texts, ofNull: T, read: (text: string) => T | undefined): T[] | undefined {
  const values: T[] = [];
  for (const text of texts) {
    const value = text === undefined ? ofNull : read(text);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

const uuidForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

function longOf(text: string): bigint | undefined {
  const value = /^-?\d+$/.test(text) && text !== "-0" ? BigInt(text) : undefined;
  return value === undefined || BigInt.asIntN(64, value) !== value ? undefined : value;
}

const dayMs = 86_400_000;

function dayOf(text: string): number | undefined {
  const ms = /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(text) ? undefined : ms / dayMs;
}

const instantForm =
  /^((?!0000)\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([Zz]|[+-]\d\d:\d\d)?$/;

/** Microseconds since 1970. `zone`: what a text has none of; empty: it has one. */
function instantOf(text: string, zone: string): bigint | undefined {
  const [, day = "", time = "", part = "", own = ""] = instantForm.exec(text) ?? [];
  if (dayOf(day) === undefined || (own === "") === (zone === "")) return undefined;
  const ms = Date.parse(`${day}T${time}${(zone || own).toUpperCase()}`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000n + BigInt(part.padEnd(6, "0"));
}

function inOne(parts: readonly Uint8Array[]) {
  const offsets = new Uint32Array(parts.length + 1);
  for (const [row, part] of parts.entries())
    offsets[row + 1] = (offsets[row] as number) + part.length;
  return { offsets, bytes: new Uint8Array(Buffer.concat(parts)) };
}

function validityOf(texts: Texts): Uint8Array | undefined {
  if (!texts.includes(undefined)) return undefined;
  const bits = new Uint8Array((texts.length + 7) >> 3);
  for (const [row, text] of texts.entries())
    if (text !== undefined) bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
  return bits;
}
