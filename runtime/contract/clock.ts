/**
 * The only source of time in the runtime and in connectors. Tests and conformance runs inject a scaled or virtual one.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /**
   * Resolves after `durationMs` of this clock's time.
   * @throws CANCELLED when `signal` aborts first.
   */
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
}
