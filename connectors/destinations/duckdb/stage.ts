import { type FileHandle, open, rm } from "node:fs/promises";

/** Rows on their way into a table: a private file of JSON lines. */
export interface Stage {
  readonly path: string;
  readonly rowCount: number;
  /** A number came that a double may not hold. */
  readonly hasLongNumbers: boolean;
  /** No line is longer. */
  readonly maxLineBytes: number;
  add(lines: Buffer, rowCount: number): Promise<void>;
  /** Says that a checkpoint covers the rows so far. */
  markCovered(): void;
  /** Drops the rows that came after the mark, or all when there is none. */
  cutToCovered(): Promise<void>;
  /** Empties it. */
  clear(): Promise<void>;
  remove(): Promise<void>;
}

/** DuckDB's own default for the longest line. */
const defaultMaxLineBytes = 16 * 1024 * 1024;

/**
 * The numbers of a stream that DuckDB would round, and that have to be put into quotes: see {@link
 * quoteNumbers}.
 */
export interface NumberCare {
  /**
   * Properties of which no number is rounded, and that become a DECIMAL: a double holds those of up
   * to 15 digits.
   */
  readonly decimals: readonly string[];
  /** Properties of which every digit is kept, and that become text. */
  readonly texts: readonly string[];
  /**
   * Whether there are other numbers with a fraction, of their own or inside JSON: of these only
   * those that a double cannot hold.
   */
  readonly hasOthers: boolean;
}

export async function createStage(path: string, care: NumberCare): Promise<Stage> {
  let rowCount = 0;
  let byteCount = 0;
  let covered = { rowCount: 0, byteCount: 0 };
  let maxLineBytes = defaultMaxLineBytes;
  let hasLongNumbers = false;
  const keysOf = (properties: readonly string[]) =>
    new Set(properties.map((property) => Buffer.from(JSON.stringify(property)).toString("latin1")));
  const textKeys = keysOf(care.texts);
  const exactKeys = keysOf([...care.texts, ...care.decimals]);
  const hasNumbers = exactKeys.size > 0 || care.hasOthers;
  // Last of all: a file that nobody closes ends the process.
  const file: FileHandle = await open(path, "w", 0o600);
  return {
    path,
    get rowCount() {
      return rowCount;
    },
    get hasLongNumbers() {
      return hasLongNumbers;
    },
    get maxLineBytes() {
      return maxLineBytes;
    },
    async add(lines, rows) {
      const text = hasNumbers ? lines.toString("latin1") : "";
      const isLong = hasNumbers && beyondDouble.test(text);
      hasLongNumbers ||= care.hasOthers && isLong;
      const keys = isLong ? exactKeys : textKeys;
      const kept = mendSurrogates(isLong || keys.size > 0 ? quoteNumbers(text, keys) : lines);
      for (let offset = 0; offset < kept.length; ) {
        const { bytesWritten } = await file.write(
          kept,
          offset,
          kept.length - offset,
          byteCount + offset,
        );
        offset += bytesWritten;
      }
      byteCount += kept.length;
      rowCount += rows;
      maxLineBytes = Math.max(maxLineBytes, kept.length);
    },
    markCovered() {
      covered = { rowCount, byteCount };
    },
    async cutToCovered() {
      ({ rowCount, byteCount } = covered);
      await file.truncate(byteCount);
    },
    async clear() {
      rowCount = 0;
      byteCount = 0;
      covered = { rowCount, byteCount };
      hasLongNumbers = false;
      await file.truncate(0);
    },
    async remove() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

/**
 * JSON text may hold half of a surrogate pair as an escape; DuckDB refuses the whole file for one.
 */
function mendSurrogates(lines: Buffer): Buffer {
  if (!lines.includes("\\ud") && !lines.includes("\\uD")) return lines;
  const mended = lines
    .toString("latin1")
    .replace(
      /\\(?:u(d[89ab][0-9a-f]{2})(\\ud[c-f][0-9a-f]{2})?|u(d[c-f][0-9a-f]{2})|[\s\S])/gi,
      (found, high, low, lone) =>
        lone !== undefined || (high !== undefined && low === undefined) ? "\\ufffd" : found,
    );
  return Buffer.from(mended, "latin1");
}

/**
 * DuckDB reads a JSON number with a fraction as a double, but a string into a DECIMAL or text
 * exactly. So numbers of exact properties are put into quotes. Of the others, inside JSON values,
 * only those are that a double cannot hold: a string there is better than another number.
 */
function quoteNumbers(text: string, exactKeys: ReadonlySet<string>): Buffer {
  let depth = 0;
  let key = "";
  const quoted = text.replace(/"(?:[^"\\]|\\[\s\S])*"|-?\d[\d.eE+-]*|[{}[\]]/g, (token) => {
    const [first = ""] = token;
    if (first === "{" || first === "[") depth += 1;
    else if (first === "}" || first === "]") depth -= 1;
    // The text before a number of the row itself is its key.
    else if (first === '"') {
      if (depth === 1) key = token;
    } else if (!/^-?\d+$/.test(token)) {
      const isExact = depth === 1 && exactKeys.has(key);
      return isExact || digits(token) !== digits(String(Number(token))) ? `"${token}"` : token;
    }
    return token;
  });
  return Buffer.from(quoted, "latin1");
}

/** Numbers with more digits than a double keeps, or larger than any. */
const beyondDouble = /\d[\d.]{15}|\d[eE]\+?\d{3}/;

/** The digits of a number that tell it from others of its size. */
const digits = (number: string) => number.replace(/[eE].*|[-.]/g, "").replace(/^0+|0+$/g, "");
