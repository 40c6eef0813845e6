import { createHash } from "node:crypto";

/** Lower-case names in use. */
export type Taken = Pick<ReadonlySet<string>, "has">;

/** The rules of a database for names. */
export interface NameRules {
  /** Longest identifier, in bytes of UTF-8. Default 120. */
  readonly maxBytes?: number | undefined;
  /**
   * Lower-case names that begin like this are the destination's own. Default `_svc_`, as for
   * columns.
   */
  readonly reservedPrefix?: string | undefined;
  /** Lower-case names that the database keeps for itself. */
  readonly reserved?: Taken | undefined;
}

/**
 * An SQL name that no other in `taken` equals when case is ignored. A name that is free and fits
 * stays as it is; any other gets the hash of what it stands for, so it is the same each time.
 */
export function toSqlName(name: string, taken: Taken, rules: NameRules = {}): string {
  const { maxBytes = 120, reservedPrefix = "_svc_", reserved } = rules;
  const isReserved = (lower: string) =>
    lower.startsWith(reservedPrefix) || reserved?.has(lower) === true;
  const isFree = (candidate: string) =>
    !isReserved(candidate.toLowerCase()) && !taken.has(candidate.toLowerCase());
  const fits =
    name !== "" &&
    !name.includes("\0") &&
    name.isWellFormed() &&
    Buffer.byteLength(name) <= maxBytes;
  if (fits && isFree(name)) return name;
  // One byte for an x, nine for the hash.
  const base = cutToBytes(name.toWellFormed().replaceAll("\0", "_"), maxBytes - 10) || "unnamed";
  const begin = isReserved(base.toLowerCase()) ? `x${base}` : base;
  let hash = shortHash(name);
  // Somebody may have chosen a name that ends in the hash of another.
  while (!isFree(`${begin}_${hash}`)) hash = shortHash(hash);
  return `${begin}_${hash}`;
}

function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  if (bytes.length <= maxBytes) return bytes.toString().replace(/\ufffd+$/, "");
  let end = maxBytes;
  // A byte that begins with the bits 10 goes on with a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

/** Tells names apart that had to be changed. */
export const shortHash = (text: string) =>
  createHash("sha256").update(text).digest("hex").slice(0, 8);

/** An SQL identifier. */
export const quoteName = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** An SQL string literal of standard SQL, without escapes. Must not hold a NUL character. */
export const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;
