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
 *    dashes, padding or a short number. The steps that this takes are counted: who minted a token
 *    of one gram a thousand times, and then writes that gram a million times, has written a hit.
 *
 * A view whose minimum is long (hex, `\u0041`) is met at several positions, so that only every n-th
 * gram of it has to be in the filter: with n coprime to 5 and 5n + 5 ≤ minimum, one of any 5n
 * successive positions is a multiple of both (Chinese remainder theorem). This keeps the filter
 * small enough for the processor's cache.
 */
import {
  addView,
  createGramIndex,
  gramBytes,
  hashFactors,
  hasRoom,
  reserve,
  reserveCharacters,
  slotOf,
  stride,
  viewAt,
} from "./gram-index.ts";
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

export interface GrowingScanner extends Scanner {
  /** From now on these are found too. Costs as much as they are long, not what is known already. */
  add(views: readonly SecretView[]): void;
  /** True when the views of so many characters can be added without a pause for more room. */
  hasRoom(characters: number): boolean;
}

/** The shortest run that surely holds a whole gram at a multiple of the stride. */
const shortestRun = gramBytes + stride - 1;

/**
 * Places and bytes that may be compared for each byte of the data, and what may be saved up of
 * them: some 30 ms. Clean data takes less than one, a ruler like one in a secret some hundreds.
 */
const stepsPerByte = 32;
const mostSteps = 20_000_000;

/** Views of fewer than 10 bytes cannot be found this way and are left out. */
export function createScanner(views: readonly SecretView[]): Scanner {
  const scanner = createGrowingScanner();
  scanner.add(views);
  return scanner;
}

/**
 * A scanner that finds nothing yet.
 * @param characters of secrets for which there is room from the start
 */
export function createGrowingScanner(characters = 0): GrowingScanner {
  const index = createGramIndex();
  reserveCharacters(index, characters);
  let longestMinimum = shortestRun;
  let stepsLeft = mostSteps;

  const gainSteps = ({ length }: Uint8Array) => {
    stepsLeft = Math.min(mostSteps, Math.max(0, stepsLeft) + stepsPerByte * length);
  };

  function next(bytes: Uint8Array, from: number): Range | undefined {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const last = bytes.length - gramBytes;
    // In the variables of this function: it is met for every fifth byte of all output.
    const { words, wordShift } = index;
    const { ofLow, ofHigh } = hashFactors;
    for (let at = from; at <= last; at += stride) {
      const low = data.getInt32(at, true);
      const high = data.getUint16(at + 4, true);
      const mixed = Math.imul(low ^ Math.imul(high, ofHigh), ofLow);
      const hash = mixed ^ (mixed >>> 15);
      const bits = (1 << hash) | (1 << (hash >>> 5));
      if (((words[hash >>> wordShift] as number) & bits) !== bits) continue;
      const range = longestMatch(bytes, at, slotOf(index, low, high));
      if (stepsLeft < 0) return { start: at, end: bytes.length };
      if (range !== undefined && isSignificant(bytes, range)) return range;
    }
    return undefined;
  }

  /**
   * Two views may share a part of a run, and the first gram met may be kept for the shorter one
   * only: this looks at every byte.
   */
  function widened(bytes: Uint8Array, range: Range): Range {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // How far the text of the views, laid over the data at this distance, is known to be like it.
    const compared = new Map<number, number>();
    let { start, end } = range;
    for (let at = start; at <= range.end - gramBytes; at++) {
      const slot = slotOf(index, data.getInt32(at, true), data.getUint16(at + 4, true));
      const match = longestMatch(bytes, at, slot, compared);
      if (stepsLeft < 0) return { start, end: bytes.length };
      start = Math.min(start, match?.start ?? start);
      end = Math.max(end, match?.end ?? end);
    }
    return { start, end };
  }

  function longestMatch(
    bytes: Uint8Array,
    at: number,
    slot: number,
    compared?: Map<number, number>,
  ): Range | undefined {
    if (slot === 0) return undefined;
    if (slot > 0) return matchAt(bytes, at, slot - 1, compared);
    let longest: Range | undefined;
    const { listPlaces, listNext } = index;
    for (let entry = -slot; entry !== 0 && stepsLeft >= 0; entry = listNext[entry - 1] as number) {
      const match = matchAt(bytes, at, listPlaces[entry - 1] as number, compared);
      if (match && (!longest || match.end - match.start > longest.end - longest.start))
        longest = match;
    }
    return longest;
  }

  /** The run around a gram that stands at `at` of the data and at `place` of the views' text. */
  function matchAt(
    bytes: Uint8Array,
    at: number,
    place: number,
    compared: Map<number, number> | undefined,
  ): Range | undefined {
    stepsLeft--;
    if (compared && (compared.get(place - at) ?? 0) > at) return undefined;
    const { text, textLength, viewStarts, viewMinimums } = index;
    const view = viewAt(index, place);
    const viewStart = viewStarts[view] as number;
    const viewEnd = viewStarts[view + 1] ?? textLength;
    let start = at;
    while (start > 0 && place - at + start > viewStart) {
      if (bytes[start - 1] !== text[place - at + start - 1]) break;
      start--;
    }
    let end = at + gramBytes;
    while (end < bytes.length && place - at + end < viewEnd) {
      if (bytes[end] !== text[place - at + end]) break;
      end++;
    }
    stepsLeft -= end - start - gramBytes;
    compared?.set(place - at, end);
    return end - start < (viewMinimums[view] as number) ? undefined : { start, end };
  }

  return {
    get longestMinimum() {
      return longestMinimum;
    },
    hasRoom: (characters) => hasRoom(index, characters),
    add(views) {
      const searched = distinct(
        views.filter((view) => view.bytes.length >= shortestRun && view.minBytes >= shortestRun),
      );
      reserve(index, searched);
      for (const view of searched) {
        addView(index, view);
        longestMinimum = Math.max(longestMinimum, view.minBytes);
      }
    },
    holds(bytes) {
      gainSteps(bytes);
      return index.gramCount > 0 && next(bytes, 0) !== undefined;
    },
    find(bytes) {
      const found: Range[] = [];
      if (index.gramCount === 0) return found;
      gainSteps(bytes);
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

/**
 * A ruler of dashes, padding or a short number that a secret happens to contain says nothing of it
 * and is in much clean data.
 */
function isSignificant(bytes: Uint8Array, { start, end }: Range): boolean {
  const run = bytes.subarray(start, end);
  const isNumber = run.length < 16 && run.every((byte) => byte >= 48 && byte <= 57);
  return !isNumber && new Set(run).size >= 4;
}
