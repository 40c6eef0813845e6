/**
 * Where the 6-byte grams of views stand: an index that grows by views, in a few arrays of numbers.
 * A gram takes about ten bytes; views of a kilobyte of secret have about 50,000 of them.
 */
import { randomInt } from "node:crypto";
import type { SecretView } from "./secret-views.ts";

export const gramBytes = 6;
export const stride = 5;

/** Only {@link addView} and {@link reserve} write to it. */
export interface GramIndex {
  /** The views, one behind another. */
  text: Uint8Array;
  data: DataView;
  textLength: number;
  readonly viewStarts: number[];
  readonly viewMinimums: number[];
  /** A Bloom filter: two bits of a word for each gram. The hash, shifted, is the word's number. */
  words: Int32Array;
  wordShift: number;
  /**
   * Open addressing by the hash. 0: nothing; n > 0: the gram stands at n - 1 of the text only;
   * n < 0: its places are the list that begins at -n - 1.
   */
  slots: Int32Array;
  gramCount: number;
  listPlaces: Int32Array;
  /** The next of the list plus 1; 0: none. */
  listNext: Int32Array;
  listLength: number;
}

/** Different in each process: who writes a token cannot choose grams that fall together. */
export const hashFactors = {
  ofLow: (randomInt(2 ** 31) << 1) | 1,
  ofHigh: (randomInt(2 ** 31) << 1) | 1,
} as const;

/** Written out once more in scanner.ts. */
function hashGram(low: number, high: number): number {
  const { ofLow, ofHigh } = hashFactors;
  const mixed = Math.imul(low ^ Math.imul(high, ofHigh), ofLow);
  return mixed ^ (mixed >>> 15);
}

export function createGramIndex(): GramIndex {
  const text = new Uint8Array(1_024);
  return {
    text,
    data: new DataView(text.buffer),
    textLength: 0,
    viewStarts: [],
    viewMinimums: [],
    words: new Int32Array(2 ** 8),
    wordShift: 32 - 8,
    slots: new Int32Array(2 ** 9),
    gramCount: 0,
    listPlaces: new Int32Array(64),
    listNext: new Int32Array(64),
    listLength: 0,
  };
}

/** Makes room for these views at once. */
export function reserve(index: GramIndex, views: readonly SecretView[]): void {
  let bytes = 0;
  let grams = 0;
  for (const view of views) {
    bytes += view.bytes.length;
    grams += Math.ceil(view.bytes.length / gramDistance(view.minBytes));
  }
  grow(index, bytes, grams);
}

/** Views of a character of a secret: without equal ones, and with those inside of JSON. */
const bytesOfCharacter = 220;
const gramsOfCharacter = 56;

/** Makes room for the views of so many characters of secrets. */
export function reserveCharacters(index: GramIndex, count: number): void {
  grow(index, count * bytesOfCharacter, count * gramsOfCharacter);
}

/** True when the views of so many characters make nothing grow but the text. */
export const hasRoom = ({ slots, gramCount }: GramIndex, characters: number): boolean =>
  gramCount + characters * gramsOfCharacter <= slots.length * fullest;

const fullest = 0.8;

function grow(index: GramIndex, moreBytes: number, moreGrams: number): void {
  const bytes = index.textLength + moreBytes;
  const grams = index.gramCount + moreGrams;
  if (bytes > index.text.length) {
    const text = new Uint8Array(Math.max(bytes, Math.ceil(index.text.length * 1.5)));
    text.set(index.text.subarray(0, index.textLength));
    index.text = text;
    index.data = new DataView(text.buffer);
  }
  // At least 16 bits of the filter for a gram: about 1 % of other grams pass.
  let wordBits = 32 - index.wordShift;
  while (2 ** wordBits < grams / 2) wordBits++;
  let slotCount = index.slots.length;
  while (slotCount * fullest < grams) slotCount *= 2;
  if (wordBits === 32 - index.wordShift && slotCount === index.slots.length) return;
  const before = index.slots;
  index.words = new Int32Array(2 ** wordBits);
  index.wordShift = 32 - wordBits;
  index.slots = new Int32Array(slotCount);
  for (const slot of before) {
    if (slot === 0) continue;
    const place = firstPlace(index, slot);
    const hash = hashGram(index.data.getInt32(place, true), index.data.getUint16(place + 4, true));
    mark(index, hash);
    let at = hash & (slotCount - 1);
    while (index.slots[at] !== 0) at = (at + 1) & (slotCount - 1);
    index.slots[at] = slot;
  }
}

