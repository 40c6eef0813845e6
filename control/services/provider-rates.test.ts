import { PGlite } from "@electric-sql/pglite";
import { Kysely } from "kysely";
import type { RateLedger } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStandingClock, type StandingClock } from "../../tests/control-jobs.ts";
import { databaseImage } from "../../tests/database-image.ts";
import { createPgliteDialect } from "../store/pglite-dialect.ts";
import type { Tables } from "../store/tables.ts";
import { createProviderRates } from "./provider-rates.ts";

const perMs = 60_000;

describe("requests with a credential, of all processes of an instance", () => {
  let db: Kysely<Tables>;
  let clock: StandingClock;
  beforeAll(async () => {
    const pglite = await PGlite.create({ loadDataDir: await databaseImage() });
    db = new Kysely<Tables>({ dialect: createPgliteDialect(pglite) });
    clock = createStandingClock();
  });
  afterAll(() => db?.destroy());

  /** As one more process has it. */
  const ledgerOf = (credentialId: string): RateLedger => {
    const ledger = createProviderRates({ kind: "postgres", db }, clock)(credentialId);
    if (!ledger) throw new Error("no ledger");
    return ledger;
  };
  const book = async (ledger: RateLedger) => {
    const booked = await ledger.book(3, perMs);
    return "againAtMs" in booked ? booked.againAtMs - clock.now() : booked;
  };

  test("count together until they are answered, and for a window after it", async () => {
    const [one, other] = [ledgerOf("a"), ledgerOf("a")];
    const first = await book(one);
    const second = await book(other);
    expect([typeof first, typeof second, typeof (await book(one))]).toEqual(
      Array(3).fill("object"),
    );
    // All are on their way: when there is room is not known.
    expect(await book(other)).toBe(1_000);
    clock.move(5_000);
    if (typeof first === "object") await first.settle(perMs);
    clock.move(10_000);
    if (typeof second === "object") await second.settle(perMs);
    expect(await book(other)).toBe(perMs - 10_000);
    clock.move(perMs - 10_000);
    expect(typeof (await book(other))).toBe("object");
    expect(await book(one)).toBe(10_000);
    expect(typeof (await book(ledgerOf("b")))).toBe("object");
  });

  test("wait for all when one of them was refused", async () => {
    await ledgerOf("c").block(clock.now() + 3_600_000);
    await ledgerOf("c").block(clock.now() + 60_000);
    expect(await book(ledgerOf("c"))).toBe(3_600_000);
    expect(typeof (await book(ledgerOf("d")))).toBe("object");
    clock.move(3_600_000);
    expect(typeof (await book(ledgerOf("c")))).toBe("object");
  });

  test("of a process that has died count no longer than a request can take", async () => {
    const dead = ledgerOf("e");
    for (let count = 0; count < 3; count += 1) await book(dead);
    expect(await book(ledgerOf("e"))).toBe(1_000);
    clock.move(10 * 60_000);
    expect(typeof (await book(ledgerOf("e")))).toBe("object");
  });

  test("that are booked at once are no more than there is room for", async () => {
    const booked = await Promise.all(Array.from({ length: 20 }, () => book(ledgerOf("f"))));
    expect(booked.filter((one) => typeof one === "object")).toHaveLength(3);
  });

  test("of one process need no counting in the database", () => {
    expect(createProviderRates({ kind: "embedded", db }, clock)("a")).toBeUndefined();
  });
});
