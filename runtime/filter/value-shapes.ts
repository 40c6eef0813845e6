/**
 * Values of columns that are no text may look like a secret as one: a number of many digits, a
 * UUID, a date. Only for secrets of which a part has such a form are they written as texts and
 * searched.
 */
import type { Encoding } from "../contract/batch.ts";
import type { SecretView } from "./secret-views.ts";

/**
 * Whether a piece of a text may stand in a value of the encoding. Digits of the piece are all 9; in
 * UUIDs they, and the letters of hexadecimal, are all f.
 */
type Shape = (piece: string) => boolean;

const digitsOf = (piece: string) => piece.replace(/\D/g, "").length;
const decimal =
  (digits: number): Shape =>
  (piece) =>
    /^-?\d*\.?\d*$/.test(piece) && digitsOf(piece) <= digits;
const partOf =
  (...forms: readonly string[]): Shape =>
  (piece) =>
    forms.some((form) => form.includes(piece));

const fractions = ["", ".9", ".99", ".999", ".9999", ".99999", ".999999"];

/** As JSON has them. A boolean says nothing. */
const shapes: Partial<Record<Encoding, Shape>> = {
  int32: (piece) => /^-?\d{1,10}$/.test(piece),
  int64: (piece) => /^-?\d{1,19}$/.test(piece),
  decimal64: decimal(19),
  decimal128: decimal(39),
  float64: (piece) => /^-?\d*\.?\d*(?:e[+-]?\d*)?$/.test(piece) && digitsOf(piece) <= 22,
  date32: partOf("9999-99-99"),
  time64: partOf(...fractions.map((fraction) => `99:99:99${fraction}`)),
  timestamp64: partOf(...fractions.map((fraction) => `9999-99-99T99:99:99${fraction}Z`)),
  uuid128: partOf("ffffffff-ffff-ffff-ffff-ffffffffffff"),
};

/** Encodings whose texts are strings in JSON, in which a short secret counts too. */
export const stringEncodings: ReadonlySet<Encoding> = new Set([
  "date32",
  "time64",
  "timestamp64",
  "uuid128",
]);

/** Characters of such values, and what stands for those that are alike. */
interface Alphabet {
  readonly runs: RegExp;
  readonly alike: RegExp;
  readonly by: string;
}
const ofUuids: Alphabet = { runs: /[\da-f-]+/g, alike: /[\da-f]/g, by: "f" };
const ofOthers: Alphabet = { runs: /[\deTZ.:+-]+/g, alike: /\d/g, by: "9" };
const alphabetOf = (encoding: Encoding) => (encoding === "uuid128" ? ofUuids : ofOthers);

/** Fewer digits are never a hit. @see isTelling of scanner.ts */
const tellingDigits = 16;

/**
 * The encodings in which a secret may stand.
 * @param forms those of secrets that are found in full
 */
export function encodingsThatMayShow(
  views: readonly SecretView[],
  forms: readonly string[],
): ReadonlySet<Encoding> {
  const pieces = new Map(
    [ofUuids, ofOthers].map((alphabet) => [
      alphabet,
      new Set(views.flatMap((view) => piecesOf(view, alphabet))),
    ]),
  );
  const shown = (Object.keys(shapes) as Encoding[]).filter((encoding) => {
    const isShaped = shapes[encoding] as Shape;
    const alphabet = alphabetOf(encoding);
    const { alike, by } = alphabet;
    return (
      [...(pieces.get(alphabet) ?? [])].some(isShaped) ||
      (stringEncodings.has(encoding) && forms.some((form) => isShaped(form.replace(alike, by))))
    );
  });
  return new Set(shown);
}

/** The shortest pieces of a view that are a hit, of characters of the alphabet alone. */
function piecesOf({ bytes, minBytes }: SecretView, { runs, alike, by }: Alphabet): string[] {
  const text = Buffer.from(bytes).toString("latin1");
  return [...text.matchAll(runs)].flatMap(([run]) => {
    if (run.length < minBytes) return [];
    const likeRun = run.replace(alike, by);
    const pieces: string[] = [];
    for (let from = 0; from + minBytes <= run.length; from++) {
      const isNumber = !/\D/.test(run.slice(from, from + minBytes));
      const length = isNumber ? Math.max(minBytes, tellingDigits) : minBytes;
      if (from + length <= run.length) pieces.push(likeRun.slice(from, from + length));
    }
    return pieces;
  });
}
