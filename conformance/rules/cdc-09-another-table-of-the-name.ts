import { defineRule } from "../contract/rule.ts";
import { expectSteps, noLog } from "../derive/changes/changes.ts";

const columns = "(id int PRIMARY KEY, n int NOT NULL, word text, large text)";

/** Between two reads; nothing of it is an entry of the log that names a row of the old table. */
const steps = {
  "the tables were dropped, and made and filled anew": `DROP TABLE {}; CREATE TABLE {} ${columns}; INSERT INTO {} VALUES (1, 100, 'other', 'x'), (50, 50, 'other', 'y')`,
  "the tables were dropped, and made anew without rows": `DROP TABLE {}; CREATE TABLE {} ${columns}`,
  "the tables were renamed, and others took their names": `DROP TABLE IF EXISTS {}_old; INSERT INTO {} VALUES (60, 60, 'old', 'x'); ALTER TABLE {} RENAME TO {}_old; CREATE TABLE {} ${columns}; INSERT INTO {} VALUES (2, 200, 'third', NULL); DROP TABLE {}_old`,
};

export default defineRule({
  id: "CDC-09",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title: "Another table that has taken the name of one is read anew.",
  why: "Tables are dropped and made anew by migrations and loaders. The log has no deletions of the old rows: read on by the name, they stay in the warehouse for ever, beside those of the new table.",
  fix: "Save the table's own number (pg_class.oid) with the place in the log, and compare it with today's and with that of each change. Where it is another one, save the state of nothing and fail with CHANGES_LOST.",
  good: "if (saved.oid !== table.oid || relation.oid !== table.oid) yield* beginAnew(stream);",
  bad: "relation.name === stream.name",
  notApplicable: noLog,
  run: (lab, report) =>
    expectSteps(lab, report, steps, async (changes) => {
      await changes.grant();
      return changes.catchUp();
    }),
});
