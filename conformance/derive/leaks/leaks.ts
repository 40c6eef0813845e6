/**
 * The search for leaks: the kit's made up secrets in any text, whatever they were turned into. The
 * runtime's scanner finds runs of ten characters in some fifty encodings; besides it: pieces of
 * eight characters from either end, and what is compressed.
 */
import { createScanner, scanDeep, secretViews } from "svc-connectors/host";
import type { Canary } from "../../contract/lab.ts";

export interface Leak {
  readonly canary: Canary;
  /** The whole secret stands there as it is. */
  readonly isVerbatim: boolean;
  /** "as it is", "base64", "its first 8 characters", "gzip in base64". */
  readonly encoding: string;
  /** Range in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

export interface LeakSearch {
  /** The first leaks of a text, of each secret and encoding one. */
  find(text: string): readonly Leak[];
  /** True when `find` gives nothing for any of the texts; much faster than to look at each. */
  isClean(texts: readonly string[]): boolean;
}

/** Texts are looked at together, as many as fit into the processor's cache. */
const chunk = Buffer.alloc(64 * 1024);
/**
 * So many characters from the start or the end of a secret are a leak: they narrow it down, and
 * logs keep them for years.
 */
const pieceLength = 8;

/**
 * Encodings that leave letters and digits as they are: whether anything was escaped depends on the
 * secret, not on who wrote it.
 */
const identities: ReadonlySet<string> = new Set(
  secretViews("cnry7Kq2ZpX9")
    .filter(({ bytes }) => Buffer.from(bytes).toString() === "cnry7Kq2ZpX9")
    .map(({ name }) => name),
);

export function createLeakSearch(canaries: readonly Canary[]): LeakSearch {
  const views = canaries.flatMap((canary) =>
    secretViews(canary.value).map((view) => ({
      canary,
      name: view.name,
      view,
      text: Buffer.from(view.bytes),
    })),
  );
  const scanner = createScanner(views.map(({ view }) => view));
  const pieces = canaries.flatMap((canary) => [
    {
      canary,
      name: `its first ${pieceLength} characters`,
      text: canary.value.slice(0, pieceLength),
    },
    { canary, name: `its last ${pieceLength} characters`, text: canary.value.slice(-pieceLength) },
  ]);
  const mayHoldPiece = createPieceFilter(pieces.map(({ text }) => text));

  const ofRange = createNamer(views);
  const isCleanChunk = (bytes: Buffer) =>
    !scanner.holds(bytes) && !mayHoldPiece(bytes) && !hasLongWord(bytes);

  const search: LeakSearch = {
    isClean(texts) {
      for (let from = 0; from < texts.length; ) {
        // Copied as Latin-1: secrets are ASCII, and other characters hide none of it.
        const { to, bytes } = fillChunk(texts, from);
        if (
          !isCleanChunk(bytes) &&
          texts.slice(from, to).some((text) => search.find(text).length > 0)
        )
          return false;
        from = to;
      }
      return true;
    },
    find(text) {
      if (text.length < pieceLength || canaries.length === 0) return [];
      const bytes = Buffer.from(text);
      const plain = scanner.holds(bytes)
        ? scanner.find(bytes).flatMap(({ start, end }) => ofRange(bytes, start, end))
        : [];
      const packed = hasLongWord(bytes) ? findPacked(bytes, canaries, scanner) : [];
      const known = new Set([...plain, ...packed].map(({ canary }) => canary));
      const cut = mayHoldPiece(bytes)
        ? pieces
            .filter(({ canary, text: piece }) => !known.has(canary) && text.includes(piece))
            .map(({ canary, name, text: piece }) => {
              const start = text.indexOf(piece);
              return {
                canary,
                isVerbatim: false,
                encoding: name,
                start,
                end: start + piece.length,
              };
            })
        : [];
      return distinct([...plain, ...packed, ...cut]);
    },
  };
  return search;
}

interface CanaryView {
  readonly canary: Canary;
  readonly name: string;
  readonly text: Buffer;
}

