/**
 * Escapes of JSON and JavaScript, HTML and XML, URLs and quoted-printable, read where they stand in
 * bytes.
 */

/** The escapes that are taken off; the documentation lists them. */
export const foldedEscapes = [
  String.raw`JSON and JavaScript (\u0041, \u{41}, \x41, \/, \", \n), with any number of backslashes`,
  "HTML and XML (&#65;, &#x41;, &quot;, &sol; and their like), with any number of &amp;",
  "URLs (%41), encoded any number of times",
  "quoted-printable (=3D), with its soft line breaks",
] as const;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const percent = 0x25;
const ampersand = 0x26;
const numberSign = 0x23;
const semicolon = 0x3b;
export const equals = 0x3d;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The bytes that escapes begin with, and those behind them that are worth a look. */
const marks = new Map([
  [percent, "0123456789abcdefABCDEF"],
  [ampersand, "#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"],
  [equals, "0123456789ABCDEF\\\r\n"],
  // A quote or a line break behind one backslash is in the views of a secret.
  [backslash, "\\ux/"],
]);
/** 0 for a byte that no escape begins with; else the number of its mark. */
export const markNumber = new Uint8Array(256);
/** 1 where an escape may begin, by the number of its mark and the byte behind it. */
const mayFollow = new Uint8Array(256 * (marks.size + 1));
for (const [number, [mark, followers]] of [...marks].entries()) {
  markNumber[mark] = number + 1;
  for (const byte of Buffer.from(followers)) mayFollow[256 * (number + 1) + byte] = 1;
}

/** The character of the last escape: UTF-8, 4 bytes at most. */
export const decoded = new Uint8Array(4);
export let decodedLength = 0;

/** The position behind the escape that begins at `at`; `at + 1` or less when there is none. */
export function decode(bytes: Uint8Array, at: number, withQuotedPrintable: boolean): number {
  const byte = bytes[at];
  if (byte === percent) return decodePercent(bytes, at);
  if (byte === backslash) return decodeBackslash(bytes, at);
  if (byte === ampersand) return decodeEntity(bytes, at);
  return withQuotedPrintable ? decodeQuotedPrintable(bytes, at) : at;
}

/** Text without any of these has no escape that is worth a look; they are quickly looked for. */
export const needles: readonly (number | Buffer)[] = [
  ...[percent, ampersand, equals],
  ...["\\\\", "\\u", "\\x", "\\/"].map((text) => Buffer.from(text)),
];

/** False when no escape can begin with these two bytes: quickly, and mostly. */
export function mayBegin(byte: number, next: number): boolean {
  const mark = markNumber[byte] as number;
  return mark !== 0 && mayFollow[256 * mark + next] === 1;
}

function decodePercent(bytes: Uint8Array, at: number): number {
  let digits = at + 1;
  // %2541 is %41, encoded once more.
  while (bytes[digits] === 0x32 && bytes[digits + 1] === 0x35 && hexByte(bytes, digits + 2) >= 0)
    digits += 2;
  const value = hexByte(bytes, digits);
  if (value < 0) return at;
  give(value);
  return digits + 2;
}

function decodeQuotedPrintable(bytes: Uint8Array, at: number): number {
  const next = bytes[at + 1];
  decodedLength = 0;
  const lineEnd = lineBreakEnd(bytes, at + 1);
  if (lineEnd > 0) return lineEnd;
  const value = hexByte(bytes, at + 1);
  if (value < 0 || isLowerCase(next) || isLowerCase(bytes[at + 2])) return at;
  give(value);
  return at + 3;
}

/** The position behind a line break, which JSON may have escaped; -1 when there is none. */
function lineBreakEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === backslash) at++;
  const [first, second] = at === from ? [carriageReturn, lineFeed] : [0x72, 0x6e];
  if (bytes[at] === second) return at + 1;
  if (bytes[at] !== first) return -1;
  at++;
  while (bytes[at] === backslash) at++;
  return bytes[at] === second ? at + 1 : -1;
}

const isLowerCase = (byte: number | undefined) => (byte as number) >= 0x61;

/** The character that the letter behind a backslash stands for; 0: none. */
const simpleEscapes = new Uint8Array(256);
for (const [letter, meaning] of ['""', "''", "//", "b\b", "f\f", "n\n", "r\r", "t\t"])
  simpleEscapes[(letter as string).charCodeAt(0)] = (meaning as string).charCodeAt(0);

function decodeBackslash(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  while (bytes[next] === backslash) next++;
  const kind = bytes[next] as number;
  const simple = simpleEscapes[kind] as number;
  if (simple > 0) {
    give(simple);
    return next + 1;
  }
  if (kind === 0x78) {
    const value = hexByte(bytes, next + 1);
    if (value >= 0) {
      give(value);
      return next + 3;
    }
  }
  if (kind === 0x75) {
    const end = decodeUnit(bytes, next + 1);
    if (end > 0) return end;
  }
  give(backslash);
  return next;
}

