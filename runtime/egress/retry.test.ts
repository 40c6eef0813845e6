import { describe, expect, test } from "vitest";
import { createInstantClock } from "../../simulators/loopback.ts";
import { ConnectorError, type ErrorCode, errorTable, isErrorCode } from "../contract/errors.ts";
import { parseRetryAfter, retryDelayMs, withRetries } from "./retry.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const dayMs = 86_400_000;
const never = new AbortController().signal;

describe("parseRetryAfter", () => {
  test.each([
    ["0", 0],
    ["120", 120_000],
    [" 1.5 ", 1_500],
    ["-5", 0],
    ["999999999999", dayMs],
    ["Thu, 15 Jan 2026 12:00:30 GMT", 30_000],
    ["Thursday, 15-Jan-26 12:00:30 GMT", 30_000],
    ["Thu, 15 Jan 2026 11:00:00 GMT", 0],
    ["Fri, 31 Dec 9999 23:59:59 GMT", dayMs],
    ["2026-01-15T12:00:30Z", 30_000],
    [["7", "9"], 7_000],
    ["", undefined],
    ["soon", undefined],
    ["12s", undefined],
    ["1e3", undefined],
    ["2026", 2_026_000],
    ["Jan 2026", undefined],
    ["Infinity", undefined],
    [undefined, undefined],
  ])("%j asks for %s ms", (value, expected) => {
    expect(parseRetryAfter(value, nowMs)).toBe(expected);
  });
});

describe("retryDelayMs", () => {
  test("is random below a ceiling that doubles up to a minute", () => {
    const highest = [1, 2, 3, 7, 20].map((attempt) => retryDelayMs(attempt, undefined, () => 1));
    expect(highest).toEqual([1_000, 2_000, 4_000, 60_000, 60_000]);
    expect(retryDelayMs(5, undefined, () => 0)).toBe(0);
  });

  test("is never less than what the provider asks, and spreads its callers over a second", () => {
    expect(retryDelayMs(1, 30_000, () => 0)).toBe(30_000);
    expect(retryDelayMs(9, 30_000, () => 1)).toBe(31_000);
  });
});

describe("withRetries", () => {
  const run = async (
    codes: readonly ErrorCode[],
    options: { budgetMs?: number; maxAttempts?: number } = {},
  ) => {
    const clock = createInstantClock(nowMs);
    let tries = 0;
    const policy = {
      clock,
      random: () => 1,
      maxAttempts: 5,
      budgetMs: 600_000,
      wait: clock.sleep,
      ...options,
    };
    const result = await withRetries(policy, never, async () => {
      const code = codes[tries++];
      if (code) throw new ConnectorError(code);
      return "answer";
    }).catch((error: ConnectorError) => error.code);
    return { result, tries, slept: clock.slept };
  };

  test("tries again exactly what is transient", async () => {
    for (const code of Object.keys(errorTable).filter(isErrorCode)) {
      expect([code, (await run([code])).tries]).toEqual([
        code,
        errorTable[code].kind === "transient" ? 2 : 1,
      ]);
    }
  });

  test("stops after the last attempt, with the last error", async () => {
    const codes: ErrorCode[] = ["CONNECTION_FAILED", "CONNECTION_FAILED", "PROVIDER_TIMEOUT"];
    expect(await run(codes, { maxAttempts: 3 })).toEqual({
      result: "PROVIDER_TIMEOUT",
      tries: 3,
      slept: [1_000, 2_000],
    });
  });

  test("starts no try beyond its budget", async () => {
    const codes = Array<ErrorCode>(5).fill("CONNECTION_FAILED");
    expect(await run(codes, { budgetMs: 3_500 })).toEqual({
      result: "CONNECTION_FAILED",
      tries: 3,
      slept: [1_000, 2_000],
    });
  });

  test("passes on at once what is no error of the table", async () => {
    const clock = createInstantClock(nowMs);
    const policy = { clock, random: () => 1, maxAttempts: 5, budgetMs: 600_000, wait: clock.sleep };
    const work = withRetries(policy, never, async () => Promise.reject(new TypeError("x")));
    await expect(work).rejects.toBeInstanceOf(TypeError);
    expect(clock.slept).toEqual([]);
  });
});
