import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../contract/json.ts";
import { openComponent } from "../document/component.ts";
import { withParameters } from "../document/document.ts";
import { clockName } from "../expressions/evaluate.ts";
import { compileErrorHandler } from "./error-handler.ts";

const now = Date.UTC(2026, 0, 15, 12);
const compile = (handler: JsonValue) => {
  const made = compileErrorHandler(
    openComponent(
      withParameters({ type: "HttpRequester", error_handler: handler }, {}),
      ...(["here", ["HttpRequester"]] as const),
    ),
  );
  if (!made) throw new Error("there is no handler");
  return made;
};
const answer = (status: number, headers: Record<string, string> = {}, text = "{}") => ({
  ...{ status, headers },
  text: () => text,
  json: <T>() => JSON.parse(text) as T,
});
const scope = { config: { seconds: 4 }, [clockName]: now };
const waitMs = (strategy: JsonValue, headers: Record<string, string>, attempt = 1) =>
  compile({ type: "DefaultErrorHandler", backoff_strategies: strategy ? [strategy] : [] }).waitMs({
    ...{ answer: answer(503, headers), attempt, scope, now },
  });

describe("an error handler", () => {
  test.each<[string, JsonValue, Record<string, string>, number, number]>([
    [
      "a constant",
      { type: "ConstantBackoffStrategy", backoff_time_in_seconds: "{{ config.seconds }}" },
      ...([{}, 1, 5_000] as const),
    ],
    ["doubled", { type: "ExponentialBackoffStrategy", factor: 2 }, {}, 3, 17_000],
    ["doubled from five", { type: "ExponentialBackoffStrategy" }, {}, 1, 11_000],
    [
      "as a header says",
      { type: "WaitTimeFromHeader", header: "X-Wait" },
      { "x-wait": "7" },
      1,
      8_000,
    ],
    [
      "as a part of a header says",
      { type: "WaitTimeFromHeader", header: "x-wait", regex: "[\\d.]+" },
      ...([{ "x-wait": "2.5 seconds" }, 1, 3_500] as const),
    ],
    [
      "until a time in a header",
      { type: "WaitUntilTimeFromHeader", header: "X-Reset" },
      ...([{ "x-reset": String(now / 1000 + 30) }, 1, 31_000] as const),
    ],
    [
      "at least as long as is written",
      { type: "WaitUntilTimeFromHeader", header: "X-Reset", min_wait: 60 },
      ...([{ "x-reset": String(now / 1000 + 30) }, 1, 61_000] as const),
    ],
    ["as Retry-After says", null, { "retry-after": "9" }, 1, 9_000],
    ["ever longer", null, {}, 3, 4_000],
    [
      "ever longer where the header is missing",
      { type: "WaitTimeFromHeader", header: "X-Wait" },
      ...([{}, 2, 2_000] as const),
    ],
  ])("waits %s", (_, strategy, headers, attempt, expected) => {
    expect(waitMs(strategy, headers, attempt)).toBe(expected);
  });

  test("gives up after its tries", () => {
    const handler = compile({ type: "DefaultErrorHandler", max_retries: 2 });
    const wait = (attempt: number) => handler.waitMs({ answer: answer(503), attempt, scope, now });
    expect([wait(2), wait(3)]).toEqual([2_000, undefined]);
  });

  test.each<[string, JsonValue, Record<string, string>]>([
    [
      "the manifest allows",
      { type: "WaitTimeFromHeader", header: "X-Wait", max_waiting_time_in_seconds: 7 },
      { "x-wait": "7" },
    ],
    ["anybody does", { type: "WaitTimeFromHeader", header: "X-Wait" }, { "x-wait": "4000" }],
  ])("does not wait longer than %s", (_, strategy, headers) => {
    expect(() => waitMs(strategy, headers)).toThrow(
      expect.objectContaining({ code: "RATE_LIMITED" }),
    );
  });

  test.each<[string, JsonValue, ReturnType<typeof answer>, string]>([
    ["by its status", { http_codes: [403], action: "RETRY" }, answer(403), "RETRY"],
    [
      "by what it says",
      { error_message_contains: "later", action: "IGNORE" },
      ...([answer(400, {}, '{"errors":[{"message":"try later"}]}'), "IGNORE"] as const),
    ],
    [
      "by a page of text",
      { error_message_contains: "later", action: "IGNORE" },
      ...([answer(400, {}, "<p>later</p>"), "IGNORE"] as const),
    ],
    [
      "by a condition",
      { predicate: "{{ response.code == 7 }}", action: "FAIL" },
      ...([answer(200, {}, '{"code":7}'), "FAIL"] as const),
    ],
    [
      "as usual where a condition asks what is not there",
      { predicate: "{{ response.error.code == 7 }}", action: "FAIL" },
      ...([answer(200), "SUCCESS"] as const),
    ],
    ["as usual", { http_codes: [403], action: "RETRY" }, answer(503), "RETRY"],
    ["as usual", { http_codes: [403], action: "RETRY" }, answer(404), "FAIL"],
    ["as usual, of a status without a meaning", { http_codes: [403] }, answer(409), "RETRY"],
  ])("knows an answer %s", (_, filter, given, action) => {
    const handler = compile({ type: "DefaultErrorHandler", response_filters: [filter] });
    expect(handler.judge(given, scope).action).toBe(action);
  });

  test("is not supported with an action that changes the pages", () => {
    const filter = { http_codes: [413], action: "REDUCE_PAGE_SIZE" };
    expect(() => compile({ type: "DefaultErrorHandler", response_filters: [filter] })).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ problem: expect.stringContaining("REDUCE_PAGE_SIZE") }),
      }),
    );
  });
});
