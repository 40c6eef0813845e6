import { ConnectorError } from "svc-connectors";
import { expect, test } from "vitest";
import { parseVisible } from "./moment.ts";

test("a snapshot sees what was committed when it was taken", () => {
  const canSee = parseVisible("100:105:100,103");
  const seen = [3, 99, 100, 101, 102, 103, 104, 105, 106].filter(canSee);
  expect(seen).toEqual([3, 99, 101, 102, 104]);
  expect(parseVisible("7:7:")(6)).toBe(true);
  expect(parseVisible("7:7:")(7)).toBe(false);
});

test("numbers of transactions in the log begin anew after four thousand million", () => {
  const turn = 2n ** 32n;
  const after = parseVisible(`${3n * turn - 2n}:${3n * turn + 2n}:${3n * turn - 1n}`);
  const seen = [2 ** 32 - 3, 2 ** 32 - 2, 2 ** 32 - 1, 0, 1, 2, 3].filter(after);
  expect(seen).toEqual([2 ** 32 - 3, 2 ** 32 - 2, 0, 1]);
  const before = parseVisible(`${3n * turn - 5n}:${3n * turn - 1n}:`);
  expect([2 ** 32 - 2, 2 ** 32 - 1, 0].filter(before)).toEqual([2 ** 32 - 2]);
});

test.each(["", "1", "1:2", "1:2:x", "-1:2:"])("what is no snapshot is refused: %s", (text) => {
  expect(() => parseVisible(text)).toThrow(ConnectorError);
});
