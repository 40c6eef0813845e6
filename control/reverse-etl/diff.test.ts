import fc from "fast-check";
import { identifyingOperations, type RowOperation, rowOperations } from "svc-connectors/host";
import { describe, expect, test } from "vitest";
import { type ConfirmedRow, createDiff, type ModelRow, type PlannedRow } from "./diff.ts";

const row = (key: string, hash = "h1", identifier: string | null = null): ModelRow => ({
  key,
  hash,
  identifier,
  fields: JSON.stringify({ id: key }),
});
const confirmed = (key: string, hash = "h1", identifier: string | null = null): ConfirmedRow => ({
  key,
  hash,
  identifier,
});

function compare(
  operation: RowOperation,
  before: readonly ConfirmedRow[],
  now: readonly ModelRow[],
) {
  using diff = createDiff(operation);
  diff.confirmed(before);
  diff.add(now);
  const plan = diff.plan();
  const refused = diff.refused(1_000);
  const sent: PlannedRow[] = [];
  for (let rows = diff.next(3); rows.length > 0; rows = diff.next(3)) sent.push(...rows);
  return { plan, refused, sent: sent.map(({ key, change }) => [key, change]) };
}

describe("the difference between a model and what is confirmed", () => {
  test.each<[RowOperation, unknown]>([
    ["insert", [["new", "added"]]],
    [
      "append",
      [
        ["new", "added"],
        ["other", "changed"],
      ],
    ],
    [
      "update",
      [
        ["new", "added"],
        ["other", "changed"],
      ],
    ],
    [
      "upsert",
      [
        ["new", "added"],
        ["other", "changed"],
      ],
    ],
    [
      "mirror",
      [
        ["gone", "removed"],
        ["new", "added"],
        ["other", "changed"],
      ],
    ],
  ])("of %s", (operation, expected) => {
    const id = (key: string) => (identifyingOperations.includes(operation) ? `"${key}"` : null);
    const before = [
      confirmed("same", "h1", id("same")),
      confirmed("other", "h1", id("other")),
      confirmed("gone", "h1", id("gone")),
    ];
    const now = [
      row("same", "h1", id("same")),
      row("other", "h2", id("other")),
      row("new", "h1", id("new")),
    ];
    expect(compare(operation, before, now).sent).toEqual(expected);
  });

  test("leaves out all rows of a key that comes twice, and neither sends nor removes them", () => {
    const { sent, refused, plan } = compare(
      "mirror",
      [confirmed("a", "h0", '"a"')],
      [row("a", "h1", '"x"'), row("a", "h2", '"y"'), row("b", "h1", '"b"')],
    );
    expect(sent).toEqual([["b", "added"]]);
    expect(refused).toEqual([{ key: "a", change: "changed", reason: "key_duplicate" }]);
    expect(plan.refused).toEqual({ addedCount: 0, changedCount: 2, removedCount: 0 });
  });

  test("leaves out rows whose identifier others have too", () => {
    const { sent, refused } = compare(
      "upsert",
      [],
      [row("a", "h", '"x"'), row("b", "h", '"x"'), row("c", "h", '"y"')],
    );
    expect(sent).toEqual([["c", "added"]]);
    expect(refused.map(({ key, reason }) => [key, reason])).toEqual([
      ["a", "identifier_duplicate"],
      ["b", "identifier_duplicate"],
    ]);
  });

  test("of a mirror removes a row under its old identifier before it comes under the new one", () => {
    const before = [confirmed("a", "h1", '"one"'), confirmed("b", "h1", '"two"')];
    const { sent } = compare("mirror", before, [row("a", "h2", '"two"'), row("b", "h2", '"one"')]);
    expect(sent).toEqual([
      ["a", "removed"],
      ["b", "removed"],
      ["a", "added"],
      ["b", "added"],
    ]);
  });

  test("gives the rows of an earlier batch again, in their order, those that have changed since not", () => {
    using diff = createDiff("upsert");
    diff.add([row("a", "h1", '"a"'), row("b", "h2", '"b"'), row("c", "h1", '"c"')]);
    diff.plan();
    const again = diff.take([
      ["c", "h1", "added"],
      ["b", "h1", "added"],
      ["gone", "h1", "added"],
      ["a", "h1", "added"],
    ]);
    expect(again.map(({ key }) => key)).toEqual(["c", "a"]);
    expect(diff.next(10).map(({ key }) => key)).toEqual(["b"]);
    expect(diff.next(10)).toEqual([]);
  });

  test("brings any destination to what the model says, whatever fails on the way", () => {
    const model = fc.uniqueArray(
      fc.record({ key: fc.constantFrom(..."abcdefgh"), value: fc.integer({ min: 0, max: 3 }) }),
      {
        selector: ({ key }) => key,
      },
    );
    const failing = fc.array(fc.constantFrom(..."abcdefgh"), { maxLength: 3 });
    const steps = fc.array(fc.record({ model, failing, batch: fc.integer({ min: 1, max: 4 }) }), {
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(fc.constantFrom(...rowOperations), steps, model, (operation, runs, last) => {
        const snapshot = new Map<string, ConfirmedRow>();
        const destination = new Map<string, string>();
        const isIdentifying = identifyingOperations.includes(operation);
        for (const { model: rows, failing: bad, batch } of [
          ...runs,
          { model: last, failing: [], batch: 2 },
        ]) {
          using diff = createDiff(operation);
          diff.confirmed([...snapshot.values()]);
          diff.add(
            rows.map(({ key, value }) =>
              row(key, `h${value}`, isIdentifying ? JSON.stringify(key) : null),
            ),
          );
          const { counts } = diff.plan();
          let sent = 0;
          for (let next = diff.next(batch); next.length > 0; next = diff.next(batch)) {
            sent += next.length;
            for (const { key, change, hash, identifier } of next.filter(
              (one) => !bad.includes(one.key),
            )) {
              if (change === "removed") {
                destination.delete(key);
                snapshot.delete(key);
              } else {
                destination.set(key, hash);
                snapshot.set(key, confirmed(key, hash, identifier));
              }
            }
          }
          expect(sent).toBe(counts.addedCount + counts.changedCount + counts.removedCount);
        }
        for (const { key, value } of last) {
          expect(destination.has(key)).toBe(true);
          if (operation !== "insert") expect(destination.get(key)).toBe(`h${value}`);
        }
        if (operation === "mirror")
          expect([...destination.keys()].sort()).toEqual(last.map(({ key }) => key).sort());
      }),
    );
  });
});
