/** The secrets of one run and the search for them, in every encoding, in whatever leaves. */
export interface SecretRegistry {
  /** From now on this value is searched for. Values shorter than 6 characters are searched for in exact form only, as whole JSON strings. */
  add(value: string): void;
  /** True when the bytes hold a secret in any encoding. */
  contains(bytes: Uint8Array): boolean;
  /** The text with every secret replaced by "[redacted]"; the same string when there is none. Counts hits. */
  redactText(text: string): string;
  /**
   * NDJSON lines (each ends with \n) with every string that holds a secret replaced by "[redacted]"; the same buffer when there is none.
   * Numbers keep their exact text. Counts hits.
   * @throws LEAK_BLOCKED when a line still holds a secret afterwards.
   */
  redactLines(lines: Buffer): Buffer;
  /** How often something was redacted so far. */
  readonly hitCount: number;
}
