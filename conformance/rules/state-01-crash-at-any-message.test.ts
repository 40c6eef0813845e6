import { expect, test } from "vitest";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import { requestsUntilCrash } from "./state-01.last-requests.ts";
import { repeatedBeyondCursors } from "./state-01.repeated-rows.ts";
import rule from "./state-01-crash-at-any-message.ts";

testRule(rule, {
  defects: {
    "state-01-resumed-pass-runs-ahead": /crash after each .*missing/,
    "state-01-state-before-its-rows": /missing/,
    "state-01-resume-ends-early": /3 rows missing/,
    "state-01-page-of-another-listing": /1 row missing/,
    "state-01-rare-states-skip-a-page": /a read of 110 pages, crash after .*2 rows missing/,
    "state-01-rare-states-forget-the-rest": /a read of 110 pages, crash after .*rows missing/,
    "state-01-token-of-another-folder": /a read of 110 pages, crash after .*2 rows missing/,
    "state-03-strictly-newer": /resumed from .*missing/,
  },
});

test("rows at the cursor of one part may come again, and no others", () => {
  const row = (id: string, at: string) => ({ key: id, content: id, data: { id, at } });
  const covered = [
    row("a1", "2026-05-01T08:00:00Z"),
    row("a2", "2026-05-02T08:00:00Z"),
    row("b1", "2026-05-09T08:00:00Z"),
  ];
  const state = { parts: { a: "2026-05-02T08:00:00.000000Z", b: "2026-05-09T08:00:00.000000Z" } };
  const again = (rows: typeof covered) =>
    repeatedBeyondCursors({ stream: { cursorField: "at" }, state, covered, again: rows });
  expect(again(covered.slice(1))).toEqual([]);
  expect(again(covered)).toEqual(["a1"]);
});

test("requests that a program had sent ahead of its rows are left out, and told", () => {
  const page = (id: string) => ({
    request: { method: "GET", url: new URL(`https://api.example.com/${id}`), body: "" },
    answer: { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ rows: [{ id }] })) },
  });
  const run = (row: string) =>
    ({
      messages: [{ message: { type: "RECORD", record: { data: { id: row } } } }],
      exchanges: ["n1", "n2", "n3", "n4"].map(page),
    }) as unknown as Parameters<typeof requestsUntilCrash>[0];
  const urls = (row: string) => {
    const shown = requestsUntilCrash(run(row));
    return shown.kind === "exchanges"
      ? [shown.title, ...shown.exchanges.map(({ request }) => request.slice(-2))]
      : [];
  };
  expect(urls("n2")).toEqual([expect.stringContaining("sent ahead"), "n1", "n2"]);
  expect(urls("n4")).toEqual(["Last requests until the crash", "n3", "n4"]);
});
