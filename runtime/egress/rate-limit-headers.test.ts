import { expect, test } from "vitest";
import { readRateLimitHeaders } from "./rate-limit-headers.ts";

const nowMs = Date.UTC(2026, 0, 15, 12);
const nowSeconds = nowMs / 1_000;

test.each([
  [
    { "x-ratelimit-limit": "60", "x-ratelimit-remaining": "59" },
    { limit: 60, remaining: 59 },
  ],
  [{ "x-ratelimit-reset": "30" }, { resetAtMs: nowMs + 30_000 }],
  [{ "x-ratelimit-reset": String(nowSeconds + 30) }, { resetAtMs: nowMs + 30_000 }],
  [{ "x-ratelimit-reset": String(nowMs + 30_000) }, { resetAtMs: nowMs + 30_000 }],
  [{ "x-ratelimit-reset": String(nowSeconds - 30) }, {}],
  [
    {
      "ratelimit-limit": "100, 100;w=60, 1000;w=3600",
      "ratelimit-remaining": "7",
      "ratelimit-reset": "5",
    },
    { limit: 100, remaining: 7, resetAtMs: nowMs + 5_000, perMs: 60_000 },
  ],
  [
    { ratelimit: "limit=100, remaining=50, reset=20" },
    { limit: 100, remaining: 50, resetAtMs: nowMs + 20_000 },
  ],
  [
    { ratelimit: '"default";r=50;t=30', "ratelimit-policy": '"default";q=100;w=10' },
    { limit: 100, remaining: 50, resetAtMs: nowMs + 30_000, perMs: 10_000 },
  ],
  [
    { "x-ratelimit-limit": "unlimited", "x-ratelimit-remaining": "-1", "x-ratelimit-reset": "Thu" },
    {},
  ],
  [{ "x-ratelimit-limit": "0" }, {}],
  [{ "x-ratelimit-limit": ["60", "1000"] }, { limit: 60 }],
  [{}, {}],
])("%j means %j", (headers, facts) => {
  expect(readRateLimitHeaders(headers, nowMs)).toEqual(facts);
});
