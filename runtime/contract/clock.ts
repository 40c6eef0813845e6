import type { Signal } from "./platform.ts";

/**
 * The only source of time in the runtime and in connectors. Tests and conformance runs inject a
 * scaled or virtual one.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Resolves after `durationMs` of this clock's time.
   * @throws CANCELLED when `signal` aborts first.
   */
  sleep(durationMs: number, signal?: Signal): Promise<void>;
  /**
   * True for a clock on which time passes in sleeps only: a worker's clock then stands still as
   * well between two messages of the host.
   */
  readonly standsStill?: boolean;
}
