import { defineRule } from "../contract/rule.ts";
import { expectSteps, noLog } from "../derive/changes/changes.ts";

/** Changes before and behind each change of the columns, all in what one read finds. */
const steps = {
  "a column was added in the midst of changes":
    "INSERT INTO {} VALUES (20, 20, 'before', 'x'); ALTER TABLE {} ADD COLUMN extra text DEFAULT 'e'; UPDATE {} SET n = n + 1 WHERE id IN (1, 20); INSERT INTO {} VALUES (21, 21, 'behind', 'y', 'own')",
  "a column was dropped in the midst of changes":
    "INSERT INTO {} VALUES (22, 22, 'before', 'x'); ALTER TABLE {} DROP COLUMN word; UPDATE {} SET n = n + 1 WHERE id IN (2, 22); INSERT INTO {} (id, n, large) VALUES (23, 23, 'z'); DELETE FROM {} WHERE id = 3",
};

export default defineRule({
  id: "CDC-06",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title:
    "When columns come or go between two changes, the values of the others stay in their columns.",
  why: "The log has the columns that a table had at each change. Read by their place of today, every value behind a dropped column lands in its neighbour, of the same type as often as not.",
  fix: "Find values by the names that the log gave last for the table (pgoutput: Relation), and leave out columns that the stream does not have.",
  good: "relations.set(relation.oid, relation); … values[relation.columns.indexOf(name)]",
  bad: "stream.columns.map((column, at) => tuple[at])",
  notApplicable: noLog,
  run: (lab, report) => expectSteps(lab, report, steps),
});
