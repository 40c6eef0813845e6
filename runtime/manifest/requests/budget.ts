/** HTTPAPIBudget: how many requests in how much time, for all of a manifest's. */
import type { RateLimit } from "../../contract/egress.ts";
import type { Component } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import { parseSpan } from "../expressions/moment.ts";

/**
 * The strictest of its limits, which holds for every request here, whichever requests the manifest
 * means it for.
 */
export function rateLimitOf(root: Component): RateLimit | undefined {
  const budget = root.child("api_budget", "HTTPAPIBudget");
  const limits = budget
    ?.children(
      "policies",
      ...(["FixedWindowCallRatePolicy", "MovingWindowCallRatePolicy"] as const),
      "UnlimitedCallRatePolicy",
    )
    .flatMap((policy) => {
      if (policy.type === "UnlimitedCallRatePolicy") return [];
      if (policy.type === "FixedWindowCallRatePolicy")
        return [toLimit(policy, "call_limit", "period")];
      return policy.children("rates", "Rate").map((rate) => toLimit(rate, "limit", "interval"));
    });
  return limits?.sort((a, b) => a.requests / a.perMs - b.requests / b.perMs)[0];
}

const longestMs = 86_400_000;

function toLimit(policy: Component, count: string, time: string): RateLimit {
  const requests = Number(policy.get(count));
  const span = parseSpan(String(policy.get(time)));
  const ms = span ? Number(span.micros / 1000n) : 0;
  if (!Number.isInteger(requests) || requests < 1)
    throw invalid(policy.at(count), "must be a number of requests");
  if (ms < 1) throw invalid(policy.at(time), "must be a duration, as PT1M");
  // A month's allowance is not spent at its beginning.
  const factor = Math.min(1, longestMs / ms);
  return { requests: Math.max(1, Math.floor(requests * factor)), perMs: Math.min(ms, longestMs) };
}
