import { describe, expect, test } from "vitest";
import type { RateLedger } from "../contract/rate-ledger.ts";
import { createRateLimiter } from "./rate-limit.ts";

const perMs = 60_000;
const never = new AbortController().signal;

/** Time that jumps to the next moment at which somebody wants to go on. */
function createJumpingClock() {
  let nowMs = 0;
  const timers: { readonly atMs: number; readonly fire: () => void }[] = [];
  return {
    now: () => nowMs,
    sleep: (durationMs: number) =>
      new Promise<void>((fire) => timers.push({ atMs: nowMs + durationMs, fire })),
    /** Plays until all of it is done. */
    async play(works: readonly Promise<unknown>[]) {
      let isDone = false;
      void Promise.all(works).finally(() => {
        isDone = true;
      });
      for (;;) {
        for (let turn = 0; turn < 5; turn += 1)
          await new Promise((resolve) => setImmediate(resolve));
        if (isDone) return;
        timers.sort((a, b) => a.atMs - b.atMs);
        const next = timers.shift();
        if (!next) throw new Error("nobody goes on");
        nowMs = Math.max(nowMs, next.atMs);
        next.fire();
      }
    },
  };
}

/** As a database counts. */
function createLedger(clock: { now(): number }): RateLedger {
  const booked = new Set<{ untilMs: number }>();
  let blockedUntilMs = 0;
  return {
    async book(requests) {
      if (blockedUntilMs > clock.now()) return { againAtMs: blockedUntilMs };
      for (const one of booked) if (one.untilMs <= clock.now()) booked.delete(one);
      if (booked.size >= requests) {
        const ends = [...booked].map(({ untilMs }) => untilMs).sort((a, b) => a - b);
        return { againAtMs: Math.min(ends[0] ?? 0, clock.now() + perMs) };
      }
      const booking = { untilMs: Number.POSITIVE_INFINITY };
      booked.add(booking);
      return {
        async settle(windowMs) {
          booking.untilMs = clock.now() + windowMs;
        },
      };
    },
    async block(untilMs) {
      blockedUntilMs = Math.max(blockedUntilMs, untilMs);
    },
  };
}

describe("processes with one credential", () => {
  const declared = { requests: 10, perMs };
  const options = { declared, concurrency: 4, maxWaitMs: 3_600_000 };

  /** Each of them sends 25 requests; gives when they arrived. */
  async function send(ledgers: (clock: { now(): number }) => readonly (RateLedger | undefined)[]) {
    const clock = createJumpingClock();
    const arrivals: number[] = [];
    const works = ledgers(clock).flatMap((ledger) => {
      const limiter = createRateLimiter({ ...options, clock, ledger });
      return Array.from({ length: 25 }, async () => {
        const ticket = await limiter.take(never);
        arrivals.push(clock.now());
        await clock.sleep(50);
        ticket.answered(200, {});
      });
    });
    await clock.play(works);
    return arrivals;
  }
  const most = (arrivals: readonly number[]) =>
    Math.max(
      ...arrivals.map((from) => arrivals.filter((at) => at >= from && at < from + perMs).length),
    );

  test("send no more together than its provider allows", async () => {
    const arrivals = await send((clock) => {
      const ledger = createLedger(clock);
      return [ledger, ledger];
    });
    expect([arrivals.length, most(arrivals)]).toEqual([50, 10]);
  });

  test("send twice as much when they do not know of each other", async () => {
    expect(most(await send(() => [undefined, undefined]))).toBe(20);
  });

  test("count for themselves while the ledger cannot be asked", async () => {
    const broken: RateLedger = {
      book: () => Promise.reject(new Error("no connection")),
      block: () => Promise.reject(new Error("no connection")),
    };
    const arrivals = await send(() => [broken]);
    expect([arrivals.length, most(arrivals)]).toEqual([25, 10]);
  });

  test("wait for what one of them was told", async () => {
    const clock = createJumpingClock();
    const ledger = createLedger(clock);
    const [one, other] = [ledger, ledger].map((shared) =>
      createRateLimiter({ ...options, clock, ledger: shared }),
    );
    (await one?.take(never))?.answered(429, { "retry-after": "120" });
    let wentOnAt = 0;
    const waiting = other?.take(never).then(() => {
      wentOnAt = clock.now();
    });
    await clock.play([waiting ?? Promise.resolve()]);
    expect(wentOnAt).toBeGreaterThanOrEqual(120_000);
  });
});
