/**
 * Finds pieces of secrets in bytes at the speed of a copy. A strided 6-gram Bloom filter, verified
 * on a hit:
 *
 * 1. A hit is a run of at least 10 bytes of a view. Such a run, wherever it starts, holds a whole
 *    6-byte gram at a position that is a multiple of 5; so only every fifth position of the data is
 *    looked at.
 * 2. The 6 bytes there are hashed into a Bloom filter that holds the views' grams: one load, two
 *    bits of one word. Clean data stops here nearly always.
 * 3. A gram that passes is looked up exactly. For each place of a view where it stands the match is
 *    extended in both directions: it is a hit when it reaches the view's minimum and is more than
 *    dashes, padding or a short number.
 *
 * A view whose minimum is long (hex, `\u0041`) is met at several positions, so that only every n-th
 * gram of it has to be in the filter: with n coprime to 5 and 5n + 5 ≤ minimum, one of any 5n
 * successive positions is a multiple of both (Chinese remainder theorem). This keeps the filter
 * small enough for the processor's cache.
 */
import type { SecretView } from "./secret-views.ts";

/** Bytes `start` to `end`, the end excluded. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface Scanner {
  /** Every run of a secret in any view, ordered, not overlapping. */
  find(bytes: Uint8Array): Range[];
  /** True when `find` would give something; stops at the first. */
  holds(bytes: Uint8Array): boolean;
  /** The longest of the views' minimums: so many bytes around a place may belong to a hit. */
  readonly longestMinimum: number;
}

const gramBytes = 6;
const stride = 5;
/** The shortest run that surely holds a whole gram at a multiple of the stride. */
const shortestRun = gramBytes + stride - 1;

interface GramPlace {
  readonly view: SecretView;
  readonly offset: number;
}

/** Views of fewer than 10 bytes cannot be found this way and are left out. */
export function createScanner(views: readonly SecretView[]): Scanner {
  const searched = distinct(
    views.filter((view) => view.bytes.length >= shortestRun && view.minBytes >= shortestRun),
  );
  const places = placesByGram(searched);
  const filter = createFilter(places.keys());
  const longestMinimum = Math.max(shortestRun, ...searched.map((view) => view.minBytes));

  function next(bytes: Uint8Array, from: number): Range | undefined {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const last = bytes.length - gramBytes;
    const { words, shift } = filter;
    for (let at = from; at <= last; at += stride) {
      const low = data.getInt32(at, true);
      const high = data.getUint16(at + 4, true);
      const hash = hashGram(low, high);
      const bits = (1 << hash) | (1 << (hash >>> 5));
      if (((words[hash >>> shift] as number) & bits) !== bits) continue;
      const range = longestMatch(bytes, at, places.get(gramKey(low, high)));
      if (range !== undefined && isTelling(bytes, range)) return range;
    }
    return undefined;
  }

  /**
   * Two views may share a part of a run, and the first gram met may be kept for the shorter one
   * only: this looks at every byte.
   */
  function widened(bytes: Uint8Array, range: Range): Range {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let { start, end } = range;
    for (let at = start; at <= range.end - gramBytes; at++) {
      const key = gramKey(data.getInt32(at, true), data.getUint16(at + 4, true));
      const match = longestMatch(bytes, at, places.get(key));
      start = Math.min(start, match?.start ?? start);
      end = Math.max(end, match?.end ?? end);
    }
    return { start, end };
  }

  return {
    longestMinimum,
    holds: (bytes) => searched.length > 0 && next(bytes, 0) !== undefined,
    find(bytes) {
      const found: Range[] = [];
      if (searched.length === 0) return found;
      for (
        let first = next(bytes, 0);
        first !== undefined;
        first = next(bytes, found.at(-1)?.end ?? 0)
      ) {
        const range = widened(bytes, first);
        const before = found.at(-1);
        // A run of another view may begin inside the last one.
        if (before !== undefined && range.start < before.end)
          found[found.length - 1] = { start: Math.min(before.start, range.start), end: range.end };
        else found.push(range);
      }
      return found;
    },
  };
}

