/**
 * The search for the secrets of a run, made of what is known of each; and JSON taken apart by it.
 */
import type { Encoding } from "../contract/batch.ts";
import { type Alphabet, addToAlphabet, createAlphabet, foldedPieces } from "./folding.ts";
import { redactJson } from "./redact-json.ts";
import { createGrowingScanner, type Scanner } from "./scanner.ts";
import type { Strength } from "./secret-parts.ts";
import {
  insideJson,
  jsonEscaped,
  type SecretPiece,
  type SecretView,
  secretViews,
} from "./secret-views.ts";
import { createShortSecrets, type ShortSecrets, wholeForms } from "./short-secrets.ts";
import { createShapesShown } from "./value-shapes.ts";

export interface Search {
  readonly scanner: Scanner;
  readonly short: ShortSecrets;
  readonly alphabet: Alphabet;
  /** The encodings of columns whose values are no text, but may look like a secret as one. */
  readonly shapes: ReadonlySet<Encoding>;
  /**
   * Names of properties are redacted only for these: a short secret may equal the name of a
   * declared field.
   */
  readonly exact: ReadonlySet<string>;
}

export interface GrowingSearch extends Search {
  /**
   * From now on the value is searched for. Of a long one it is enough that each piece has been
   * added. @see secretPieces
   */
  add(piece: SecretPiece, strength: Strength): void;
  /** True when so many characters can be added without a pause for more room. */
  hasRoom(characters: number): boolean;
}

/**
 * A search for nothing yet.
 * @param characters of secrets for which there is room from the start
 */
export function createSearch(characters = 0): GrowingSearch {
  const scanner = createGrowingScanner(characters);
  const alphabet = createAlphabet();
  const shapes = createShapesShown();
  const whole = new Set<string>();
  const exact = new Set<string>();
  let short: ShortSecrets | undefined;
  return {
    scanner,
    alphabet,
    shapes: shapes.encodings,
    exact,
    hasRoom: scanner.hasRoom,
    get short() {
      short ??= createShortSecrets([...whole], [...exact]);
      return short;
    },
    add({ value, from }, strength) {
      addToAlphabet(alphabet, value);
      if (strength !== "piece") {
        (strength === "whole" ? whole : exact).add(value);
        short = undefined;
        if (strength === "exact") return;
        shapes.addForms(wholeForms(value));
      }
      const views = strength === "piece" ? secretViews(value, from) : wholeViews(value);
      shapes.addViews(views);
      scanner.add([...views, ...insideJson(views)]);
    },
  };
}

/** The encodings in which a secret that counts only in full cannot be a part of ordinary text. */
function wholeViews(value: string): SecretView[] {
  return secretViews(value)
    .filter(({ minBytes }) => minBytes > 10)
    .map((view) => ({ ...view, minBytes: view.bytes.length }));
}

/** False when the bytes surely hold no secret. */
export function isSuspicious(search: Search, bytes: Buffer): boolean {
  return search.scanner.holds(bytes) || search.short.mayBeIn(bytes) || holdsEscaped(search, bytes);
}

export function holds({ scanner, short }: Search, bytes: Buffer): boolean {
  return scanner.holds(bytes) || (short.mayBeIn(bytes) && short.find(bytes.toString()).length > 0);
}

/** The pieces around escapes, with them taken off; nothing for most of all text. */
export const withoutEscapes = ({ scanner, alphabet }: Search, bytes: Buffer): Buffer[] =>
  foldedPieces(bytes, alphabet, scanner.longestMinimum);

export const holdsEscaped = (search: Search, bytes: Buffer) =>
  withoutEscapes(search, bytes).some((piece) => holds(search, piece));

/**
 * A JSON text with each string that holds a secret replaced, and how many these are. No text when
 * it is no JSON, or holds a secret outside of its strings (as an array of byte values, say).
 */
export function redactValue(
  search: Search,
  line: Buffer,
): { json: string | undefined; count: number } {
  let count = 0;
  const { scanner } = search;
  const isSecret = (text: string, role: "value" | "key") => {
    const found = isSecretText(search, text, role);
    if (found) count++;
    return found;
  };
  const json = redactedOrUndefined(line, isSecret);
  const left: Buffer[] = json === undefined ? [] : [Buffer.from(json)];
  left.push(...left.flatMap((bytes) => withoutEscapes(search, bytes)));
  return { json: left.some((bytes) => scanner.holds(bytes)) ? undefined : json, count };
}

/** Whether the text of a JSON string, or of a name, holds a secret. */
export function isSecretText(search: Search, text: string, role: "value" | "key"): boolean {
  const { scanner, short, exact } = search;
  return (
    holdsText(scanner, text) ||
    holdsEscaped(search, Buffer.from(text)) ||
    ((role === "value" || !exact.has(text)) && short.find(text).length > 0)
  );
}

/**
 * Plain or as JSON writes it: a run may reach the minimum only with its escapes, and would
 * otherwise stop the whole line.
 */
function holdsText(scanner: Scanner, text: string): boolean {
  if (scanner.holds(Buffer.from(text))) return true;
  const escaped = jsonEscaped(text);
  return escaped.length > text.length && scanner.holds(Buffer.from(escaped));
}

function redactedOrUndefined(
  line: Buffer,
  isSecret: Parameters<typeof redactJson>[1],
): string | undefined {
  try {
    return redactJson(line.toString(), isSecret);
  } catch {
    return undefined;
  }
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
