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
  readonly characters: string;
  readonly alike: RegExp;
  readonly by: string;
  /** In every telling piece of a value. */
  readonly core: string;
}
const ofUuids: Alphabet = { characters: "\\da-f-", alike: /[\da-f]/g, by: "f", core: "ffff" };
const ofOthers: Alphabet = { characters: "\\deTZ.:+-", alike: /\d/g, by: "9", core: "9" };
const alphabetOf = (encoding: Encoding) => (encoding === "uuid128" ? ofUuids : ofOthers);

/** Fewer digits are never a hit. @see isSignificant of scanner.ts */
const leastDigits = 16;

/** Learns of the views of secrets and of the forms of short ones, one after another. */
export interface ShapesShown {
  readonly encodings: ReadonlySet<Encoding>;
  addViews(views: readonly SecretView[]): void;
  /** Those of secrets that are found in full. */
  addForms(forms: readonly string[]): void;
}

/** The encodings in which a secret may stand: none yet. */
export function createShapesShown(): ShapesShown {
  const encodings = new Set<Encoding>();
  const looked = new Map([ofUuids, ofOthers].map((alphabet) => [alphabet, new Set<string>()]));
  const addWhere = (isShown: (encoding: Encoding, isShaped: Shape) => boolean) => {
    for (const [encoding, isShaped] of Object.entries(shapes) as [Encoding, Shape][])
      if (!encodings.has(encoding) && isShown(encoding, isShaped)) encodings.add(encoding);
  };
  return {
    encodings,
    addViews(views) {
      for (const [alphabet, known] of looked) {
        const pieces = new Set(views.flatMap((view) => piecesOf(view, alphabet)));
        const others = [...pieces].filter((piece) => !known.has(piece));
        if (known.size < mostLooked) for (const piece of others) known.add(piece);
        addWhere(
          (encoding, isShaped) => alphabetOf(encoding) === alphabet && others.some(isShaped),
        );
      }
    },
    addForms(forms) {
      addWhere((encoding, isShaped) => {
        const { alike, by } = alphabetOf(encoding);
        return (
          stringEncodings.has(encoding) && forms.some((form) => isShaped(form.replace(alike, by)))
        );
      });
    },
  };
}

/** Pieces that are remembered, so that none is looked at again. */
const mostLooked = 1_000;

/** The shortest pieces of a view that are a hit, of characters of the alphabet alone. */
function piecesOf({ bytes, minBytes }: SecretView, alphabet: Alphabet): string[] {
  const { characters, alike, by, core } = alphabet;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const runs = new RegExp(`[${characters}]{${minBytes},}`, "g");
  return (text.match(runs) ?? []).flatMap((run) => {
    const likeRun = run.replace(alike, by);
    if (!likeRun.includes(core)) return [];
    const longest = Math.max(minBytes, leastDigits);
    // Most of all: the views in hex, in which one place is like the next.
    if (!/[^f]/.test(likeRun)) return [likeRun.slice(0, minBytes), likeRun.slice(0, longest)];
    const pieces = new Set<string>();
    for (let from = 0; from + minBytes <= run.length; from++) {
      const isNumber = !/\D/.test(run.slice(from, from + minBytes));
      const length = isNumber ? longest : minBytes;
      if (from + length <= run.length) pieces.add(likeRun.slice(from, from + length));
    }
    return [...pieces];
  });
}
