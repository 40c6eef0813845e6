import { expect, test } from "vitest";
import { createForecast } from "./forecast.ts";

const [users, orders] = [{ name: "users" }, { name: "orders", namespace: "shop" }];
const minute = 60_000;

test("what has come of what is expected tells how much is left, and how long it will take", () => {
  const forecast = createForecast([
    { stream: users, rows: 1_000 },
    { stream: orders, rows: 3_000 },
  ]);
  forecast.count(users, 500);
  expect(forecast.look(users, minute)).toEqual({ percent: 50, total: 4_000, restMs: 7 * minute });
  forecast.count(users, 500);
  forecast.end(users);
  expect(forecast.look(users, 2 * minute)).toMatchObject({ percent: undefined, total: 4_000 });
  forecast.count(orders, 1_500);
  expect(forecast.look(orders, 5 * minute)).toEqual({
    percent: 50,
    total: 4_000,
    restMs: 3 * minute,
  });
});

test("an estimate that was too small or too large is corrected by what has come", () => {
  const forecast = createForecast([
    { stream: users, rows: 100 },
    { stream: orders, rows: 100 },
  ]);
  forecast.count(users, 300);
  expect(forecast.look(users, minute)).toMatchObject({ percent: 99, total: 400 });
  forecast.end(users);
  forecast.count(orders, 20);
  forecast.end(orders);
  expect(forecast.look(orders, minute)).toEqual({
    percent: undefined,
    total: 320,
    restMs: undefined,
  });
});

test("of a stream behind its cursor what is new counts when it comes", () => {
  const forecast = createForecast([
    { stream: users, rows: 0 },
    { stream: orders, rows: 100 },
  ]);
  forecast.count(users, 10);
  expect(forecast.look(users, minute)).toEqual({
    percent: undefined,
    total: 110,
    restMs: 10 * minute,
  });
});

test("where one stream is unknown there is no whole, but a share of those that are known", () => {
  const forecast = createForecast([
    { stream: users, rows: undefined },
    { stream: orders, rows: 200 },
  ]);
  forecast.count(users, 10);
  forecast.count(orders, 50);
  const unknown = { total: undefined, restMs: undefined };
  expect(forecast.look(users, minute)).toEqual({ percent: undefined, ...unknown });
  expect(forecast.look(orders, minute)).toEqual({ percent: 25, ...unknown });
});

test.each([
  ["nothing is expected", [], 10, minute],
  ["no estimate is more than nothing", [{ stream: users, rows: 0 }], 10, minute],
] as const)("there is no whole when %s", (_, expected, rows, elapsedMs) => {
  const forecast = createForecast(expected);
  forecast.count(users, rows);
  expect(forecast.look(users, elapsedMs)).toMatchObject({ total: undefined, restMs: undefined });
});

test.each([
  ["in the first seconds", 500, 4_999],
  ["before a hundredth has come", 9, minute],
  ["when all has come", 1_000, minute],
])("no rest is told %s", (_, rows, elapsedMs) => {
  const forecast = createForecast([{ stream: users, rows: 1_000 }]);
  forecast.count(users, rows);
  expect(forecast.look(users, elapsedMs)).toMatchObject({ total: 1_000, restMs: undefined });
});
