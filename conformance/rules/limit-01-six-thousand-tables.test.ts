import { expect, test } from "vitest";
import { openDefect, tryOn } from "../../fixtures/reference/lab.ts";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./limit-01-six-thousand-tables.ts";

testRule(rule, {
  defects: { "limit-01-one-request-for-each-table": /one for each table/ },
  notApplicable: ["connector", "program"],
});

test("a source that lists all tables with one request meets it", async () => {
  await using lab = await openDefect("tables");
  expect(await tryOn(rule, lab)).toMatchObject({ result: "pass", problems: [] });
});
