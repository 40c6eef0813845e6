import { expect, test } from "vitest";
import type { ProviderRequest } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import { movingNames, requestKey } from "./rate-limits.ts";

const requestOf = (path: string, body = ""): ProviderRequest => ({
  index: 0,
  method: body === "" ? "GET" : "POST",
  url: new URL(path, "https://api.example.com"),
  headers: {},
  body,
});
const runOf = (...requests: readonly ProviderRequest[]) =>
  ({ exchanges: requests.map((request) => ({ request })) }) as unknown as Observation;

test("the bounds of a period that ends now make no other request, and its page does", () => {
  const whole = runOf(requestOf("/entries?start=100&end=200&page=1"));
  const anHourLater = runOf(requestOf("/entries?start=3700&end=3800&page=1"));
  const moving = movingNames(whole, anHourLater);
  expect([...moving]).toEqual(["start", "end"]);
  const keyOf = (path: string) => requestKey(requestOf(path), moving);
  expect(keyOf("/entries?start=190&end=290&page=1")).toBe(
    keyOf("/entries?start=100&end=200&page=1"),
  );
  expect(keyOf("/entries?start=100&end=200&page=2")).not.toBe(
    keyOf("/entries?start=100&end=200&page=1"),
  );
});

test("so do those in a body, and what another request has says nothing", () => {
  const whole = runOf(
    requestOf("/search", '{"until":"2026-01-01","page":1}'),
    requestOf("/rows?id=1"),
  );
  const anHourLater = runOf(
    requestOf("/search", '{"until":"2026-01-02","page":1}'),
    requestOf("/other?id=2"),
  );
  expect([...movingNames(whole, anHourLater)]).toEqual(["until"]);
});
