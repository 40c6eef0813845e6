/**
 * The alarm behind the allow-lists: the secrets of one run and the search for them, in every
 * encoding, in whatever leaves. Values go through secret-parts (what is secret, how much must
 * appear) and secret-views (encodings) to the scanner; short ones to short-secrets. Clean output
 * costs one pass of the scanner and is returned as it came.
 */
import { setImmediate } from "node:timers/promises";
import type { Batch } from "../contract/batch.ts";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import { redactBatch } from "./batches.ts";
import { fold } from "./folding.ts";
import { createKnownSecrets } from "./known-secrets.ts";
import { redactedWord } from "./redact-json.ts";
import { mergeRanges, type Range } from "./scanner.ts";
import {
  asBuffer,
  createSearch,
  type GrowingSearch,
  holds,
  isSuspicious,
  redactValue,
  type Search,
  withoutEscapes,
} from "./search.ts";
import type { SecretPart, Strength } from "./secret-parts.ts";
import { type SecretPiece, secretPieces } from "./secret-views.ts";

/** The secrets of one run and the search for them, in every encoding, in whatever leaves. */
export interface SecretRegistry {
  /**
   * From now on this value is searched for. Values shorter than 6 characters are searched for in
   * exact form only, as whole JSON strings.
   * @throws CONNECTOR_PROTOCOL when the run would have more secrets than its limits; it is not
   * searched for then
   */
  add(value: string): void;
  /**
   * As {@link add}, of a token that another one will replace: it is searched for until there are so
   * many newer ones that their limit is reached.
   */
  addPassing(token: string): void;
  /**
   * Makes the search of what has been added, in pieces with turns of the event loop between them.
   * Whoever adds long secrets waits for it; what is looked for before makes the rest at once.
   */
  prepare(): Promise<void>;
  /** True when the bytes hold a secret in any encoding. */
  contains(bytes: Uint8Array): boolean;
  /**
   * The text with every secret replaced by "[redacted]"; the same string when there is none. Counts
   * hits.
   */
  redactText(text: string): string;
  /**
   * NDJSON lines (each ends with \n) with every string that holds a secret replaced by
   * "[redacted]"; the same buffer when there is none. Numbers keep their exact text. Counts hits.
   * @throws LEAK_BLOCKED when a line still holds a secret afterwards.
   */
  redactLines(lines: Buffer): Buffer;
  /**
   * The batch with every value that holds a secret, or a part of one that goes on in the next
   * value, replaced by "[redacted]", or by null where its column is no text; the same batch when
   * there is none. Counts hits.
   */
  redactBatch(batch: Batch): Batch;
  /** How often something was redacted so far. */
  readonly hitCount: number;
}

/** How much is searched for at most; the memory of a search is a few hundred times as much. */
export interface SecretLimits {
  /** Bytes of all secrets. */
  readonly together: number;
  /** Those that are looked for one by one. */
  readonly short: number;
  /** Bytes of the tokens that replace each other; older ones are forgotten. */
  readonly passing: number;
}

/** The limits of a run. */
export const runSecretLimits: SecretLimits = {
  together: budgets.runSecrets.together,
  short: budgets.runSecrets.count[0],
  passing: budgets.passingTokens.together,
};

