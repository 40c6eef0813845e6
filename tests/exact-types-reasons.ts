/** Why a value or a type is another one where it arrives: what docs/types.md says of it. */
import type { TypeCase } from "./exact-types.ts";
import type { PlaceName } from "./exact-types-places.ts";

export interface Difference {
  readonly place: PlaceName;
  readonly about: TypeCase;
  /** The type in PostgreSQL. */
  readonly from: string;
  /** The type that arrived. */
  readonly to: string;
  /** The value in PostgreSQL; left out where only the type is another one. */
  readonly value?: string;
  readonly text?: string | null;
}

export interface Reason {
  readonly text: string;
  readonly holds: (difference: Difference) => boolean;
}

const isEndless = ({ value = "" }: Difference) => /^(NaN|-?infinity)$/i.test(value);
const isTypeOnly = ({ value }: Difference) => value === undefined;
const isLost = ({ value, text }: Difference) => value !== undefined && text === null;
const isInstant = ({ about }: Difference) => about.form === "instant";
const isArray = ({ from }: Difference) => from.endsWith("[]") || from === "marks";

export const reasons: readonly Reason[] = [
  {
    text: "JSON has no number for NaN and infinity.",
    holds: (one) =>
      one.place === "JSON lines" &&
      isLost(one) &&
      isEndless(one) &&
      one.about.form === "number" &&
      one.about.type !== "numeric(12,0)",
  },
  {
    text: "`numeric(p, 0)` is an integer for everybody, so that identifiers are no decimals; no integer is NaN.",
    holds: (one) => isLost(one) && one.about.type === "numeric(12,0)",
  },
  {
    text: "`DECIMAL` has no NaN and no infinity in DuckDB, Parquet and Arrow.",
    holds: (one) => isLost(one) && isEndless(one) && /Decimal/i.test(one.to),
  },
  {
    text: "A date of JSON Schema has four digits for its year (RFC 3339): dates before the year 1 and after 9999, and `infinity`, have none.",
    holds: (one) => one.place === "JSON lines" && isLost(one) && isInstant(one),
  },
  {
    text: "Arrow and Parquet have no infinite dates: the largest number and its negative stand for them, as DuckDB reads and writes them. Other programs see 2³¹ − 1 days or 2⁶³ − 1 microseconds.",
    holds: (one) => one.place === "Arrow" && isInstant(one) && isEndless(one),
  },
  {
    text: "DuckDB's timestamps end in the year 294247, PostgreSQL's in 294276: a column with such a value becomes text.",
    holds: (one) =>
      !["PostgreSQL", "JSON lines"].includes(one.place) &&
      isTypeOnly(one) &&
      one.about.about === "the last year",
  },
  {
    text: "DuckDB's `DECIMAL` has at most 38 digits; the text has them all. Arrow and Parquet files are made of DuckDB's tables.",
    holds: (one) =>
      isTypeOnly(one) &&
      !isArray(one) &&
      one.place !== "PostgreSQL" &&
      one.from.startsWith("numeric"),
  },
  {
    text: "Columns of the destination have no length, no precision and no domain, so that a later, longer value fits. `numeric(p, 0)` of up to 18 digits and `oid` are `bigint`; `float4` is `double precision`, with the shortest decimal that is that `float4`.",
    holds: (one) =>
      one.place === "PostgreSQL" &&
      isTypeOnly(one) &&
      /^(numeric(\[\])?|bigint|integer|double precision|bit varying)$/.test(one.to),
  },
  {
    text: "An array of PostgreSQL may have any number of dimensions, whatever its column declares, so it is JSON. PostgreSQL makes an array of it again, unless its elements are bytes, JSON or of a type that the source has made.",
    holds: (one) => isArray(one) && isTypeOnly(one),
  },
  {
    text: "`json` becomes `jsonb`, which orders keys, keeps the last of equal ones, and writes exponents out; numbers keep every digit.",
    holds: (one) => one.place === "PostgreSQL" && one.about.type === "json",
  },
  {
    text: "Bit strings of DuckDB are never empty: a column with such a value becomes text.",
    holds: (one) =>
      one.place === "DuckDB" && isTypeOnly(one) && one.about.about === "one of them empty",
  },
  {
    text: "Intervals of Parquet have no sign and whole milliseconds, and neither Parquet nor Arrow has times with a zone or bit strings.",
    holds: (one) =>
      (one.place === "Parquet" && one.about.form === "interval" && isTypeOnly(one)) ||
      (["Parquet", "Arrow"].includes(one.place) &&
        isTypeOnly(one) &&
        /^(timetz|bit)/.test(one.about.type)),
  },
  {
    text: "A source describes its columns in JSON Schema, which has no such type: the value is the text that PostgreSQL writes and reads back. Another PostgreSQL gets types back that every server has; `xml`, `money`, multiranges, types of extensions and those that the source has made stay texts. DuckDB gets intervals, times with a zone and bit strings. As texts, intervals are ISO 8601, whatever the server's `IntervalStyle`.",
    holds: (one) => isTypeOnly(one) && one.about.form === "text",
  },
];
