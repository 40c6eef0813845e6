import { canonicalize } from "svc-connectors/host";
import { messageEvidence } from "../contract/evidence.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  type Changes,
  expectSame,
  expectSuccess,
  noLog,
  openChanges,
} from "../derive/changes/changes.ts";
import type { ReplayedTable } from "../derive/changes/replayed-table.ts";

/** Changes between two reads. */
const steps = {
  "rows were inserted, changed and deleted":
    "INSERT INTO {} VALUES (101, 1, 'new', 'x'), (102, 2, NULL, NULL); UPDATE {} SET word = word || '!', n = -n WHERE id <= 3; DELETE FROM {} WHERE id IN (4, 5)",
  "a key was changed, and another one taken again":
    "UPDATE {} SET id = 200 WHERE id = 6; DELETE FROM {} WHERE id = 7; INSERT INTO {} VALUES (7, 70, 'again', 'y')",
  "transactions came back to what they had done, and one was rolled back":
    "BEGIN; UPDATE {} SET n = 80 WHERE id = 8; DELETE FROM {} WHERE id = 8; INSERT INTO {} VALUES (8, 81, 'third', NULL); INSERT INTO {} VALUES (9000, 0, '', ''); DELETE FROM {} WHERE id = 9000; UPDATE {} SET id = 300 WHERE id = 9; UPDATE {} SET id = 9 WHERE id = 300; COMMIT; BEGIN; DELETE FROM {}; ROLLBACK",
};

export default defineRule({
  id: "CDC-01",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title:
    "Inserts, updates, deletes and changed keys are read from the log: applied in its order, they make the table, each value as a query gives it.",
  why: "A deletion that is lost leaves a customer in every report for ever, and nothing looks wrong: the log is read once, and is gone.",
  fix: "Give a deletion as a row with its key and _ab_cdc_deleted_at, a changed key as a deletion of the old one and a row of the new one. Give each row the place of its commit, and read values of the log by the same code as those of queries.",
  good: "UPDATE … SET id = 200 WHERE id = 6 → { id: 6, _ab_cdc_deleted_at: … }, { id: 200, … }",
  bad: 'if (change.kind === "delete") continue;',
  notApplicable: noLog,
  async run(lab, report) {
    const { database } = lab;
    await using changes = await openChanges(lab, report, { hasAllTables: true });
    if (!changes || !database) return;
    if (!expectSuccess(report, "the tables are read whole", await changes.read())) return;
    for (const [what, sql] of Object.entries(steps)) {
      await changes.change(sql);
      const run = await changes.read();
      if (!expectSuccess(report, what, run)) return;
      await expectSame(database, changes, report, what, run);
    }
    await touchAll(changes, report);
  },
});

/** Every row comes by the log, with the values that it had by a query. */
async function touchAll(changes: Changes, report: Reporter): Promise<void> {
  const before = changes.tables.map(contents);
  await changes.copy.execute(changes.log.touchAll);
  const run = await changes.read();
  const what = "every row was written again";
  if (!expectSuccess(report, what, run)) return;
  for (const [at, table] of changes.tables.entries()) {
    report.checked(`${table.facts.label}: ${what}`);
    const after = contents(table);
    const changed = [...(before[at] ?? [])].filter(([key, content]) => after.get(key) !== content);
    const [first] = changed;
    if (first)
      report.fail(
        `${table.facts.label}: ${what}, with the values that it had, and ${changed.length} rows are others by the log than by a query: ${first[1]} became ${after.get(first[0]) ?? "no row"}.`,
        messageEvidence("The read", run, []),
      );
  }
}

/** Rows by their keys, without where they were committed. */
const contents = ({ facts, rows }: ReplayedTable): ReadonlyMap<string, string> =>
  new Map(
    rows().map(({ key, data }) => [
      key,
      canonicalize({ ...data, [facts.cursorField ?? ""]: null }),
    ]),
  );