/** An empty registry. */
export function createSecretRegistry(limits?: SecretLimits): SecretRegistry {
  const known = createKnownSecrets(limits);
  let search = createSearch();
  let waiting: WaitingPiece[] = [];
  /** Secrets that were added since, until a new search takes their place. */
  let sinceRenewal: WaitingPiece[] | undefined;
  let preparing: Promise<void> | undefined;
  let hitCount = 0;
  const mayForget = limits?.passing ?? Number.POSITIVE_INFINITY;

  const current = (): Search => {
    for (const { piece, strength } of waiting.splice(0)) search.add(piece, strength);
    return search;
  };
  const wait = (parts: readonly SecretPart[]) => {
    const pieces = piecesOf(parts);
    waiting.push(...pieces);
    sinceRenewal?.push(...pieces);
    // Nobody waits for the search to be prepared: this bounds its memory.
    if (known.forgottenBytes() > 3 * mayForget) {
      search = createSearch();
      waiting = piecesOf(known.renew());
      sinceRenewal = undefined;
    }
  };

  async function prepare(): Promise<void> {
    while (waiting.length > 0 || known.forgottenBytes() > mayForget) {
      if (known.forgottenBytes() <= mayForget && search.hasRoom(charactersOf(waiting)))
        await addInTurns(search, waiting);
      else await renew();
    }
    preparing = undefined;
  }

  /** A larger search, or one without what has been forgotten; the one before serves meanwhile. */
  async function renew(): Promise<void> {
    const pieces = piecesOf(known.renew());
    const since: WaitingPiece[] = [];
    sinceRenewal = since;
    // Room for as much again spares making it anew for each token; for more than its limits, never.
    const characters = charactersOf(pieces);
    const most = limits ? limits.together + limits.passing : Number.POSITIVE_INFINITY;
    const renewed = createSearch(Math.max(1.1 * characters, Math.min(2 * characters, most)));
    await addInTurns(renewed, pieces);
    if (sinceRenewal !== since) return;
    search = renewed;
    waiting = since;
    sinceRenewal = undefined;
  }

  return {
    get hitCount() {
      return hitCount;
    },
    add: (value) => wait(known.add(value)),
    addPassing: (token) => wait(known.addPassing(token)),
    prepare() {
      preparing ??= prepare();
      return preparing;
    },
    contains(bytes) {
      const searched = current();
      const buffer = asBuffer(bytes);
      return [buffer, ...withoutEscapes(searched, buffer)].some((one) => holds(searched, one));
    },
    redactText(text) {
      const { scanner, short } = current();
      const bytes = Buffer.from(text);
      const ranges = mergeRanges([...scanner.find(bytes), ...findEscaped(current(), bytes)]);
      hitCount += ranges.length;
      const scanned = ranges.length === 0 ? text : replaceBytes(bytes, ranges);
      const shortRanges = short.find(scanned);
      hitCount += shortRanges.length;
      return shortRanges.reduceRight(
        (rest, { start, end }) => rest.slice(0, start) + redactedWord + rest.slice(end),
        scanned,
      );
    },
    redactLines(lines) {
      const searched = current();
      if (!isSuspicious(searched, lines)) return lines;
      let changed = false;
      const safe = splitLines(lines).map((line) => {
        if (!isSuspicious(searched, line)) return line;
        const { json, count } = redactValue(searched, line);
        if (json === undefined) throw new ConnectorError("LEAK_BLOCKED");
        if (count === 0) return line;
        hitCount += count;
        changed = true;
        return Buffer.from(`${json}\n`);
      });
      return changed ? Buffer.concat(safe) : lines;
    },
    redactBatch(batch) {
      const redacted = redactBatch(current(), batch);
      hitCount += redacted.count;
      return redacted.batch;
    },
  };
}

interface WaitingPiece {
  readonly piece: SecretPiece;
  readonly strength: Strength;
}

/** Of a secret that counts only in full there is one piece. */
const piecesOf = (parts: readonly SecretPart[]): WaitingPiece[] =>
  parts.flatMap(({ value, strength }) => {
    const pieces = strength === "piece" ? secretPieces(value) : [{ value, from: 0 }];
    return pieces.map((piece) => ({ piece, strength }));
  });

const charactersOf = (pieces: readonly WaitingPiece[]) =>
  pieces.reduce((sum, { piece }) => sum + piece.value.length, 0);

/** One in each turn of the event loop. What somebody takes out meanwhile, they add themselves. */
async function addInTurns(search: GrowingSearch, pieces: WaitingPiece[]): Promise<void> {
  for (let next = pieces.shift(); next !== undefined; next = pieces.shift()) {
    search.add(next.piece, next.strength);
    await setImmediate();
  }
}

/** Where secrets stand whose characters are escapes, some or all. */
function findEscaped({ scanner, short }: Search, bytes: Buffer): Range[] {
  return [false, true].flatMap((withQuotedPrintable) => {
    const folded = fold(bytes, withQuotedPrintable);
    if (folded === undefined) return [];
    const text = asBuffer(folded.bytes).toString();
    const bytesBefore = (position: number) => Buffer.byteLength(text.slice(0, position));
    const inBytes = ({ start, end }: Range) => ({
      start: bytesBefore(start),
      end: bytesBefore(end),
    });
    const found = [...scanner.find(folded.bytes), ...short.find(text).map(inBytes)];
    return found.flatMap((range) => {
      const start = folded.starts[range.start] ?? bytes.length;
      const end = folded.starts[range.end] ?? bytes.length;
      // Without an escape in it, it is found as it stands.
      return end - start > range.end - range.start ? [{ start, end }] : [];
    });
  });
}

/** Each with its \n. */
function splitLines(lines: Buffer): Buffer[] {
  const split: Buffer[] = [];
  for (let start = 0; start < lines.length; ) {
    const newline = lines.indexOf(10, start);
    const end = newline === -1 ? lines.length : newline + 1;
    split.push(lines.subarray(start, end));
    start = end;
  }
  return split;
}

/** Also takes the rest of the word around a hit: base64 leaves a part of a character there. */
function replaceBytes(bytes: Buffer, ranges: readonly Range[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const range of ranges) {
    let { start, end } = range;
    while (start > done && continuesWord(bytes[start - 1])) start--;
    while (end < bytes.length && continuesWord(bytes[end])) end++;
    // Two hits in one word are one gap.
    if (start > done || done === 0) pieces.push(bytes.toString("utf8", done, start), redactedWord);
    done = end;
  }
  return pieces.join("") + bytes.toString("utf8", done);
}

/** Letters, digits, `_`, `-`, and the inner bytes of a character beyond ASCII. */
function continuesWord(byte = 0): boolean {
  return /[\w-]/.test(String.fromCharCode(byte)) || (byte & 0xc0) === 0x80;
}
