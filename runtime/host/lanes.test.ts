import fc from "fast-check";
import { expect, test } from "vitest";
import { createTurns, shareOut } from "./lanes.ts";

test("every item is given out once and in order, in few shares that end with single items", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6_000 }),
      fc.integer({ min: 2, max: 4 }),
      (count, lanes) => {
        const items = Array.from({ length: count }, (_, index) => index);
        const next = shareOut(items, lanes);
        const shares: number[][] = [];
        for (let share = next(); share; share = next()) shares.push(share);
        expect(shares.flat()).toEqual(items);
        expect(shares.at(-1)).toHaveLength(1);
        expect(shares.length).toBeLessThan(2 * lanes * (Math.log2(count) + 2));
      },
    ),
  );
});

test("one lane has all items as one share", () => {
  const next = shareOut(["a", "b", "c"], 1);
  expect([next(), next()]).toEqual([["a", "b", "c"], undefined]);
});

test("pieces of work run one at a time in the order in which they came, also after a failure", async () => {
  const inTurn = createTurns();
  const events: string[] = [];
  const work = (name: string, fails = false) =>
    inTurn(async () => {
      events.push(`${name} begins`);
      await Promise.resolve();
      events.push(`${name} ends`);
      if (fails) throw new Error(name);
    });
  const results = await Promise.allSettled([work("a"), work("b", true), work("c")]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(events).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});
