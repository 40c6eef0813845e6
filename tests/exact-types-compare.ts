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
