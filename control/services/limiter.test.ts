import { PGlite } from "@electric-sql/pglite";
import { type CompiledQuery, Kysely } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseImage } from "../../tests/database-image.ts";
import { ControlError } from "../contract/reasons.ts";
import { createPgliteDialect } from "../store/pglite-dialect.ts";
import type { Tables } from "../store/tables.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import type { Budget } from "./settings.ts";

const limits = { read: 600, write: 120, provider: 30, anonymous: 60 };

describe("servers of one PostgreSQL", () => {
  let opened: Kysely<Tables>;
  let db: Kysely<Tables>;
  let asked = 0;
  let isDown = false;
  beforeAll(async () => {
    const pglite = await PGlite.create({ loadDataDir: await databaseImage() });
    opened = new Kysely<Tables>({ dialect: createPgliteDialect(pglite) });
    db = new Proxy(opened, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (name !== "executeQuery") return value;
        return (query: CompiledQuery) => {
          asked += 1;
          if (isDown) return Promise.reject(new Error("no connection"));
          return target.executeQuery(query);
        };
      },
    });
  });
  afterAll(() => opened?.destroy());
  const server = () => createLimiter(limits, { kind: "postgres", db });
  const take = (limiter: Limiter, budget: Budget, who: string) =>
    limiter.take(budget, who, Date.now()).then(
      (headers) => Number(headers["x-ratelimit-remaining"]),
      (error: unknown) => (error instanceof ControlError ? error.reason : "an error"),
    );

  test("hand out a small budget to the last request, and no more", async () => {
    const servers = [server(), server(), server()];
    const results: unknown[] = [];
    for (let count = 0; count < 45; count += 1)
      results.push(await take(servers[count % 3] as Limiter, "provider", "one"));
    expect(results.filter((result) => result !== "rate_limited")).toEqual(
      Array.from({ length: 30 }, (_, index) => 29 - index),
    );
  });

  test("never hand out more than the budget, nor much less, however they are asked", async () => {
    const servers = [server(), server(), server(), server()];
    const results = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        take(servers[index % 4] as Limiter, "read", "many"),
      ),
    );
    const passed = results.filter((result) => result !== "rate_limited").length;
    expect(passed).toBeLessThanOrEqual(600);
    expect(passed).toBeGreaterThan(600 * 0.8);
  });

  test("ask the database for shares, not for each request", async () => {
    const limiter = server();
    asked = 0;
    for (let count = 0; count < 30; count += 1) await take(limiter, "read", "few");
    expect(asked).toBe(2);
    for (let count = 30; count < 600; count += 1) await take(limiter, "read", "few");
    expect(asked).toBeLessThan(100);
    asked = 0;
    expect(await take(limiter, "read", "few")).toBe("rate_limited");
    expect(asked).toBe(0);
  });

  test("that die after a request take no share of the budget with them", async () => {
    for (let count = 0; count < 60; count += 1)
      expect(await take(server(), "read", "killed")).toBe(599 - count);
  });

  test("count by themselves while it does not answer", async () => {
    isDown = true;
    const limiter = server();
    const results: unknown[] = [];
    for (let count = 0; count < 32; count += 1)
      results.push(await take(limiter, "provider", "cut off"));
    isDown = false;
    expect(results.slice(29)).toEqual([0, "rate_limited", "rate_limited"]);
  });

  test("keep the budgets of others apart", async () => {
    const limiter = server();
    expect(await take(limiter, "write", "a")).toBe(119);
    expect(await take(limiter, "write", "b")).toBe(119);
    expect(await take(limiter, "anonymous", "a")).toBe(59);
  });
});

test("one server counts each request in memory", async () => {
  const limiter = createLimiter({ ...limits, write: 2 });
  const left = async () => (await limiter.take("write", "a", 0))["x-ratelimit-remaining"];
  expect([await left(), await left()]).toEqual(["1", "0"]);
  await expect(left()).rejects.toMatchObject({ reason: "rate_limited" });
});
