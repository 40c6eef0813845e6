/**
 * Counts the requests with one credential that several processes send: a provider counts them
 * together. Whatever fails in it leaves each process to its own count.
 */
export interface RateLedger {
  /**
   * Books a request where fewer than `requests` count now.
   * @returns the booking, or when (clock time) it is worth asking again
   */
  book(requests: number, perMs: number): Promise<Booking | { readonly againAtMs: number }>;
  /** Whoever has the credential sends nothing before that. */
  block(untilMs: number): Promise<void>;
}

export interface Booking {
  /**
   * It was answered, or has failed: it counts for so long from now on. Until then it counts too.
   */
  settle(perMs: number): Promise<void>;
}
