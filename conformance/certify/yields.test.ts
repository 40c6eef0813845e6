import { expect, test } from "vitest";
import { byYield, runsOf } from "./yields.ts";

const ofIds = (...ids: string[]) => ids.map((id) => ({ id }));

test("what finds much with few runs comes before what needs the sweeps, though a rule alone makes none of their runs", () => {
  const order = byYield(ofIds("LEAK-02", "ERROR-05", "STATE-11", "SPEC-01")).map(({ id }) => id);
  expect(order).toEqual(["SPEC-01", "STATE-11", "ERROR-05", "LEAK-02"]);
});

test("the runs of the sweeps count once, however many rules look at them", () => {
  const [one, more] = [runsOf(ofIds("LEAK-02")), runsOf(ofIds("LEAK-02", "LEAK-03", "SPEC-02"))];
  expect(one).toBeGreaterThan(100);
  expect(more).toBe(one);
});
