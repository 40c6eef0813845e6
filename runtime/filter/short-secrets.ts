/**
 * The search for secrets that are too short or too plain for the scanner: in full, and only where
 * they stand as a value.
 */
import { foldText } from "./folding.ts";
import { mergeRanges, type Range } from "./scanner.ts";
import { isSecretName } from "./secret-names.ts";
import { jsonEscaped, secretViews } from "./secret-views.ts";

export interface ShortSecrets {
  /** One of these is in all bytes that hold one, unless they are it. */
  readonly needles: readonly Buffer[];
  /** Secrets that are found as a complete text. */
  readonly values: ReadonlySet<string>;
  /** False when the bytes surely hold none. */
  mayBeIn(bytes: Buffer): boolean;
  /** Where they stand in free text; positions in UTF-16 code units, ordered, not overlapping. */
  find(text: string): Range[];
}

/**
 * Longest text that could be an exact secret alone: nine characters of four bytes, and white space
 * around them.
 */
export const longestExactBytes = 64;

/**
 * @param whole found in full, in plain, JSON, percent or form encoding, where no letter or digit
 * continues it, and in base64.
 * @param exact found as the complete text, as a JSON string that is not a key, as a password in a
 * URL or connection string, as a credential in a query, and on either side of HTTP Basic.
 */
export function createShortSecrets(
  whole: readonly string[],
  exact: readonly string[],
): ShortSecrets {
  const patterns = [...whole.map(wholePattern), ...exact.map(exactPattern)];
  const pattern = patterns.length === 0 ? undefined : new RegExp(patterns.join("|"), "gu");
  const queryPattern = exact.length === 0 ? undefined : parameterPattern(exact);
  const needles = [
    ...new Set([...whole.flatMap(wholeNeedles), ...exact.flatMap(exactNeedles)]),
  ].map((needle) => Buffer.from(needle));
  const values = new Set([...whole, ...exact]);

  return {
    needles,
    values,
    mayBeIn: (bytes) =>
      needles.some((needle) => bytes.includes(needle)) ||
      (bytes.length <= longestExactBytes && values.has(bytes.toString().trim())),
    find(text) {
      if (pattern === undefined) return [];
      if (values.has(text.trim())) return [{ start: 0, end: text.length }];
      const found = [...text.matchAll(pattern)].map(rangeOf);
      const inQueries = queryPattern === undefined ? [] : [...text.matchAll(queryPattern)];
      const credentials = inQueries
        .filter(([, name = ""]) => isSecretName(name, "hint"))
        .map(rangeOf);
      return mergeRanges([...found, ...credentials, ...basicCredentials(text, values)]);
    },
  };
}

/** The forms in which a secret is found that is found in full. */
export const wholeForms = (value: string): string[] => [
  ...plainForms(value),
  ...packedForms(value),
];

/** An expression takes no text of any length, and a number of so many digits is no other one. */
const longestPattern = 256;

function wholePattern(value: string): string {
  if (value.length > longestPattern)
    return `(?:${plainForms(value.slice(0, longestPattern)).map(RegExp.escape).join("|")})[\\p{L}\\p{N}]*`;
  const plain = plainForms(value).map((form) => RegExp.escape(form));
  // In JSON an escaped line break ends in a letter.
  const standsAlone = `(?:(?<![\\p{L}\\p{N}])|(?<=\\\\[nrt]))(?:${plain.join("|")})(?![\\p{L}\\p{N}])`;
  return [standsAlone, ...packedForms(value).map((form) => RegExp.escape(form))].join("|");
}

function exactPattern(value: string): string {
  const escaped = RegExp.escape(value);
  const inJson = RegExp.escape(jsonEscaped(value));
  const inUrl = RegExp.escape(inQuery(value));
  return [
    `(?<=[:[,{]\\s*\\\\*")${inJson}(?=\\\\*"(?!\\s*:))`,
    `(?<=://[^\\s/@"]{0,200}:)(?:${escaped}|${inUrl})(?=@)`,
    `(?<=(?i:\\bpass(?:word|wd)?)=)(?:${escaped}|${inUrl})${valueEnd}`,
  ].join("|");
}

/** One of the values under any name in the query of a URL; the name is the first group. */
function parameterPattern(values: readonly string[]): RegExp {
  const forms = values
    .flatMap((value) => [value, inQuery(value)])
    .map((form) => RegExp.escape(form));
  return new RegExp(`(?<=[?&]([\\w.-]{1,100})=)(?:${forms.join("|")})${valueEnd}`, "gu");
}

/** Matches where the value of a parameter ends. */
const valueEnd = String.raw`(?=$|[\s&"'#;,)}\\])`;

const inQuery = (value: string) => encodeURIComponent(value.toWellFormed());
const rangeOf = (match: RegExpExecArray): Range => ({
  start: match.index,
  end: match.index + match[0].length,
});

function wholeNeedles(value: string): string[] {
  if (value.length > longestPattern) return wholeNeedles(value.slice(0, longestPattern));
  return [...plainForms(value).map(jsonEscaped), ...plainForms(value), ...packedForms(value)];
}

function exactNeedles(value: string): string[] {
  const forms = [value, jsonEscaped(value), encodeURIComponent(value.toWellFormed())];
  return [
    "asic ",
    ...forms.flatMap((form) => [`"${form}"`, `"${form}\\"`, `:${form}@`, `=${form}`]),
  ];
}

function plainForms(value: string): string[] {
  const text = value.toWellFormed();
  return [
    ...new Set([
      text,
      jsonEscaped(text),
      encodeURIComponent(text),
      new URLSearchParams([["", text]]).toString().slice(1),
      foldText(text),
    ]),
  ];
}

/** Encodings in which six to nine characters are still too few bytes for the scanner. */
function packedForms(value: string): string[] {
  if (value.length > 10) return [];
  const short = secretViews(value).filter(
    ({ name, bytes }) => name.startsWith("base") && bytes.length <= 10,
  );
  return [
    ...new Set(
      short
        .filter(({ bytes }) => bytes.length >= 6)
        .map(({ bytes }) => Buffer.from(bytes).toString()),
    ),
  ];
}

function basicCredentials(text: string, values: ReadonlySet<string>): Range[] {
  return [...text.matchAll(/(?<=\bbasic\s{1,4})[A-Za-z0-9+/_-]{2,}={0,2}/gi)].flatMap((match) => {
    const [, user = "", password = ""] =
      /^([^:]*):(.*)$/s.exec(Buffer.from(match[0], "base64").toString()) ?? [];
    const isSecret = values.has(user) || values.has(password);
    return isSecret ? [{ start: match.index, end: match.index + match[0].length }] : [];
  });
}
