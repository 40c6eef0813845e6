import { describe, expect, test } from "vitest";
import type { RateLimit } from "../contract/egress.ts";
import { createRateLimiter } from "./rate-limit.ts";

const startMs = Date.UTC(2026, 0, 15, 12);
const perMs = 60_000;
const never = new AbortController().signal;

/** Time that stands still while anything can still happen, and then jumps to the next timer. */
function createEventClock() {
  let nowMs = startMs;
  const timers: { readonly atMs: number; readonly fire: () => void }[] = [];
  return {
    now: () => nowMs,
    sleep: (durationMs: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const timer = { atMs: nowMs + durationMs, fire: resolve };
        timers.push(timer);
        signal?.addEventListener("abort", () => {
          if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
          reject(signal.reason);
        });
      }),
    /** Nothing happens until then. */
    jumpTo(timeMs: number) {
      nowMs = timeMs;
    },
    /** Plays until that time. */
    async runUntil(endMs: number) {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        timers.sort((a, b) => a.atMs - b.atMs);
        const next = timers[0];
        if (!next || next.atMs >= endMs) return;
        timers.shift();
        nowMs = Math.max(nowMs, next.atMs);
        next.fire();
      }
    },
  };
}

type Figures = "none" | "limit and remaining" | "reset in seconds" | "reset as Unix time" | "draft";
interface Provider {
  readonly limit: number;
  /** "first" = the window begins with a request; "clock" = on the minute. */
  readonly window: "first" | "clock";
  readonly figures: Figures;
  readonly retryAfter?: boolean;
  /** Requests that someone else has already sent in the window. */
  readonly usedBefore?: number;
}

/**
 * Sends as fast as the limiter lets it, 4 at a time, 20 to 180 ms each; gives what the provider
 * counted.
 */
async function drive(provider: Provider, declared: RateLimit | undefined, windows: number) {
  const clock = createEventClock();
  const limiter = createRateLimiter({ clock, declared, concurrency: 4, maxWaitMs: 2 * perMs });
  let windowStartMs =
    provider.window === "clock" || provider.usedBefore ? startMs - 20_000 : startMs;
  let used = provider.usedBefore ?? 0;
  let sent = 0;
  let refused = 0;
  let seed = 7;
  const latencyMs = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return 10 + (seed % 80);
  };

  function receive() {
    const nowMs = clock.now();
    if (nowMs >= windowStartMs + perMs) {
      windowStartMs =
        provider.window === "clock"
          ? windowStartMs + Math.floor((nowMs - windowStartMs) / perMs) * perMs
          : nowMs;
      used = 0;
    }
    const isRefused = used >= provider.limit;
    if (isRefused) refused++;
    else used++;
    sent++;
    const remaining = String(provider.limit - used);
    const limit = String(provider.limit);
    const resetSeconds = Math.floor((windowStartMs + perMs - nowMs) / 1_000);
    const figures: Record<Figures, Record<string, string>> = {
      none: {},
      "limit and remaining": { "x-ratelimit-limit": limit, "x-ratelimit-remaining": remaining },
      "reset in seconds": {
        "x-ratelimit-limit": limit,
        "x-ratelimit-remaining": remaining,
        "x-ratelimit-reset": String(resetSeconds),
      },
      "reset as Unix time": {
        "x-ratelimit-limit": limit,
        "x-ratelimit-remaining": remaining,
        "x-ratelimit-reset": String(Math.floor((windowStartMs + perMs) / 1_000)),
      },
      draft: {
        "ratelimit-policy": `"default";q=${limit};w=60`,
        ratelimit: `"default";r=${remaining};t=${resetSeconds}`,
      },
    };
    const retryAfter =
      isRefused && provider.retryAfter ? { "retry-after": String(resetSeconds + 1) } : {};
    return {
      status: isRefused ? 429 : 200,
      headers: { ...figures[provider.figures], ...retryAfter },
    };
  }

  async function client() {
    for (;;) {
      const ticket = await limiter.take(never);
      await clock.sleep(latencyMs());
      const answer = receive();
      await clock.sleep(latencyMs());
      ticket.answered(answer.status, answer.headers);
    }
  }
  for (let index = 0; index < 4; index++) void client();
  await clock.runUntil(startMs + windows * perMs);
  return { sent, refused, ratio: (sent - refused) / (windows * provider.limit) };
}