/** There is room for it. @see reserve */
export function addView(index: GramIndex, { bytes, minBytes }: SecretView): void {
  const start = index.textLength;
  index.text.set(bytes, start);
  index.textLength += bytes.length;
  index.viewStarts.push(start);
  index.viewMinimums.push(minBytes);
  const distance = gramDistance(minBytes);
  const last = index.textLength - gramBytes;
  let likeBefore = 0;
  for (let place = start, counted = start; place <= last; place += distance) {
    // Inside a long ruler of one character no run says anything: one that does has its border.
    while (counted < place + gramBytes + minBytes && counted < index.textLength) {
      const isLike = counted > start && index.text[counted] === index.text[counted - 1];
      likeBefore = isLike ? likeBefore + 1 : 0;
      counted++;
    }
    if (likeBefore >= gramBytes + 2 * minBytes) continue;
    addGram(index, place);
  }
}

function addGram(index: GramIndex, place: number): void {
  const { data, slots } = index;
  const low = data.getInt32(place, true);
  const high = data.getUint16(place + 4, true);
  const hash = hashGram(low, high);
  const mask = slots.length - 1;
  let at = hash & mask;
  for (let slot = slots[at] as number; slot !== 0; slot = slots[at] as number) {
    const known = firstPlace(index, slot);
    if (data.getInt32(known, true) === low && data.getUint16(known + 4, true) === high) {
      slots[at] = -1 - addToList(index, place, slot);
      return;
    }
    at = (at + 1) & mask;
  }
  slots[at] = place + 1;
  index.gramCount++;
  mark(index, hash);
}

/** The number of the list's first entry, which has the place; the others follow it. */
function addToList(index: GramIndex, place: number, slot: number): number {
  const rest = slot > 0 ? push(index, slot - 1, 0) : -slot - 1;
  return push(index, place, rest + 1);
}

function push(index: GramIndex, place: number, next: number): number {
  if (index.listLength === index.listPlaces.length) {
    for (const name of ["listPlaces", "listNext"] as const) {
      const grown = new Int32Array(index.listLength * 2);
      grown.set(index[name]);
      index[name] = grown;
    }
  }
  index.listPlaces[index.listLength] = place;
  index.listNext[index.listLength] = next;
  return index.listLength++;
}

const firstPlace = ({ listPlaces }: GramIndex, slot: number): number =>
  slot > 0 ? slot - 1 : (listPlaces[-slot - 1] as number);

function mark({ words, wordShift }: GramIndex, hash: number): void {
  const word = hash >>> wordShift;
  words[word] = (words[word] as number) | (1 << hash) | (1 << (hash >>> 5));
}

/** The slot of the gram; 0: it is in no view. */
export function slotOf({ data, slots, listPlaces }: GramIndex, low: number, high: number): number {
  const mask = slots.length - 1;
  for (let at = hashGram(low, high) & mask; ; at = (at + 1) & mask) {
    const slot = slots[at] as number;
    if (slot === 0) return 0;
    const known = slot > 0 ? slot - 1 : (listPlaces[-slot - 1] as number);
    if (data.getInt32(known, true) === low && data.getUint16(known + 4, true) === high) return slot;
  }
}

/** The number of the view that has the place. */
export function viewAt({ viewStarts }: GramIndex, place: number): number {
  let low = 0;
  let high = viewStarts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((viewStarts[middle] as number) <= place) low = middle;
    else high = middle;
  }
  return low;
}

/**
 * The largest n, coprime to the stride, for which every run of `minBytes` still meets a kept gram.
 */
function gramDistance(minBytes: number): number {
  const most = Math.floor((minBytes - gramBytes + 1) / stride);
  return most % stride === 0 ? most - 1 : most;
}