/** `0041`, `{41}`, or the first of two units with the second behind it. */
function decodeUnit(bytes: Uint8Array, at: number): number {
  if (bytes[at] === openBrace) {
    let end = at + 1;
    let value = 0;
    while (end <= at + 6 && hexDigit(bytes[end]) >= 0) value = value * 16 + hexDigit(bytes[end++]);
    if (end === at + 1 || bytes[end] !== closeBrace) return -1;
    return giveCharacter(value) ? end + 1 : -1;
  }
  const unit = hexUnit(bytes, at);
  if (unit < 0xd800 || unit > 0xdbff) return unit >= 0 && giveCharacter(unit) ? at + 4 : -1;
  let second = at + 4;
  while (bytes[second] === backslash) second++;
  const low = bytes[second] === 0x75 ? hexUnit(bytes, second + 1) : -1;
  if (low < 0xdc00 || low > 0xdfff) return -1;
  giveCharacter(0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00));
  return second + 5;
}

/**
 * Names that encoders write, by {@link nameKey}; those of letters with accents are not among them.
 */
const entities = new Map(
  (
    "quot \" apos ' lt < gt > amp & nbsp \u00a0 Tab \t NewLine \n excl ! num # dollar $ percnt % lpar ( rpar ) ast * " +
    "plus + comma , hyphen - dash - period . sol / colon : semi ; equals = quest ? commat @ lsqb [ lbrack [ " +
    "bsol \\ rsqb ] rbrack ] Hat ^ lowbar _ grave ` lcub { lbrace { verbar | vert | rcub } rbrace } tilde ~"
  )
    .matchAll(/(\w+) (\S|\s)(?: |$)/g)
    .map(([, name = "", character = ""]) => [
      Buffer.from(name).reduce(nameKey, 0),
      character.charCodeAt(0),
    ]),
);
const longestName = 8;

/** One more letter of a name; letters differ in their last six bits. */
function nameKey(key: number, letter: number): number {
  return key * 64 + (letter & 63);
}

function decodeEntity(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  // &amp;quot; is &quot;, encoded once more.
  while (isAmp(bytes, next)) next += 4;
  const end =
    bytes[next] === numberSign ? decodeReference(bytes, next + 1) : decodeName(bytes, next);
  if (end > 0) return end;
  if (next === at + 1) return at;
  give(ampersand);
  return next;
}

function isAmp(bytes: Uint8Array, at: number): boolean {
  return (
    bytes[at] === 0x61 &&
    bytes[at + 1] === 0x6d &&
    bytes[at + 2] === 0x70 &&
    bytes[at + 3] === semicolon
  );
}

function decodeReference(bytes: Uint8Array, from: number): number {
  const isHex = ((bytes[from] as number) | 0x20) === 0x78;
  const base = isHex ? 16 : 10;
  let at = isHex ? from + 1 : from;
  const first = at;
  let value = 0;
  for (; at < first + 8; at++) {
    const digit = hexDigit(bytes[at]);
    if (digit < 0 || digit >= base) break;
    value = value * base + digit;
  }
  if (at === first || bytes[at] !== semicolon) return -1;
  return giveCharacter(value) ? at + 1 : -1;
}

function decodeName(bytes: Uint8Array, from: number): number {
  let end = from;
  let key = 0;
  for (let letter = bytes[end] as number; isLetter(letter); letter = bytes[++end] as number) {
    if (end === from + longestName) return -1;
    key = nameKey(key, letter);
  }
  if (end === from || bytes[end] !== semicolon) return -1;
  const character = entities.get(key);
  return character !== undefined && giveCharacter(character) ? end + 1 : -1;
}

const isLetter = (byte: number) => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

function give(byte: number): void {
  decoded[0] = byte;
  decodedLength = 1;
}

/** False for what is no character. */
function giveCharacter(codePoint: number): boolean {
  if (codePoint > 0x10ffff || (codePoint >= 0xd800 && codePoint <= 0xdfff)) return false;
  if (codePoint < 0x80) give(codePoint);
  else decodedLength = encoder.encodeInto(String.fromCodePoint(codePoint), decoded).written;
  return true;
}

const encoder = new TextEncoder();

function hexDigit(byte: number | undefined): number {
  return byte === undefined ? -1 : (hexDigits[byte] as number);
}

const hexDigits = new Int8Array(256).fill(-1);
for (const [value, digit] of [..."0123456789abcdef"].entries())
  hexDigits[digit.charCodeAt(0)] = hexDigits[digit.toUpperCase().charCodeAt(0)] = value;

/** -1 when there are not two digits. */
function hexByte(bytes: Uint8Array, at: number): number {
  const high = hexDigit(bytes[at]);
  const low = hexDigit(bytes[at + 1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/** -1 when there are not four digits. */
function hexUnit(bytes: Uint8Array, at: number): number {
  const high = hexByte(bytes, at);
  const low = hexByte(bytes, at + 2);
  return high < 0 || low < 0 ? -1 : high * 256 + low;
}
