import type { FixtureLeak } from "./scan.ts";

/**
 * No recording was made, and nothing was written. The message is one line that says what to do; it
 * never holds a secret.
 */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
  /** Secrets and people that would have been written; empty for other failures. */
  readonly leaks: readonly FixtureLeak[];

  constructor(message: string, leaks: readonly FixtureLeak[] = []) {
    super(message);
    this.leaks = leaks;
  }
}
