import { expect, test } from "vitest";
import { coalesce } from "./coalesce.ts";

test("work that is asked for while it runs is done once more, and never beside itself", async () => {
  const ends: (() => void)[] = [];
  let runningCount = 0;
  const work = coalesce(async () => {
    expect(runningCount++).toBe(0);
    await new Promise<void>((resolve) => ends.push(resolve));
    runningCount -= 1;
  });
  const all = Promise.all([work(), work(), work()]);
  ends.shift()?.();
  await new Promise(setImmediate);
  ends.shift()?.();
  await all;
  expect(ends).toEqual([]);
  void work();
  expect(ends).toHaveLength(1);
});

test("work that fails is done again when it is asked for", async () => {
  let count = 0;
  const work = coalesce(async () => {
    count += 1;
    if (count === 1) throw new Error("once");
  });
  await expect(work()).rejects.toThrow("once");
  await work();
  expect(count).toBe(2);
});
