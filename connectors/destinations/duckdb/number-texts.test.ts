import { expect, test } from "vitest";
import { partsOf } from "./number-texts.ts";

test("the zeros around the digits of a number go", () => {
  expect(partsOf("-00120.500e1")).toEqual({ isNegative: true, digits: "1205", scale: 0 });
  expect(partsOf("0.000")).toEqual({ isNegative: false, digits: "", scale: 0 });
});

test("a number of a MiB takes no longer than to read it", () => {
  const before = process.threadCpuUsage();
  expect(partsOf(`1${"0".repeat(1024 * 1024)}1`)?.scale).toBe(0);
  const { user, system } = process.threadCpuUsage(before);
  // A search that looks at each character again for each takes minutes.
  expect((user + system) / 1_000).toBeLessThan(10_000);
});
