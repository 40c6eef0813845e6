/** Numbers as texts, with each digit. */
import {
  type BatchColumn,
  int128At,
  isValid,
  isZero,
  withoutEnd,
  withPoint,
} from "svc-connectors/destination";

/** The number that a text is: its digits without zeros around them, and where the point is. */
export interface NumberParts {
  readonly isNegative: boolean;
  readonly digits: string;
  /** Digits behind the point; below zero: zeros that follow. */
  readonly scale: number;
}

const numberForm = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const nonFinite = /^(?:NaN|-?Infinity)$/;
export const isFiniteText = (text: string) => !nonFinite.test(text);

export function partsOf(text: string): NumberParts | undefined {
  const [found, sign, whole = "", fraction = "", exponent = "0"] = numberForm.exec(text) ?? [];
  if (found === undefined) return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  const kept = withoutEnd(digits, isZero);
  const scale = fraction.length - (digits.length - kept.length) - Number(exponent);
  return { isNegative: sign === "-", digits: kept, scale: kept === "" ? 0 : scale };
}

/** A number without an exponent, as a DECIMAL or an integer reads it. */
export function plainNumber(text: string): string {
  if (!/[eE.]/.test(text)) return text;
  const parts = partsOf(text);
  // Whoever asks has seen that it fits: a row of zeros has an end.
  if (!parts || Math.abs(parts.scale) > 400) return text;
  const { isNegative, digits, scale } = parts;
  const value = BigInt(
    digits === "" ? "0" : digits.padEnd(digits.length - Math.min(scale, 0), "0"),
  );
  return withPoint(isNegative ? -value : value, Math.max(scale, 0));
}

/** The numbers as texts. Undefined: null. */
export function numberTexts(
  column: BatchColumn,
  rowCount: number,
): (row: number) => string | undefined {
  const textOf = plainText(column);
  return (row) => (row < rowCount && isValid(column, row) ? textOf(row) : undefined);
}

function plainText(column: BatchColumn): (row: number) => string {
  switch (column.encoding) {
    case "int32":
    case "int64":
    case "float64":
      return (row) => String(column.values[row]);
    case "decimal64":
      return (row) => withPoint(column.values[row] as bigint, column.scale);
    case "decimal128":
      return (row) => withPoint(int128At(column.values, row), column.scale);
    case "utf8":
    case "number":
    case "json": {
      const { bytes, offsets } = column;
      const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      return (row) => all.toString("utf8", offsets[row], offsets[row + 1]);
    }
    default:
      throw new TypeError(`a column of ${column.encoding} has no numbers`);
  }
}
