/**
 * Values that get lost on the way through a connector: each as it stands in a provider's row, and
 * what may come out of it.
 */

import { parseExact, rawJson } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import { scalarText, toText } from "../../learn/json.ts";
import { momentOf } from "./moments.ts";
import type { RowField } from "./row-fields.ts";

export interface ValueCase {
  /** For people: JSON, or "no such field". */
  readonly text: string;
  /** The value in the row; undefined = the field is not there. */
  readonly value: unknown;
  /**
   * True when the record has the same value. `given` is undefined when the record has no such
   * field.
   */
  isSame(given: unknown): boolean;
}

/** A kind of values to try, and the fields to try them on. */
export interface ValuePlan {
  readonly name: string;
  /** The connector may say that it cannot represent such a value. */
  readonly mayBeRefused: boolean;
  /** Values inside arrays of the rows are tried, too. */
  readonly isForArrays?: boolean;
  /** How many there are for this field; 0 = it is left alone. */
  count(field: RowField): number;
  /** `n` counts on past `count`. `before`: what stands there in the recorded row. */
  caseAt(field: RowField, n: number, before: unknown): ValueCase;
  /** For one row of each field, in place of its case; undefined = there is none. */
  largest?(field: RowField): ValueCase | undefined;
  /**
   * An everyday value. A field that does not let it through is no plain copy, and is not judged.
   */
  ordinary(field: RowField, n: number, before: unknown): ValueCase;
}

/**
 * Beyond 2^53 a double holds every second integer only: these are odd. 19 digits are the ids of the
 * large providers.
 */
const integers = [
  "9007199254740993",
  "1152921504606846977",
  "9223372036854775807",
  "-9007199254740993",
] as const;
/** 0.1 + 0.2 in a double; more digits than a double holds, before and after the point. */
const decimals = [
  "0.30000000000000004",
  "1234567890.123456789",
  "-79228162514264.337593543950335",
  "-0.0",
] as const;

/** Numbers that JSON and 64 bits hold, and a double does not. */
export const exactNumbers: ValuePlan = {
  name: "numbers that a double does not hold",
  mayBeRefused: false,
  isForArrays: true,
  count: (field) => numbersFor(field).length,
  caseAt(field, n) {
    const all = numbersFor(field);
    const text = all[n % all.length] ?? "0";
    // No two the same: keys have to stay unique.
    return numberCase(
      field,
      /^-?\d{2,}$/.test(text) ? nudged(text, Math.floor(n / all.length)) : text,
    );
  },
  ordinary: (field, n) => numberCase(field, String(41 + n)),
};

export const hugeNumber: ValuePlan = {
  name: "a number that no double comes near",
  mayBeRefused: true,
  count: (field) =>
    isNumeric(field) && !field.isKey && takesFractions(field) && !isWrittenAsText(field) ? 1 : 0,
  caseAt: (field) => numberCase(field, "1e400"),
  ordinary: exactNumbers.ordinary,
};

function numbersFor(field: RowField): readonly string[] {
  if (!isNumeric(field)) return [];
  const whole = field.isKey ? integers.slice(0, 3) : [...integers, "-0"];
  const wanted = takesFractions(field) && !field.isKey ? [...decimals, ...whole] : whole;
  return wanted.filter((text) =>
    field.admits(field.types.includes("string") && isTextOnly(field) ? text : Number(text)),
  );
}

const isTextOnly = ({ types }: RowField) => !types.includes("integer") && !types.includes("number");
const isWrittenAsText = ({ values }: RowField) =>
  values.length > 0 && values.every((value) => typeof value === "string");
const takesFractions = ({ types, values }: RowField) =>
  types.includes("number") ||
  (!types.includes("integer") && values.some((value) => /[.eE]/.test(scalarText(value) ?? "")));

/** The provider writes numbers there, and no times that become texts. */
function isNumeric(field: RowField): boolean {
  const { values, types, isCursor, isRequested } = field;
  if (isCursor || isRequested) return false;
  const isDeclared = types.includes("integer") || types.includes("number");
  if (values.length === 0) return isDeclared;
  if (isWrittenAsText(field))
    return isDeclared && values.every((value) => /^-?\d+(\.\d+)?$/.test(String(value)));
  return values.every(
    (value) =>
      typeof value !== "string" && typeof value !== "boolean" && scalarText(value) !== undefined,
  );
}

/** Another odd number of the same size; the largest of 64 bits can only get smaller. */
function nudged(text: string, times: number): string {
  const number = BigInt(text);
  const step = BigInt(2 * times);
  return String(number < 0n || number > 2n ** 63n - 10_000n ? number - step : number + step);
}

