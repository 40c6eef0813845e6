/** The look over values that have a width: each is one that its encoding can have. */
import {
  type ColumnValues,
  endlessDay,
  endlessInstant,
  type TextValues,
} from "../contract/batch.ts";
import { isNull, refuse } from "./refuse.ts";

/** Values of a width; what each encoding is stands in contract/batch.ts. */
type FixedValues = Exclude<ColumnValues, TextValues>;

/** @throws CONNECTOR_PROTOCOL when something stands where no value is */
export function checkNullSlots(
  raw: Buffer,
  width: number,
  validity: Uint8Array,
  rowCount: number,
): void {
  for (let row = 0; row < rowCount; row++) {
    if (!isNull(validity, row)) continue;
    for (let at = row * width; at < (row + 1) * width; at++)
      if (raw[at] !== 0) throw refuse("has a value under a null");
  }
}

/**
 * The values of a column.
 * @throws CONNECTOR_PROTOCOL when one is out of its encoding's range
 */
export function readValues(
  encoding: FixedValues["encoding"],
  { buffer, byteOffset, length }: Buffer,
  scale: number,
): FixedValues {
  const bytes = () => new Uint8Array(buffer, byteOffset, length);
  const int32s = () => new Int32Array(buffer, byteOffset, length / 4);
  const int64s = () => new BigInt64Array(buffer, byteOffset, length / 8);
  switch (encoding) {
    case "bool":
      return { encoding, values: requireEvery(bytes(), (value) => value <= 1) };
    case "int32":
      return { encoding, values: int32s() };
    case "date32":
      return { encoding, values: requireEvery(int32s(), isDay) };
    case "int64":
      return { encoding, values: int64s() };
    case "decimal64":
      return { encoding, values: requireLong(int64s(), shortDecimals), scale };
    case "time64":
      return { encoding, values: requireLong(int64s(), times) };
    case "timestamp64":
      return { encoding, values: requireLong(int64s(), instants) };
    case "float64":
      return { encoding, values: new Float64Array(buffer, byteOffset, length / 8) };
    case "decimal128":
      requireDecimals(new BigInt64Array(buffer, byteOffset, length / 8));
      return { encoding, values: bytes(), scale };
    case "uuid128":
      return { encoding, values: bytes() };
  }
}

function requireEvery<Values extends ArrayLike<number> | ArrayLike<bigint>>(
  values: Values,
  isOne: (value: Values[number], index: number, values: Values) => boolean,
): Values {
  for (let at = 0; at < values.length; at++)
    if (!isOne(values[at] as Values[number], at, values))
      throw refuse("has a value that its encoding cannot have");
  return values;
}

/** PostgreSQL's dates: from 4713 BC to the year 5874897. */
const firstDay = -2_440_588;
const lastDay = 2_145_042_905;
const isDay = (day: number) => (day >= firstDay && day <= lastDay) || Math.abs(day) === endlessDay;

/** A range of 64-bit integers. Most values are inside by their upper halves alone. */
interface LongRange {
  readonly upperFrom: number;
  readonly upperTo: number;
  has(value: bigint): boolean;
}

const rangeOf = (first: bigint, last: bigint, ...others: readonly bigint[]): LongRange => ({
  upperFrom: Number(first >> 32n) + 1,
  upperTo: Number(last >> 32n) - 1,
  has: (value) => (value >= first && value <= last) || others.includes(value),
});
const times = rangeOf(0n, 86_400_000_000n);
/** Instants from 4713 BC, where PostgreSQL's begin, to what 64 bits hold. */
const instants = rangeOf(-210_866_803_200_000_000n, endlessInstant, -endlessInstant);
const shortDecimals = rangeOf(1n - 10n ** 18n, 10n ** 18n - 1n);

function requireLong(values: BigInt64Array, { upperFrom, upperTo, has }: LongRange) {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  for (let at = 0; at < values.length; at++) {
    const upper = halves[at * 2 + 1] as number;
    if (upper >= upperFrom && upper <= upperTo) continue;
    if (!has(values[at] as bigint)) throw refuse("has a value that its encoding cannot have");
  }
  return values;
}

const longLimit = 10n ** 38n;
const upperLimit = Number(longLimit >> 96n);

/** 128-bit integers below 10^38, by their upper 32 bits where these are enough. */
function requireDecimals(halves: BigInt64Array): void {
  const quarters = new Int32Array(halves.buffer, halves.byteOffset, halves.length * 2);
  for (let at = 0; at < halves.length; at += 2) {
    const upper = quarters[at * 2 + 3] as number;
    if (upper > -upperLimit && upper < upperLimit) continue;
    const value = ((halves[at + 1] as bigint) << 64n) | BigInt.asUintN(64, halves[at] as bigint);
    if (value >= longLimit || value <= -longLimit)
      throw refuse("has a value that its encoding cannot have");
  }
}