describe("under a provider's fixed window of 600 a minute", () => {
  const figures: Figures[] = [
    "none",
    "limit and remaining",
    "reset in seconds",
    "reset as Unix time",
    "draft",
  ];
  const cases = figures.flatMap((one) =>
    (["first", "clock"] as const).map((window) => [one, window] as const),
  );

  test.each(
    cases,
  )("at least 95 %% is used and nothing refused (figures: %s, window from: %s)", async (one, window) => {
    const { ratio, refused } = await drive(
      { limit: 600, window, figures: one },
      { requests: 600, perMs },
      10,
    );
    expect(refused).toBe(0);
    expect(ratio).toBeGreaterThanOrEqual(0.95);
  });

  test.each([
    "limit and remaining",
    "draft",
  ] as const)("a declaration that is too low gives way to what the provider says (%s)", async (one) => {
    const { ratio, refused } = await drive(
      { limit: 600, window: "first", figures: one },
      { requests: 60, perMs },
      10,
    );
    expect(refused).toBe(0);
    expect(ratio).toBeGreaterThanOrEqual(0.95);
  });

  test("a declaration that is too high too, from the first answer on", async () => {
    const { ratio, refused } = await drive(
      { limit: 100, window: "first", figures: "reset in seconds" },
      { requests: 600, perMs },
      10,
    );
    expect(refused).toBe(0);
    expect(ratio).toBeGreaterThanOrEqual(0.95);
  });

  test.each(
    figures.slice(2),
  )("without a declaration the provider's figures are enough (%s)", async (one) => {
    const { ratio, refused } = await drive(
      { limit: 600, window: "clock", figures: one },
      undefined,
      10,
    );
    expect(refused).toBe(0);
    expect(ratio).toBeGreaterThanOrEqual(0.95);
  });

  test("what others have used of the window is left to them", async () => {
    const { refused } = await drive(
      { limit: 600, window: "first", figures: "reset in seconds", usedBefore: 550 },
      { requests: 600, perMs },
      4,
    );
    expect(refused).toBe(0);
  });

  test("refusals without any figures teach a limit that is seldom exceeded", async () => {
    const { sent, refused, ratio } = await drive(
      { limit: 600, window: "first", figures: "none", retryAfter: true },
      undefined,
      30,
    );
    expect(refused / sent).toBeLessThan(0.02);
    expect(ratio).toBeGreaterThanOrEqual(0.8);
  });
});

