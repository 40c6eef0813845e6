/**
 * Columns as hashes: a value leaves as HMAC-SHA-256 of its text under a key that stays here. Equal
 * values have equal hashes under one key, null stays null.
 * @see docs/decisions/0039
 */
import { createHmac, createSecretKey } from "node:crypto";
import { type Batch, type Column, endlessDay, isValid } from "../contract/batch.ts";
import { isZero, withoutEnd } from "../wire/without-end.ts";
import { isEndless, textWriter } from "./value-texts.ts";

/** Hexadecimal digits of a hash. */
const hashLength = 64;

/** @param fields the columns whose values are replaced */
export function createBatchHasher(
  fields: readonly string[],
  key: Uint8Array,
): (batch: Batch) => Batch {
  const hashed = new Set(fields);
  const secret = createSecretKey(key);
  const hashOf = (text: Uint8Array | string) =>
    createHmac("sha256", secret).update(text).digest("hex");
  return (batch) => ({
    ...batch,
    columns: batch.columns.map((column) =>
      hashed.has(column.name) ? hashColumn(column, batch.rowCount, hashOf) : column,
    ),
  });
}

function hashColumn(
  column: Column,
  rowCount: number,
  hashOf: (text: Uint8Array | string) => string,
): Column {
  const textOf = plainTexts(column);
  const offsets = new Uint32Array(rowCount + 1);
  const bytes = Buffer.allocUnsafe(rowCount * hashLength);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    if (isValid(column, row)) at += bytes.write(hashOf(textOf(row)), at, "latin1");
    offsets[row + 1] = at;
  }
  const { name, isNullable, isKey, validity } = column;
  return {
    name,
    kind: "text",
    isNullable,
    isKey,
    validity,
    encoding: "utf8",
    offsets,
    bytes: bytes.subarray(0, at),
  };
}

/**
 * The text of a value that is hashed: as people see it in JSON, without quotes; a number without
 * zeros behind its last digit, so that 1.50 is 1.5. A value that JSON has no text for has one of
 * its own. Valid until the next one.
 */
function plainTexts(column: Column): (row: number) => Uint8Array | string {
  if (column.encoding === "utf8") {
    const { offsets, bytes } = column;
    return (row) => bytes.subarray(offsets[row], offsets[row + 1]);
  }
  const write = textWriter(column);
  const isNumber = ["decimal64", "decimal128", "float64", "number"].includes(column.encoding);
  return (row) => {
    const text = write(row);
    if (text === undefined) return textWithoutJson(column, row);
    return isNumber ? canonicalNumber(Buffer.from(text).toString("latin1")) : text;
  };
}

function textWithoutJson(column: Column, row: number): Uint8Array | string {
  switch (column.encoding) {
    case "float64":
      return String(column.values[row]);
    case "date32": {
      const day = column.values[row] as number;
      if (Math.abs(day) === endlessDay) return day < 0 ? "-infinity" : "infinity";
      return `day ${day}`;
    }
    case "timestamp64": {
      const us = column.values[row] as bigint;
      if (isEndless(us)) return us < 0n ? "-infinity" : "infinity";
      return `microsecond ${us}`;
    }
    case "number":
    case "json":
      return column.bytes.subarray(column.offsets[row], column.offsets[row + 1]);
    default:
      // Every value of the other encodings has a text in JSON.
      throw new TypeError("a value without a text");
  }
}

/** Most digits of a number that is written without an exponent. */
const plainDigits = 100;

/** One text for one number, however many zeros it was written with. */
export function canonicalNumber(text: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const significant = withoutEnd(digits, isZero);
  if (significant === "") return whole === "" ? text : "0";
  // The place of the point, counted from the first significant digit.
  const point = digits.length - fraction.length + Number(exponent);
  if (point > plainDigits || point < -plainDigits)
    return `${sign}${significant}e${point - significant.length}`;
  if (point >= significant.length) return sign + significant.padEnd(point, "0");
  const shown = point > 0 ? significant : significant.padStart(significant.length - point, "0");
  const at = Math.max(point, 0);
  return `${sign}${shown.slice(0, at) || "0"}.${shown.slice(at)}`;
}
