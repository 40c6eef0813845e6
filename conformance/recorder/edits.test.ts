import fc from "fast-check";
import { expect, test } from "vitest";
import { applyEdits, mergeEdits } from "./edits.ts";

const edits = fc.array(
  fc.tuple(fc.nat(30), fc.nat(30), fc.string({ maxLength: 3 })).map(([one, other, text]) => ({
    start: Math.min(one, other),
    end: Math.max(one, other) + 1,
    text,
  })),
  { maxLength: 6 },
);

test("merged edits cover every place that one of them replaces, in order and without overlaps", () => {
  fc.assert(
    fc.property(edits, (all) => {
      const merged = mergeEdits(all);
      const covered = (at: number, list: typeof all) =>
        list.some(({ start, end }) => start <= at && at < end);
      for (let at = 0; at < 33; at++) if (covered(at, all)) expect(covered(at, merged)).toBe(true);
      for (const [index, { start }] of merged.entries())
        expect(start).toBeGreaterThanOrEqual(merged[index - 1]?.end ?? 0);
    }),
  );
});

test("of overlapping edits the first one in the list says what stands there", () => {
  const merged = mergeEdits([
    { start: 2, end: 4, text: "first" },
    { start: 3, end: 8, text: "second" },
    { start: 9, end: 10, text: "third" },
  ]);
  expect(applyEdits("0123456789", merged)).toBe("01first8third");
});
