/**
 * Keeps requests of one credential within the provider's limit without wasting it: within it they
 * go out at once, beyond it they wait in line.
 */
import { ConnectorError } from "../contract/errors.ts";
import type { Booking, RateLedger } from "../contract/rate-ledger.ts";
import { createRateBudget, type RateBudgetOptions, type Ticket } from "./rate-budget.ts";

export interface RateLimiter {
  /**
   * Resolves, in order of the calls, when a request may be sent. `onWaiting` is called with the
   * expected time when it has to wait.
   * @throws RATE_LIMITED when it would take longer than the limiter waits · CANCELLED
   */
  take(signal: AbortSignal, onWaiting?: (untilMs: number) => void): Promise<Ticket>;
  /** A 2xx answer turned out to say "too many requests". */
  refused(): void;
}

/** Lets everything through. */
export const unlimited: RateLimiter = {
  async take(signal) {
    if (signal.aborted) throw new ConnectorError("CANCELLED");
    return { answered() {}, failed() {} };
  },
  refused() {},
};

export interface RateLimiterOptions extends RateBudgetOptions {
  readonly maxWaitMs: number;
  /** Where other processes with this credential count too. */
  readonly ledger?: RateLedger | undefined;
}

export function createRateLimiter(options: RateLimiterOptions): RateLimiter {
  const { clock, maxWaitMs, ledger } = options;
  let wake: (() => void) | undefined;
  const budget = createRateBudget(options, () => wake?.());
  let line: Promise<unknown> = Promise.resolve();
  let lineLength = 0;

  async function waitInLine(
    signal: AbortSignal,
    onWaiting: (untilMs: number) => void,
  ): Promise<Ticket> {
    for (;;) {
      if (signal.aborted) throw new ConnectorError("CANCELLED");
      const nowMs = clock.now();
      const own = budget.nextAt(nowMs);
      const passed = own <= nowMs ? await pass() : own;
      if (typeof passed !== "number") return passed;
      const at = passed;
      if (at !== Number.POSITIVE_INFINITY) {
        if (at - nowMs > maxWaitMs) throw new ConnectorError("RATE_LIMITED", {}, at - nowMs);
        onWaiting(at);
      }
      await untilOrChange(at - nowMs, signal);
    }
  }

  /** The ticket, or when the other processes may leave room for it. */
  async function pass(): Promise<Ticket | number> {
    const { requests, perMs } = budget.window;
    if (!ledger || requests === Number.POSITIVE_INFINITY) return budget.letThrough();
    // A ledger that cannot be asked leaves each process to its own count.
    const booked = await ledger.book(requests, perMs).catch(() => undefined);
    if (!booked) return budget.letThrough();
    return "againAtMs" in booked ? booked.againAtMs : withBooking(budget.letThrough(), booked);
  }

  function withBooking(ticket: Ticket, booking: Booking): Ticket {
    const settle = () => void booking.settle(budget.window.perMs).catch(() => undefined);
    return {
      answered(status, headers) {
        ticket.answered(status, headers);
        settle();
        if (status === 429) reportRefusal();
      },
      failed() {
        ticket.failed();
        settle();
      },
    };
  }

  /** A refusal is one of all who have the credential. */
  function reportRefusal(): void {
    const at = budget.nextAt(clock.now());
    if (ledger && Number.isFinite(at)) void ledger.block(at).catch(() => undefined);
  }

  /** Sleeps, but not past an answer: it may have made the wait shorter. */
  async function untilOrChange(durationMs: number, signal: AbortSignal): Promise<void> {
    const sleep = new AbortController();
    const stop = () => sleep.abort();
    const changed = new Promise<void>((resolve) => {
      wake = resolve;
    });
    signal.addEventListener("abort", stop, { once: true });
    const aborted = new Promise<void>((resolve) =>
      sleep.signal.addEventListener("abort", () => resolve(), { once: true }),
    );
    const slept =
      durationMs === Number.POSITIVE_INFINITY
        ? aborted
        : clock.sleep(durationMs, sleep.signal).catch(() => undefined);
    await Promise.race([slept, changed, aborted]);
    wake = undefined;
    signal.removeEventListener("abort", stop);
    sleep.abort();
  }

  return {
    async take(signal, onWaiting = () => undefined) {
      if (
        !ledger &&
        lineLength === 0 &&
        !signal.aborted &&
        budget.nextAt(clock.now()) <= clock.now()
      )
        return budget.letThrough();
      const before = line;
      const mine = Promise.withResolvers<void>();
      line = Promise.all([before, mine.promise]);
      lineLength++;
      try {
        await settledOrAborted(before, signal);
        return await waitInLine(signal, onWaiting);
      } finally {
        lineLength--;
        mine.resolve();
      }
    },
    refused() {
      budget.refused();
      reportRefusal();
    },
  };
}

async function settledOrAborted(before: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<void>();
  const stop = () => aborted.resolve();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await Promise.race([before, aborted.promise]);
  signal.removeEventListener("abort", stop);
}