function numberCase(field: RowField, text: string): ValueCase {
  const wanted = canonicalize(parseExact(text));
  return {
    text,
    value: isWrittenAsText(field) ? text : rawJson(text),
    isSame: (given) => {
      const digits = numberText(given);
      // Integers have no minus zero.
      return digits === wanted || (text === "-0" && digits === "0");
    },
  };
}

/** The text of a number, also of one that is given as text. */
function numberText(given: unknown): string | undefined {
  if (typeof given !== "string")
    return scalarText(given) === undefined ? undefined : canonicalize(given);
  return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(given) ? canonicalize(parseExact(given)) : undefined;
}

/**
 * Texts of several bytes a character, with line ends and spaces of all kinds, and such as look like
 * something else.
 */
export const texts: ValuePlan = {
  name: "texts",
  mayBeRefused: false,
  isForArrays: true,
  count: (field) => textsFor(field).length,
  caseAt: (field, n) => textCase(field, nth(textsFor(field), n)),
  largest(field) {
    const text = longTexts.find((one) => field.admits(one));
    return text === undefined
      ? undefined
      : {
          ...textCase(field, text),
          text: `${toText(text.slice(0, 40))}… (${text.length} characters)`,
        };
  },
  // In lower case: a field that folds the case of letters is no plain copy either.
  ordinary: (field, n) => textCase(field, `ordinary ${n + 1}`),
};

/** No text at all: empty, null, and left out. A connector may need one, and say so. */
export const emptiness: ValuePlan = {
  name: "empty texts",
  mayBeRefused: true,
  count: (field) => emptyFor(field).length,
  caseAt: (field, n) => textCase(field, nth(emptyFor(field), n)),
  ordinary: texts.ordinary,
};

const nth = <T>(all: readonly T[], n: number): T => all[n % all.length] as T;

/** Texts that UTF-8 or a database cannot hold. */
export const strangeTexts: ValuePlan = {
  name: "texts that not every store can hold",
  mayBeRefused: true,
  count: (field) => (isText(field) && field.admits("a\u0000") ? 2 : 0),
  caseAt: (field, n) =>
    textCase(field, n % 2 === 0 ? "before\u0000after" : "half \ud83d of a pair"),
  ordinary: texts.ordinary,
};

/** Order numbers and EANs that look like seconds and milliseconds since 1970, and are none. */
const momentTexts = ["1780270800000", "1780270800"] as const;

export const multibyte = "na\u00efve \u540d\u524d \u{1f4d3}\u{20bb7} e\u0301";
const separators = 'line\u2028separator\u0085next\r\ntab\t"quote\\';

/** Each is what some connector tidies up, and somebody's key, code or signature. */
const exactTexts: readonly string[] = [
  multibyte,
  separators,
  " \u00a0 two  spaces, before and behind\n ",
  "Zero\u200bwidth\u200d\ufeff MiXeD CaSe \u0130\u0131\u1e9e \uff21\ufb01\u212b",
  "0012.50",
  ...momentTexts,
  "null",
  "&amp;lt; <b>%41+%zz</b> \\n {{name}} =1+1",
];

/**
 * More than 70,000 characters: a cell of a spreadsheet holds 32,767, a column of a database 65,535.
 * The other for fields whose schema limits them.
 */
const longTexts: readonly string[] = [6_400, 400].map(
  (count) => `${"Long text. ".repeat(count)}end`,
);

const textsFor = (field: RowField): readonly string[] =>
  isText(field) ? exactTexts.filter((value) => field.admits(value)) : [];

/** Texts of digits: post codes, accounts, telephone numbers, amounts. No number keeps them. */
const digits: readonly string[] = [
  "007",
  "12.50",
  "00012345678901234567",
  "98765432109876543210",
  "+4930901820",
  "0",
  ...momentTexts,
];

/** In fields whose recorded texts are all digits: zeros in front and behind, and more than fit. */
export const digitTexts: ValuePlan = {
  name: "texts of digits",
  // Of other forms than the recorded ones, a sign or a point among them.
  mayBeRefused: true,
  count: (field) => digitsFor(field).length,
  caseAt: (field, n) => {
    const text = nth(digitsFor(field), n);
    // No two the same: keys have to stay unique.
    const round = Math.floor(n / digitsFor(field).length);
    return textCase(field, field.isKey && round > 0 ? `${text}${round}` : text);
  },
  ordinary: (field, n) => textCase(field, String(41_000 + n)),
};