/** Gives the leak in a range that the scanner found: which secret it is of, in which encoding. */
function createNamer(
  views: readonly CanaryView[],
): (bytes: Buffer, start: number, end: number) => Leak[] {
  /** Two views may share a run that is longer than what each has of it. */
  const nearest = (run: Buffer) =>
    views.find(
      ({ text }) =>
        run.includes(text) ||
        text.includes(run.subarray(0, 10)) ||
        text.includes(run.subarray(-10)),
    );
  return (bytes, start, end) => {
    const run = bytes.subarray(start, end);
    const found = views.filter(({ text }) => text.includes(run));
    const best =
      found.find(({ name }) => name === "plain") ??
      found.find(({ name }) => identities.has(name)) ??
      found[0] ??
      nearest(run);
    if (!best) return [];
    const { canary, name } = best;
    const isWhole = identities.has(name) && run.length >= best.text.length;
    const form = name.replace(/, alignment \d$/, "");
    const encoding = isWhole
      ? "as it is"
      : name === "plain"
        ? `${run.length} characters of it`
        : isBasic(bytes, start, end)
          ? `${form}, as in HTTP Basic`
          : form;
    const at = bytes.toString("utf8", 0, start).length;
    return [
      {
        canary,
        isVerbatim: isWhole,
        encoding,
        start: at,
        end: at + bytes.toString("utf8", start, end).length,
      },
    ];
  };
}

/**
 * Finds secrets that were compressed. Their place inside says nothing about the text: the start of
 * the whole text is shown.
 */
function findPacked(
  bytes: Buffer,
  canaries: readonly Canary[],
  scanner: ReturnType<typeof createScanner>,
): Leak[] {
  if (scanDeep(bytes, scanner).every(({ within }) => within.length === 0)) return [];
  return canaries.flatMap((canary) => {
    const opened = scanDeep(bytes, createScanner(secretViews(canary.value))).find(
      ({ within }) => within.length > 0,
    );
    if (!opened) return [];
    return [
      {
        canary,
        isVerbatim: false,
        encoding: opened.within.toReversed().join(" in "),
        start: 0,
        end: Math.min(bytes.length, 200),
      },
    ];
  });
}

function distinct(leaks: readonly Leak[]): Leak[] {
  const seen = new Map<string, Leak>();
  for (const leak of leaks) {
    const key = `${leak.canary.name} ${leak.encoding}`;
    if (!seen.has(key)) seen.set(key, leak);
  }
  return [...seen.values()];
}

/** The word around the run is base64 of "user:password". */
function isBasic(bytes: Buffer, start: number, end: number): boolean {
  const isWord = (at: number) => base64Byte[bytes[at] ?? 0] === 1;
  let [from, to] = [start, end];
  while (from > 0 && isWord(from - 1)) from--;
  while (to < bytes.length && isWord(to)) to++;
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(
    Buffer.from(bytes.toString("latin1", from, to), "base64").toString("latin1"),
  );
}

/** Bytes of base64 and base64url, and the backslash that PHP writes before a slash. */
const base64Byte = new Uint8Array(256);
for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_\\")
  base64Byte[character.charCodeAt(0)] = 1;

/** Nothing that holds a secret of the kit is compressed to fewer characters of base64. */
const shortestPacked = 48;

/**
 * A word of base64 characters that is long enough to be something compressed. After a character
 * that is none, the next such word ends a whole length later: most bytes are never looked at.
 */
function hasLongWord(bytes: Buffer): boolean {
  for (let end = shortestPacked - 1; end < bytes.length; ) {
    let at = end;
    while (at > end - shortestPacked && base64Byte[bytes[at] as number] === 1) at--;
    if (at === end - shortestPacked) return true;
    end = at + shortestPacked;
  }
  return false;
}

/** As many of the texts as fit into one chunk, from that index on; at least one. */
function fillChunk(
  texts: readonly string[],
  from: number,
): { readonly to: number; readonly bytes: Buffer } {
  let length = 0;
  let to = from;
  for (; to < texts.length && length + (texts[to] as string).length < chunk.length; to++) {
    length += chunk.write(texts[to] as string, length, "latin1");
    chunk[length++] = 10;
  }
  return to > from
    ? { to, bytes: chunk.subarray(0, length) }
    : { to: from + 1, bytes: Buffer.from(texts[from] as string, "latin1") };
}

/**
 * False when the bytes surely hold none of the pieces: wherever eight bytes stand, four of them
 * begin at a multiple of five.
 */
function createPieceFilter(pieces: readonly string[]): (bytes: Buffer) => boolean {
  const filter = new Uint8Array(2 ** 15);
  const grams = new Set<number>();
  for (const piece of pieces) {
    const text = Buffer.from(piece);
    for (let at = 0; at + 4 <= text.length; at++) grams.add(text.readInt32LE(at));
  }
  for (const gram of grams) filter[hashOf(gram)] = 1;
  return (bytes) => {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at <= bytes.length - 4; at += 5) {
      const gram = data.getInt32(at, true);
      if (filter[hashOf(gram)] === 1 && grams.has(gram)) return true;
    }
    return false;
  };
}

/** Knuth's multiplicative hash. */
const hashOf = (gram: number) => Math.imul(gram, 0x9e3779b1) >>> 17;
