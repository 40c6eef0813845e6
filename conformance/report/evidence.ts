/**
 * Evidence as reports show it: how much of it, and what is said where something is left out. The
 * one place of these limits.
 */
import type { Evidence, EvidenceExchange } from "../contract/rule.ts";

/** Sizes are in UTF-16 characters, as `length` counts. */
export interface EvidenceLimits {
  /** Problems of one rule, and the first of them that are shown with their evidence. */
  readonly maxProblems: number;
  readonly maxProven: number;
  readonly maxExchanges: number;
  readonly maxMessages: number;
  /** Length of one request, one response, one message or one text. */
  readonly maxTextLength: number;
  /** Text on each side of a leak, and at most this much of both ends of the leak itself. */
  readonly leakContextLength: number;
}

/**
 * A page has room: enough to understand a failure without the recording, and at most some 400 KB
 * for a rule.
 */
export const pageLimits: EvidenceLimits = {
  maxProblems: 5,
  maxProven: 5,
  maxExchanges: 8,
  maxMessages: 20,
  maxTextLength: 2400,
  leakContextLength: 400,
};

/** A terminal and a CI log scroll away: they get the most important part. */
export const terminalLimits: EvidenceLimits = {
  maxProblems: 3,
  maxProven: 1,
  maxExchanges: 2,
  maxMessages: 5,
  maxTextLength: 240,
  leakContextLength: 80,
};

/** Evidence cut to its limits. Items count from 1, as they stood in the whole evidence. */
export type ShownEvidence =
  | {
      readonly kind: "exchanges";
      readonly title: string;
      readonly items: readonly (ShownExchange | LeftOut)[];
    }
  | {
      readonly kind: "messages";
      readonly title: string;
      readonly items: readonly (ShownMessage | LeftOut)[];
    }
  | {
      readonly kind: "leak";
      readonly title: string;
      readonly before: string;
      readonly leak: string;
      readonly after: string;
      readonly encoding: string;
    }
  | { readonly kind: "text"; readonly title: string; readonly text: string };

export interface ShownExchange extends EvidenceExchange {
  readonly number: number;
}

export interface ShownMessage {
  readonly number: number;
  readonly line: string;
  readonly isMarked: boolean;
}

/** So many items stood here. */
export interface LeftOut {
  readonly leftOut: number;
}

/**
 * The evidence within its limits: marked items and their neighbours stay, texts keep their
 * beginning and end.
 */
export function showEvidence(evidence: Evidence, limits: EvidenceLimits): ShownEvidence {
  const { title } = evidence;
  switch (evidence.kind) {
    case "exchanges": {
      const shown = evidence.exchanges.map((exchange, index) => ({
        ...exchange,
        number: index + 1,
      }));
      const cut = (exchange: ShownExchange): ShownExchange => ({
        ...exchange,
        request: cutText(exchange.request, limits.maxTextLength),
        response: cutText(exchange.response, limits.maxTextLength),
      });
      return { kind: "exchanges", title, items: cutItems(shown, limits.maxExchanges, cut) };
    }
    case "messages": {
      const marked = new Set(evidence.marked);
      const shown = evidence.lines.map((line, index) => ({
        number: (evidence.first ?? 1) + index,
        line,
        isMarked: marked.has(index),
      }));
      const cut = (message: ShownMessage): ShownMessage => ({
        ...message,
        line: cutText(message.line, limits.maxTextLength, " "),
      });
      return { kind: "messages", title, items: cutItems(shown, limits.maxMessages, cut) };
    }
    case "leak":
      return {
        kind: "leak",
        title,
        encoding: evidence.encoding,
        ...cutAround(evidence, limits.leakContextLength),
      };
    case "text":
      return { kind: "text", title, text: cutText(evidence.text, limits.maxTextLength) };
  }
}

/** How a leak is written: "as it is", "as base64". */
export const howFound = ({ encoding }: { readonly encoding: string }) =>
  encoding === "as it is" ? encoding : `as ${encoding}`;

/** A note in the place of less text than it has itself tells nothing. */
const noteLength = 60;

/**
 * The first two thirds and the last third of what fits, with a note between them. `around` stands
 * on both sides of it.
 */
function cutText(text: string, maxLength: number, around = "\n"): string {
  if (text.length <= maxLength + noteLength) return text;
  const head = text.slice(0, Math.ceil((maxLength * 2) / 3));
  const tail = text.slice(text.length - Math.floor(maxLength / 3));
  return `${head}${around}${leftOutNote(text.length - head.length - tail.length, "character")}${around}${tail}`;
}

/** The note where something is left out: "[… 12,000 characters left out …]". */
export function leftOutNote(count: number, noun: string): string {
  return `[… ${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"} left out …]`;
}

/**
 * At most so many items: marked ones first, then those nearest to a marked one, then the earliest.
 */
function cutItems<T extends { readonly isMarked: boolean }>(
  items: readonly T[],
  most: number,
  cut: (item: T) => T,
): (T | LeftOut)[] {
  const distances = distancesToMarked(items);
  const kept = new Set(
    items
      .map((_, index) => index)
      .sort((a, b) => (distances[a] ?? 0) - (distances[b] ?? 0) || a - b)
      .slice(0, most),
  );
  const shown: (T | LeftOut)[] = [];
  let leftOut = 0;
  for (const [index, item] of items.entries()) {
    if (!kept.has(index)) {
      leftOut += 1;
      continue;
    }
    if (leftOut > 0) shown.push({ leftOut });
    leftOut = 0;
    shown.push(cut(item));
  }
  if (leftOut > 0) shown.push({ leftOut });
  return shown;
}

/** Steps from each item to the nearest marked one; the number of items where none is marked. */
function distancesToMarked(items: readonly { readonly isMarked: boolean }[]): readonly number[] {
  const distances = items.map((item) => (item.isMarked ? 0 : items.length));
  for (let index = 1; index < items.length; index += 1)
    distances[index] = Math.min(distances[index] ?? 0, (distances[index - 1] ?? 0) + 1);
  for (let index = items.length - 2; index >= 0; index -= 1)
    distances[index] = Math.min(distances[index] ?? 0, (distances[index + 1] ?? 0) + 1);
  return distances.map((distance) => Math.min(distance, items.length));
}

/**
 * A range that does not fit its text is brought inside: a mistake of a rule must not cost its
 * report.
 */
function cutAround(
  evidence: { readonly text: string; readonly start: number; readonly end: number },
  context: number,
) {
  const start = Math.min(Math.max(evidence.start, 0), evidence.text.length);
  const end = Math.max(evidence.end, start);
  const from = Math.max(0, start - context);
  const to = Math.min(evidence.text.length, end + context);
  return {
    before: (from > 0 ? "…" : "") + evidence.text.slice(from, start),
    leak: cutText(evidence.text.slice(start, end), 2 * context, ""),
    after: evidence.text.slice(end, to) + (to < evidence.text.length ? "…" : ""),
  };
}
