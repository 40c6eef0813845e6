import {
  createScanner,
  createSecretRegistry,
  type Scanner,
  type SecretView,
  secretViews,
} from "svc-connectors/host";
import type { Edit } from "./edits.ts";

/**
 * The real secrets of a recording with their placeholders, and the search for them in any encoding.
 */
export interface KnownSecrets {
  /** A secret of the configuration. `value` may be an altered form of it, too. */
  addConfigured(path: string, value: string): void;
  /**
   * The placeholder of a value that the provider gave out: always the same for the same value.
   * `name` as the provider calls it.
   */
  issued(name: string, value: string): string;
  /** Where the text holds a secret, or a part of 10 characters of one, in any encoding. */
  find(text: string): Edit[];
  /** The placeholder of a whole value; undefined = it is no known secret. */
  placeholderOf(value: string): string | undefined;
  /** The real value of a placeholder. */
  valueOf(placeholder: string): string | undefined;
  /** True when the bytes hold a secret in any encoding, short ones as whole words. */
  isIn(bytes: Buffer): boolean;
  /** Finds all secrets in all encodings: for `scanDeep`. */
  scanner(): Scanner;
}

interface Entry {
  readonly value: string;
  readonly placeholder: string;
  readonly scanner: Scanner;
}

interface Search {
  readonly entries: readonly Entry[];
  readonly all: Scanner;
  readonly short: readonly Entry[];
}

/**
 * Shorter ones count as whole words only, and still shorter ones as whole values: "test" is in
 * every text.
 */
const shortestPiece = 10;
const shortestWord = 6;
/** Beside an encoded secret stand characters that it shares with its neighbours. */
const sharedEdge = 4;

export function createKnownSecrets(): KnownSecrets {
  const placeholders = new Map<string, string>();
  const values = new Map<string, string>();
  const counts = new Map<string, number>();
  const registry = createSecretRegistry();
  let search: Search | undefined;

  const add = (value: string, placeholder: string) => {
    placeholders.set(value, placeholder);
    if (!values.has(placeholder)) values.set(placeholder, value);
    if (!isSearchable(value) && !placeholder.startsWith("{{secret:")) return;
    registry.add(value);
    search = undefined;
  };
  const current = (): Search => {
    search ??= createSearch(placeholders);
    return search;
  };

  return {
    addConfigured(path, value) {
      if (value !== "" && !placeholders.has(value)) add(value, `{{secret:${path}}}`);
    },
    issued(name, value) {
      const known = placeholders.get(value);
      if (known !== undefined) return known;
      const plain = name.replace(/[^\w.-]+/g, "_").toLowerCase() || "token";
      const count = (counts.get(plain) ?? 0) + 1;
      counts.set(plain, count);
      const placeholder = `{{issued:${plain}${count === 1 ? "" : `:${count}`}}}`;
      add(value, placeholder);
      return placeholder;
    },
    find(text) {
      const { all, entries, short } = current();
      const words = short.flatMap(({ value, placeholder }) => wordEdits(text, value, placeholder));
      const bytes = Buffer.from(text);
      if (!all.holds(bytes)) return words;
      const pieces = entries.flatMap(({ scanner, placeholder, value }) =>
        scanner.find(bytes).map((range) => pieceEdit(text, bytes, range, value, placeholder)),
      );
      return [...pieces, ...words];
    },
    placeholderOf: (value) => placeholders.get(value),
    valueOf: (placeholder) => values.get(placeholder),
    isIn: (bytes) => registry.contains(bytes),
    scanner: () => current().all,
  };
}

/** Words of a language and short numbers are no secret that could be searched for elsewhere. */
function isSearchable(value: string): boolean {
  return value.length >= 8 && /\d|[a-z][A-Z]/.test(value) && !/^\d{1,9}$/.test(value);
}

function createSearch(placeholders: ReadonlyMap<string, string>): Search {
  const wanted = [...placeholders].filter(
    ([value, placeholder]) => isSearchable(value) || placeholder.startsWith("{{secret:"),
  );
  const entries = wanted.map(([value, placeholder]) => ({
    value,
    placeholder,
    views: viewsOf(value),
  }));
  return {
    entries: entries.map(({ views, ...entry }) => ({ ...entry, scanner: createScanner(views) })),
    all: createScanner(entries.flatMap(({ views }) => views)),
    short: entries
      .filter(({ value }) => value.length < shortestPiece && value.length >= shortestWord)
      .map(({ views, ...entry }) => ({ ...entry, scanner: createScanner(views) })),
  };
}

function viewsOf(value: string): SecretView[] {
  const views = secretViews(value);
  if (value.length >= shortestPiece) return views;
  if (value.length < shortestWord) return [];
  return views.map((view) => ({ ...view, minBytes: view.bytes.length }));
}

function wordEdits(text: string, value: string, placeholder: string): Edit[] {
  const edits: Edit[] = [];
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length)) {
    const end = at + value.length;
    const isWord = !/\w/.test(text.charAt(at - 1)) && !/\w/.test(text.charAt(end));
    if (isWord) edits.push({ start: at, end, text: placeholder });
  }
  return edits;
}

/** Positions in bytes become positions in the text; an encoded piece takes its edges with it. */
function pieceEdit(
  text: string,
  bytes: Buffer,
  range: { start: number; end: number },
  value: string,
  placeholder: string,
): Edit {
  const isAscii = bytes.length === text.length;
  let start = isAscii ? range.start : bytes.toString("utf8", 0, range.start).length;
  let end = isAscii ? range.end : bytes.toString("utf8", 0, range.end).length;
  if (!value.includes(text.slice(start, end))) {
    for (let count = 0; count < sharedEdge && /[\w+]/.test(text.charAt(start - 1)); count++)
      start--;
    for (let count = 0; count < sharedEdge && /[\w+=/%-]/.test(text.charAt(end)); count++) end++;
  }
  return { start, end, text: placeholder };
}
