import { defineRule } from "../contract/rule.ts";
import { expectSteps, noLog } from "../derive/changes/changes.ts";

/** Changes stand before and behind each change of the columns, all in what one read finds. */
const steps = {
  "a column came with a value for every row":
    "UPDATE {} SET n = n + 1 WHERE id = 1; INSERT INTO {} VALUES (30, 30, 'before', 'x'); DELETE FROM {} WHERE id = 4; ALTER TABLE {} ADD COLUMN extra int NOT NULL DEFAULT 7; UPDATE {} SET extra = 8 WHERE id = 2; INSERT INTO {} VALUES (31, 31, 'behind', 'y', 9)",
  "a column got another type, and every row another value":
    "UPDATE {} SET n = n + 1 WHERE id IN (1, 30); ALTER TABLE {} ALTER COLUMN n TYPE bigint USING n * 100; UPDATE {} SET word = 'behind' WHERE id = 3",
  "a column kept its type, and every row got another value":
    "UPDATE {} SET n = n + 1 WHERE id IN (2, 31); ALTER TABLE {} ALTER COLUMN n TYPE bigint USING n + 5000; DELETE FROM {} WHERE id = 5",
};

export default defineRule({
  id: "CDC-10",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title: "Values that rows get with a change of the columns arrive in all rows.",
  why: "A new column with a default and a changed type write every row of the table, and the log has none of them: rows that nobody changes keep null or the old value in the warehouse, and no error says so.",
  fix: "Save what the columns are (name, number, type, and whether the table's files are others) with the place in the log. Where one that is read is new or written anew, read all rows once more, with the saved place, and rows that were changed before by their keys.",
  good: "if (!saved.columns.includes(column)) yield* copyRows(stream, { place: saved.lsn });",
  bad: "new columns are null until a row changes",
  notApplicable: noLog,
  run: (lab, report) =>
    expectSteps(lab, report, steps, async (changes) => {
      await changes.discoverAgain();
      return changes.catchUp();
    }),
});
