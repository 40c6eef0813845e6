import type { Leak } from "./scan.ts";

/**
 * No recording was made, and nothing was written. The message is one line that says what to do; it
 * never holds a secret.
 */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
  /** What would have been written and must not be; empty for other failures. */
  readonly leaks: readonly Leak[];

  constructor(message: string, leaks: readonly Leak[] = []) {
    super(message);
    this.leaks = leaks;
  }
}