/** A declared text, of which every recorded value is digits: nothing but texts has stood there. */
function digitsFor(field: RowField): readonly string[] {
  const { values, types, isCursor, isRequested } = field;
  if (isCursor || isRequested || !types.includes("string")) return [];
  if (types.includes("integer") || types.includes("number")) return [];
  const isAll = values.length > 0 && values.every((value) => isDigitText(value));
  // Where moments have stood, a connector may write them as times.
  const mayBeTime = values.some((value) => momentOf(value)?.kind === "time");
  const all = mayBeTime ? digits.filter((text) => momentOf(text)?.kind !== "time") : digits;
  return isAll ? all.filter((text) => field.admits(text)) : [];
}

const isDigitText = (value: unknown) =>
  typeof value === "string" && /^\+?\d{1,40}(?:\.\d{1,20})?$/.test(value);

/** In URLs all behind the host tells cases apart, and so may the name in an e-mail address. */
export const addresses: ValuePlan = {
  name: "addresses in mixed case",
  mayBeRefused: false,
  isForArrays: true,
  count: (field) => (addressFor(field, 0) === undefined ? 0 : 2),
  caseAt: (field, n) => textCase(field, addressFor(field, n)),
  ordinary: (field, n) => textCase(field, addressFor(field, n)?.toLowerCase()),
};

const urlText = /^https?:\/\/\S+$/;
const mailText = /^[^@\s]+@[^@\s]+\.[^@\s]+$/;

/** Of the form that all recorded values have; undefined: they have none. */
function addressFor(field: RowField, n: number): string | undefined {
  const { values, isKey, isCursor, isRequested, admits } = field;
  if (isKey || isCursor || isRequested || values.length === 0) return undefined;
  const areAll = (form: RegExp) =>
    values.every((value) => typeof value === "string" && form.test(value));
  const url = areAll(urlText) ? `https://pages.example.com/Ab${n}/?C=d%2Fe#Fg` : undefined;
  const address = url ?? (areAll(mailText) ? `Ann.Lee${n}@example.com` : undefined);
  return address !== undefined && admits(address) ? address : undefined;
}

/** Keys that only careless code takes for one: they differ in case, and in spaces at their ends. */
export const twinKeys: ValuePlan = {
  name: "keys that are nearly the same",
  mayBeRefused: false,
  count: (field) => (isTextKey(field) ? 4 : 0),
  caseAt(field, n) {
    const pair = Math.floor(n / 4);
    return textCase(field, nth([`Twin${pair}`, `twin${pair}`, `twin${pair} `, ` twin${pair}`], n));
  },
  ordinary: (field, n) => textCase(field, `key${n}`),
};

function isTextKey({ isKey, isCursor, isRequested, values, types, admits }: RowField): boolean {
  return (
    isKey &&
    !isCursor &&
    !isRequested &&
    (types.length === 0 || types.includes("string")) &&
    values.length > 0 &&
    values.every((value) => typeof value === "string") &&
    admits(" twin0")
  );
}

function emptyFor(field: RowField): readonly (string | null | undefined)[] {
  if (!isText(field)) return [];
  const some = ["", null].filter((value) => field.admits(value));
  // A record that must have the field, and not as null, cannot do without it.
  return field.isRequired && !field.admits(null) ? some : [...some, undefined];
}

/**
 * Free text: no keys, times, numbers, addresses, and nothing that the schema limits to a few words.
 */
function isText(field: RowField): boolean {
  const { values, types, isKey, isCursor, isRequested } = field;
  if (isKey || isCursor || isRequested || (types.length > 0 && !types.includes("string")))
    return false;
  if (values.length === 0 && types.length === 0) return false;
  return (
    values.every((value) => typeof value === "string" && !isCode(value)) &&
    field.admits("Ordinary 1")
  );
}

const isCode = (text: string) =>
  /^[\d.,:+TZ-]+$|^\d{4}-\d\d-\d\d|^[a-z][a-z0-9+.-]*:\/\/|^[^@\s]+@[^@\s]+$/i.test(text);

function textCase({ isRequired }: RowField, value: string | null | undefined): ValueCase {
  return {
    text: value === undefined ? "no such field" : toText(value),
    value,
    isSame(given) {
      if (value === undefined) return given === undefined || (isRequired && given === null);
      // Half a pair is no character of Unicode: many languages read it as the replacement
      // character.
      return (
        given === value ||
        (typeof given === "string" && !value?.isWellFormed() && given === value?.toWellFormed())
      );
    },
  };
}
