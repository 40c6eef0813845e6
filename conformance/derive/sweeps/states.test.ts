import { expect, test } from "vitest";
import {
  badStates,
  farFuture,
  leavesOfState,
  regressions,
  timedLeaves,
  withLeaf,
} from "./states.ts";

const state = { since: "2026-05-03T00:00:00Z", pass: { next: "o+2/=", page: 7 } };

test("every leaf of a state is replaced by other types, one at a time", () => {
  const bad = badStates(state, "notes");
  for (const { path } of leavesOfState(state)) {
    const others = bad.filter(({ name }) => name.startsWith(path.join(".")));
    expect(others.length).toBeGreaterThan(1);
  }
  expect(new Set(bad.map((one) => JSON.stringify(one.state))).size).toBe(bad.length);
  expect(bad.map((one) => JSON.stringify(one.state))).not.toContain(JSON.stringify(state));
});

test("only times move to the future, and numbers that are cursors", () => {
  expect(farFuture(state, [])).toEqual({ ...state, since: "2126-05-04T00:00:00Z" });
  expect(farFuture({ last: 7 }, [])).toBeUndefined();
  expect(farFuture({ last: 7 }, [3, 7])).toEqual({ last: 9_007_199_254_740_000 });
});

test("a time that goes back or away is a regression, by time and not by text", () => {
  expect(regressions(state, withLeaf(state, ["since"], "2026-05-03T07:00:00+07:00"))).toEqual([]);
  expect(regressions(state, withLeaf(state, ["since"], "2026-05-03T06:59:00+07:00"))).toEqual([
    expect.stringContaining("since went from"),
  ]);
  expect(regressions(state, {})).toHaveLength(1);
  expect(timedLeaves(state).map(({ path }) => path)).toEqual([["since"]]);
});
