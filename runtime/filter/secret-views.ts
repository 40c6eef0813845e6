import { foldText } from "./folding.ts";

/** A secret as an encoder would write it. */
export interface SecretView {
  /** Its name in reports, for instance "base64, alignment 1". */
  readonly name: string;
  readonly bytes: Uint8Array;
  /**
   * So many consecutive bytes of the view show at least 10 characters of the secret (all of a
   * shorter one): fewer are no hit.
   */
  readonly minBytes: number;
}

/** Consecutive characters of a secret whose appearance counts as a leak. */
export const minSecretCharacters = 10;

/** @param from bytes of the secret before the value, where that is a piece of one */
type Encode = (value: string, bytes: Buffer, from: number) => string | Buffer;

/**
 * Name, fewest bytes that ten characters take, encoder. Where ten plain characters stay as they
 * are, that is 10 bytes. An encoder that packs bits (base64, base32) is listed at each alignment,
 * without the characters that its neighbours shape.
 */
const encoders: readonly (readonly [name: string, minBytes: number, encode: Encode])[] = [
  ["plain", 10, (value) => value],
  ["upper case", 10, (value) => value.toUpperCase()],
  ["lower case", 10, (value) => value.toLowerCase()],
  ["reversed", 10, (value) => [...value].reverse().join("")],
  ["rot13", 10, rot13],
  ...["", " ", ":", "-", "\\x", ", 0x"].flatMap((separator) => [
    hexView("hex", separator, (byte) => byte),
    hexView("upper-case hex", separator, (byte) => byte.toUpperCase()),
  ]),
  ...[0, 1, 2].flatMap((alignment) => [
    packedView(`base64, alignment ${alignment}`, 12, (bytes) => base64(bytes, alignment)),
    packedView(`base64url, alignment ${alignment}`, 12, (bytes) =>
      base64url(base64(bytes, alignment)),
    ),
  ]),
  ...[0, 1, 2].flatMap((inner) =>
    [0, 1, 2].flatMap((outer) => {
      const name = `base64 twice, alignments ${inner} and ${outer}`;
      const twice = (encode: (text: string) => string) => (bytes: Buffer) =>
        base64(Buffer.from(encode(base64(bytes, inner))), outer);
      return [
        packedView(
          name,
          15,
          twice((text) => text),
        ),
        packedView(`${name}, base64url inside`, 15, twice(base64url)),
      ];
    }),
  ),
  ...[0, 1, 2].map((alignment) =>
    packedView(`base64 of JSON, alignment ${alignment}`, 12, (bytes) =>
      base64(Buffer.from(jsonEscaped(bytes.toString())), alignment),
    ),
  ),
  ...[0, 1, 2, 3, 4].map((alignment) =>
    packedView(`base32, alignment ${alignment}`, 15, (bytes) => base32(bytes, alignment)),
  ),
  [
    "percent, every byte",
    30,
    (_, bytes) =>
      hexBytes(bytes)
        .map((byte) => `%${byte.toUpperCase()}`)
        .join(""),
  ],
  ["percent", 10, encodeURIComponent],
  [
    "percent, lower case",
    10,
    (value) => encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
  ],
  ["percent twice", 10, (value) => encodeURIComponent(encodeURIComponent(value))],
  ["form", 10, (value) => new URLSearchParams([["", value]]).toString().slice(1)],
  ["JSON", 10, jsonEscaped],
  ["JSON twice", 10, (value) => jsonEscaped(jsonEscaped(value))],
  ["JSON three times", 10, (value) => jsonEscaped(jsonEscaped(jsonEscaped(value)))],
  ["JSON, ASCII only", 10, (value) => asciiOnly(jsonEscaped(value).replaceAll("/", "\\/"))],
  [
    "unicode escapes",
    60,
    (value) =>
      codeUnits(value)
        .map((unit) => `\\u${unit}`)
        .join(""),
  ],
  [
    "upper-case unicode escapes",
    60,
    (value) =>
      codeUnits(value)
        .map((unit) => `\\u${unit.toUpperCase()}`)
        .join(""),
  ],
  [
    "HTML decimal",
    50,
    (value) => [...value].map((character) => `&#${character.codePointAt(0)};`).join(""),
  ],
  [
    "HTML hex",
    50,
    (value) =>
      [...value].map((character) => `&#x${character.codePointAt(0)?.toString(16)};`).join(""),
  ],
  ["HTML named", 10, htmlNamed],
  ["decimal bytes", 28, (_, bytes) => bytes.join(",")],
  [
    "typed array as JSON",
    68,
    (_, bytes, from) => Array.from(bytes, (byte, index) => `"${from + index}":${byte}`).join(","),
  ],
  [
    "octal",
    40,
    (_, bytes) => [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join(""),
  ],
  ["UTF-16", 19, (value) => Buffer.from(value, "utf16le")],
  ["quoted-printable", 10, (_, bytes) => [...bytes].map(quotedPrintable).join("")],
  ["spaced", 19, (value) => [...value].join(" ")],
  // The forms that a text is searched for once its escapes are off. @see folding.ts
  ["without escapes", 10, (value) => foldText(value)],
  ["without escapes, quoted-printable too", 10, (value) => foldText(value, true)],
];

/**
 * The secret in each encoding that a log, a library or a provider gives text; some are equal for a
 * plain secret. Decoded bytes and UTF-16 of either byte order included; hashes and encryption are
 * not. Escapes one in another are not either: @see folding.ts
 */
export function secretViews(value: string, from = 0): SecretView[] {
  const text = value.toWellFormed();
  const utf8 = Buffer.from(text);
  return encoders.map(([name, fewestBytes, encode]) =>
    toView(name, fewestBytes, encode(text, utf8, from)),
  );
}

/** Characters of a secret whose views are made at once: some 10 ms. */
const pieceCharacters = 512;
/** More than any ten characters of a secret, with what escapes in them stand for. */
const sharedCharacters = 128;

/** A secret, or a piece of a long one. */
export interface SecretPiece {
  readonly value: string;
  /** Bytes of the secret before it. */
  readonly from: number;
}

/** The secret in pieces that overlap: ten characters in a row are in one of them. */
export function secretPieces(secret: string): SecretPiece[] {
  if (secret.length <= pieceCharacters + sharedCharacters) return [{ value: secret, from: 0 }];
  const pieces: SecretPiece[] = [];
  let from = 0;
  for (let start = 0; start + sharedCharacters < secret.length; ) {
    const value = secret.slice(start, start + pieceCharacters + sharedCharacters);
    pieces.push({ value, from });
    // Not between the two halves of a character: they would count as other bytes.
    const isHalf = /[\ud800-\udbff]/.test(secret.charAt(start + pieceCharacters - 1));
    const end = start + pieceCharacters + (isHalf ? 1 : 0);
    from += Buffer.byteLength(secret.slice(start, end));
    start = end;
  }
  return pieces;
}

/** The encodings by name, each once, whatever offset it is found at. */
export const encodingNames: readonly string[] = [
  ...new Set(encoders.map(([name]) => name.replace(/, alignments? .*$/, ", at any offset"))),
].filter((name) => !name.startsWith("without escapes"));

/** The same views as they stand inside a JSON string; only those that JSON writes differently. */
export function insideJson(views: readonly SecretView[]): SecretView[] {
  return views.flatMap(({ name, bytes, minBytes }) => {
    const text = Buffer.from(bytes).toString(name === "UTF-16" ? "latin1" : "utf8");
    const escaped = jsonEscaped(text);
    return escaped === text ? [] : [toView(`${name}, inside JSON`, minBytes, escaped)];
  });
}

/** The text as it stands between the quotes of a JSON string. */
export function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Base64 of the bytes as they appear in the middle of a longer text, `alignment` bytes after a
 * group's start; no padding.
 */
export function base64(bytes: Uint8Array, alignment: number): string {
  const text = Buffer.concat([Buffer.alloc(alignment), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const partialEnd = (alignment + bytes.length) % 3 === 0 ? 0 : 1;
  return text.slice([0, 2, 3][alignment], text.length - partialEnd);
}

function toView(name: string, fewestBytes: number, encoded: string | Buffer): SecretView {
  const bytes = Buffer.from(encoded);
  return { name, bytes, minBytes: Math.min(fewestBytes, bytes.length) };
}

function hexView(name: string, separator: string, letterCase: (byte: string) => string) {
  const encode: Encode = (_, bytes) => hexBytes(bytes).map(letterCase).join(separator);
  const label = separator === "" ? name : `${name} separated by "${separator}"`;
  return [label, 20 + 9 * separator.length, encode] as const;
}

function packedView(name: string, minBytes: number, pack: (bytes: Buffer) => string) {
  const encode: Encode = (_, bytes) => pack(bytes);
  return [name, minBytes, encode] as const;
}

function hexBytes(bytes: Uint8Array): string[] {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
}

function base64url(text: string): string {
  return text.replaceAll("+", "-").replaceAll("/", "_");
}

/** RFC 4648 section 6, as it appears `alignment` bytes after a group's start. */
function base32(bytes: Uint8Array, alignment: number): string {
  const firstWhole = (5 - ((alignment * 8) % 5)) % 5;
  let text = "";
  let bits = 0;
  let bitCount = -firstWhole;
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff;
    for (bitCount += 8; bitCount >= 5; bitCount -= 5)
      text += "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[(bits >> (bitCount - 5)) & 31];
  }
  return text;
}

function rot13(value: string): string {
  return value.replace(/[a-z]/gi, (letter) => {
    const first = letter <= "Z" ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first);
  });
}

function codeUnits(value: string): string[] {
  return Array.from({ length: value.length }, (_, index) =>
    value.charCodeAt(index).toString(16).padStart(4, "0"),
  );
}

function asciiOnly(text: string): string {
  return text.replace(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function htmlNamed(value: string): string {
  const names: Record<string, string> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&#39;",
  };
  return value.replace(/[&<>"']/g, (character) => names[character] ?? character);
}

function quotedPrintable(byte: number): string {
  const isPlain = byte >= 32 && byte <= 126 && byte !== 61;
  return isPlain
    ? String.fromCharCode(byte)
    : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