describe("take", () => {
  const create = (declared?: RateLimit, maxWaitMs = 2 * perMs) => {
    const clock = createEventClock();
    return { clock, limiter: createRateLimiter({ clock, declared, concurrency: 4, maxWaitMs }) };
  };

  test("gives the places in the order in which they were asked for", async () => {
    const { clock, limiter } = create({ requests: 1, perMs: 1_000 });
    const order: number[] = [];
    for (const number of [1, 2, 3]) {
      void limiter.take(never).then((ticket) => {
        order.push(number);
        ticket.answered(200, {});
      });
    }
    await clock.runUntil(startMs + 10_000);
    expect(order).toEqual([1, 2, 3]);
  });

  test("says until when it waits", async () => {
    const { clock, limiter } = create({ requests: 1, perMs: 1_000 });
    (await limiter.take(never)).answered(200, {});
    const untils: number[] = [];
    void limiter.take(never, (untilMs) => untils.push(untilMs));
    await clock.runUntil(startMs + 10_000);
    expect(untils).toEqual([startMs + 1_002]);
  });

  test("fails at once when the wait would be too long, and says how long", async () => {
    const { limiter } = create({ requests: 600, perMs });
    (await limiter.take(never)).answered(429, { "retry-after": "3600" });
    await expect(limiter.take(never)).rejects.toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: 3_600_000,
    });
  });

  test("can be cancelled, in line and at its head, without holding up the others", async () => {
    const { clock, limiter } = create({ requests: 1, perMs: 1_000 });
    (await limiter.take(never)).answered(200, {});
    const [head, second] = [new AbortController(), new AbortController()];
    const cancelled = [limiter.take(head.signal), limiter.take(second.signal)].map((taking) =>
      expect(taking).rejects.toMatchObject({ code: "CANCELLED" }),
    );
    const third = limiter.take(never);
    second.abort();
    head.abort();
    await Promise.all(cancelled);
    await clock.runUntil(startMs + 5_000);
    await expect(third).resolves.toBeDefined();
  });

  test("is not held up by a late answer that tells of an earlier window", async () => {
    const { clock, limiter } = create(undefined, 10 * perMs);
    const late = await limiter.take(never);
    const first = await limiter.take(never);
    first.answered(200, { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "10" });
    clock.jumpTo(startMs + 20_000);
    const untils: number[] = [];
    (await limiter.take(never)).answered(200, {});
    late.answered(200, { "x-ratelimit-remaining": "0" });
    (await limiter.take(never, (untilMs) => untils.push(untilMs))).answered(200, {});
    expect(untils).toEqual([]);
  });

  test("gets more again after a refusal that stays alone", async () => {
    const { clock, limiter } = create();
    for (let count = 0; count < 100; count++)
      (await limiter.take(never)).answered(count === 99 ? 429 : 200, {});
    const sent: number[] = [];
    const client = async () => {
      for (;;) {
        const ticket = await limiter.take(never);
        sent.push(clock.now());
        await clock.sleep(10);
        ticket.answered(200, {});
      }
    };
    void client();
    await clock.runUntil(startMs + 10 * perMs);
    const inMinute = (minute: number) =>
      sent.filter((at) => Math.floor((at - startMs) / perMs) === minute).length;
    expect(inMinute(1)).toBeLessThan(120);
    expect(inMinute(9)).toBeGreaterThan(300);
  });

  /** Answers of a provider that takes so many requests in a window and names only the wait. */
  async function timesUnder(declared: RateLimit | undefined, most: number, windowMs: number) {
    const { clock, limiter } = create(declared);
    let used = { fromMs: startMs, count: 0 };
    const sent: number[] = [];
    const client = async () => {
      while (sent.length < 30) {
        const ticket = await limiter.take(never);
        await clock.sleep(10);
        const nowMs = clock.now();
        if (nowMs >= used.fromMs + windowMs) used = { fromMs: nowMs, count: 0 };
        const isRefused = used.count++ >= most;
        if (!isRefused) sent.push(nowMs - startMs);
        const waitSeconds = Math.ceil((used.fromMs + windowMs - nowMs) / 1_000);
        ticket.answered(
          isRefused ? 429 : 200,
          isRefused ? { "retry-after": `${waitSeconds}` } : {},
        );
      }
    };
    void client();
    await clock.runUntil(startMs + 60 * perMs);
    return sent;
  }

  test("a provider that asks for seconds is waited for in seconds, not in minutes", async () => {
    const sent = await timesUnder(undefined, 6, 2_000);
    expect(sent).toHaveLength(30);
    expect(sent.at(-1)).toBeLessThan(20_000);
  });

  test("with a declaration too, beyond which nothing is sent", async () => {
    const sent = await timesUnder({ requests: 20, perMs }, 6, 2_000);
    expect(sent.at(-1)).toBeLessThan(2 * perMs);
    for (const from of sent)
      expect(sent.filter((at) => at >= from && at < from + perMs).length).toBeLessThanOrEqual(20);
  });

  test("goes on when a request that failed gives its place back", async () => {
    const { clock, limiter } = create({ requests: 1, perMs: 1_000 });
    const first = await limiter.take(never);
    const second = limiter.take(never);
    first.failed();
    await clock.runUntil(startMs + 5_000);
    await expect(second).resolves.toBeDefined();
  });
});
