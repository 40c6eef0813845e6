/** Fields of a provider that have a few words, and words that are new there. */
import type { StreamFacts } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Observation } from "../contract/observation.ts";
import { compareRows, outputRows } from "../derive/rows/rows.ts";
import { nameOf } from "../learn/json.ts";
import { newWord } from "./schema-06.changed-rows.ts";

/** A field that has had a few words so far. */
export interface WordField {
  /** "status of GET /v1/channels". */
  readonly name: string;
  /** Last name of the field, as the provider writes it. */
  readonly field: string;
  readonly pointer: string;
  /** Pointer to the rows of its listings: their fields are alike. */
  readonly rows: string;
  readonly listings: readonly Listing[];
  /** No two the same. */
  readonly words: readonly string[];
}

export interface FoundWords {
  readonly listing: Listing;
  readonly pointer: string;
  readonly words: readonly string[];
}

/** The same field of listings that differ in their parent only. */
export const groupWords = (
  found: readonly FoundWords[],
): (WordField & { readonly count: number })[] =>
  [
    ...Map.groupBy(found, ({ listing, pointer }) => `${shapeOf(listing)} ${pointer}`).values(),
  ].flatMap((alike) => {
    const [first] = alike;
    if (!first) return [];
    const { listing, pointer } = first;
    const words = alike.flatMap((one) => one.words);
    const field = pointer.slice(1).replaceAll("/", ".");
    return [
      {
        name: `${field} of ${listing.method} ${listing.path}`,
        field,
        pointer,
        rows: rowsOf(listing),
        listings: alike.map((one) => one.listing),
        words: [...new Set(words)],
        count: words.length,
      },
    ];
  });

/** Path and rows; a segment with a digit is an id, which differs from parent to parent. */
const shapeOf = (listing: Listing) =>
  `${listing.path.replaceAll(/[^/]*\d[^/]*/g, "*")} ${rowsOf(listing)}`;

/** Pointer to the rows; "" where they are not known, or the whole answer. */
export const rowsOf = ({ paging }: Listing) => ("rows" in paging ? paging.rows : "");

export const namesWord = (pointer: string) => /(?:status|state|type|kind)$/.test(nameOf(pointer));

/** Other words for other words: rows that are told apart by them still are. */
export function newWordFor({ words }: WordField, word: string): string {
  const at = words.indexOf(word);
  const made = at > 0 ? `${newWord}_${at + 1}` : newWord;
  return words.every((one) => one === one.toUpperCase()) ? made.toUpperCase() : made;
}

/** "channels: status of GET /v1/channels is conformance_new". */
export const subjectOf = ({ label }: StreamFacts, field: WordField) =>
  `${label}: ${field.name} is ${newestOf(field)}`;

export const newestOf = (field: WordField) => newWordFor(field, field.words[0] ?? "");

/** Rows that the undisturbed read has and the other lacks; none where others are in their place. */
export function lostRows(
  stream: StreamFacts,
  whole: Observation,
  other: Observation,
): readonly string[] {
  const { missing, extra } = compareRows(
    outputRows(whole.messages, stream),
    outputRows(other.messages, stream),
  );
  return missing.length > extra.length ? missing : [];
}

/** Those that together have every field: each of a trial's `namesOf` is in one of them. */
export function covering<T>(trials: readonly T[], namesOf: (trial: T) => readonly string[]): T[] {
  const seen = new Set<string>();
  return trials.filter((trial) => {
    const isMore = namesOf(trial).some((name) => !seen.has(name));
    for (const name of namesOf(trial)) seen.add(name);
    return isMore;
  });
}
