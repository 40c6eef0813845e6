/** Whether two texts, each in the words of its place, are one value. */
import type { ValueForm } from "./exact-types.ts";
import { exactNumbers } from "./exact-types-places.ts";

/** One text for each value. */
const normal: Readonly<Record<ValueForm, (text: string) => string>> = {
  number: numberText,
  instant: (text) =>
    text
      .replace(/^(-?\d+-\d\d-\d\d)T/, "$1 ")
      .replace(/Z$/, "+00")
      .replace(/ \(BC\)(.*)$/, "$1 BC")
      .replace(/(\d\d:\d\d:\d\d)\.0+(?!\d)/, "$1")
      .replace(/(\.\d*?)0+(?!\d)/, "$1"),
  interval: intervalText,
  bytes: (text) =>
    text.startsWith("\\x") ? text : `\\x${Buffer.from(text, "base64").toString("hex")}`,
  json: (text) =>
    JSON.stringify(
      JSON.parse(text, ((key: string, value: unknown, context: { source: string }) =>
        typeof value === "number"
          ? numberText(context.source)
          : exactNumbers(key, value, context)) as never),
    ),
  text: (text) => text,
};

export function isSameValue(form: ValueForm, expected: string, text: string): boolean {
  return normal[form](expected) === normal[form](text);
}

const units: readonly (readonly [RegExp, bigint, "months" | "days" | "nanos"])[] = [
  [/(-?\d+)(?: years?|Y)/, 12n, "months"],
  [/(-?\d+)(?: mon(?:th)?s?|M)/, 1n, "months"],
  [/(-?\d+)(?: days?|D)/, 1n, "days"],
  [/(-?\d+)H/, 3_600_000_000_000n, "nanos"],
  [/T.*?(-?\d+)M/, 60_000_000_000n, "nanos"],
  [/(-?\d+) nanoseconds/, 1n, "nanos"],
];

/** Months, days and nanoseconds of an interval, in ISO 8601 or in words. */
function intervalText(text: string): string {
  const sums = { months: 0n, days: 0n, nanos: 0n };
  const isIso = text.startsWith("P");
  const [date = "", time = ""] = isIso ? text.split("T") : [text];
  for (const [form, factor, part] of units) {
    const [, count] = form.exec(part === "nanos" && isIso ? `T${time}` : date) ?? [];
    if (count !== undefined) sums[part] += BigInt(count) * factor;
  }
  const clock = /(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?$/.exec(text);
  const seconds = /(-?)(\d+)(?:\.(\d+))?S$/.exec(time);
  const [sign, hours = "0", minutes = "0", whole = "0", rest = ""] = clock
    ? clock.slice(1)
    : [seconds?.[1], "0", "0", seconds?.[2], seconds?.[3]];
  const nanos =
    (BigInt(hours) * 3600n + BigInt(minutes) * 60n + BigInt(whole)) * 1_000_000_000n +
    BigInt(rest.padEnd(9, "0"));
  sums.nanos += sign === "-" ? -nanos : nanos;
  return `${sums.months} ${sums.days} ${sums.nanos}`;
}

/** A number without an exponent, and without zeros that say nothing. */
function numberText(text: string): string {
  const word = /^"?([-+]?)(nan|inf(inity)?)"?$/i.exec(text);
  if (word) return `${word[1]}${word[2]?.toLowerCase().slice(0, 3)}`;
  const parts = /^"?(-?)(\d*)\.?(\d*)(?:e([-+]?\d+))?"?$/i.exec(text);
  if (!parts) return text;
  const [, sign, whole = "", rest = "", exponent = "0"] = parts;
  const power = Number(exponent) - rest.length;
  const digits = `${whole}${rest}`.replace(/^0+/, "");
  const short = digits.replace(/0+$/, "");
  return short === "" ? "0" : `${sign}${short}e${power + digits.length - short.length}`;
}