/** In order, and those that overlap as one. */
export function mergeRanges(ranges: readonly Range[]): Range[] {
  const kept: Range[] = [];
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const before = kept.at(-1);
    if (before === undefined || range.start >= before.end) kept.push(range);
    else kept[kept.length - 1] = { start: before.start, end: Math.max(before.end, range.end) };
  }
  return kept;
}

/** Equal views once, with the smaller minimum. */
function distinct(views: readonly SecretView[]): SecretView[] {
  const byBytes = new Map<string, SecretView>();
  for (const view of views) {
    const key = Buffer.from(view.bytes).toString("latin1");
    const known = byBytes.get(key);
    if (known === undefined || view.minBytes < known.minBytes) byBytes.set(key, view);
  }
  return [...byBytes.values()];
}

function placesByGram(views: readonly SecretView[]): Map<number, GramPlace[]> {
  const places = new Map<number, GramPlace[]>();
  for (const view of views) {
    const data = new DataView(view.bytes.buffer, view.bytes.byteOffset, view.bytes.byteLength);
    for (
      let offset = 0;
      offset <= view.bytes.length - gramBytes;
      offset += gramDistance(view.minBytes)
    ) {
      const key = gramKey(data.getInt32(offset, true), data.getUint16(offset + 4, true));
      const known = places.get(key);
      if (known === undefined) places.set(key, [{ view, offset }]);
      else known.push({ view, offset });
    }
  }
  return places;
}

/**
 * The largest n, coprime to the stride, for which every run of `minBytes` still meets a kept gram.
 */
function gramDistance(minBytes: number): number {
  const most = Math.floor((minBytes - gramBytes + 1) / stride);
  return most % stride === 0 ? most - 1 : most;
}

/** 6 bytes as one exact integer. */
function gramKey(low: number, high: number): number {
  return (low >>> 0) + high * 2 ** 32;
}

/** Multipliers of MurmurHash3 and of the golden ratio: they spread similar grams. */
function hashGram(low: number, high: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

/**
 * At least 16 bits a gram; each gram sets two bits of one 32-bit word. About 1 % of other grams
 * pass.
 */
function createFilter(keys: Iterable<number>): { words: Int32Array; shift: number } {
  const grams = [...keys];
  const wordBits = Math.max(8, Math.ceil(Math.log2(grams.length / 2 + 1)));
  const words = new Int32Array(2 ** wordBits);
  const shift = 32 - wordBits;
  for (const gram of grams) {
    const hash = hashGram(gram | 0, Math.floor(gram / 2 ** 32));
    const word = hash >>> shift;
    words[word] = (words[word] as number) | (1 << hash) | (1 << (hash >>> 5));
  }
  return { words, shift };
}

function longestMatch(
  bytes: Uint8Array,
  at: number,
  places: readonly GramPlace[] = [],
): Range | undefined {
  let longest: Range | undefined;
  for (const { view, offset } of places) {
    let before = 0;
    while (
      before < at &&
      before < offset &&
      bytes[at - before - 1] === view.bytes[offset - before - 1]
    )
      before++;
    let after = gramBytes;
    while (
      at + after < bytes.length &&
      offset + after < view.bytes.length &&
      bytes[at + after] === view.bytes[offset + after]
    )
      after++;
    const length = before + after;
    if (length < view.minBytes || (longest && longest.end - longest.start >= length)) continue;
    longest = { start: at - before, end: at + after };
  }
  return longest;
}

/**
 * A ruler of dashes, padding or a short number that a secret happens to contain says nothing of it
 * and is in much clean data.
 */
function isTelling(bytes: Uint8Array, { start, end }: Range): boolean {
  const run = bytes.subarray(start, end);
  const isNumber = run.length < 16 && run.every((byte) => byte >= 48 && byte <= 57);
  return !isNumber && new Set(run).size >= 4;
}
