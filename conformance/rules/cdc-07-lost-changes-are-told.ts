import { defineRule } from "../contract/rule.ts";
import { expectSame, expectSuccess, noLog, openChanges } from "../derive/changes/changes.ts";

export default defineRule({
  id: "CDC-07",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title:
    "Where the server has no longer what follows a saved state, the read says so, and the tables are read anew.",
  why: "Slots are dropped by administrators, lost when they hold back too much, and read on by a second reader. A source that makes a new one and goes on has lost the changes between, and nobody is told.",
  fix: "Compare each saved place with what the slot has confirmed, and the server's identity with the state's. Where changes are gone, save the state of nothing and fail with CHANGES_LOST.",
  good: "if (!slot || saved.lsn < slot.confirmed) yield* beginAnew(stream);",
  bad: "CREATE_REPLICATION_SLOT IF NOT EXISTS, and read on",
  notApplicable: noLog,
  async run(lab, report) {
    const { database } = lab;
    await using changes = await openChanges(lab, report);
    if (!changes || !database) return;
    if (!expectSuccess(report, "the tables are read whole", await changes.read())) return;
    for (const [at, { name, statements }] of changes.log.losses(changes.slot).entries()) {
      await changes.change(
        `DELETE FROM {} WHERE id = ${at + 1}; UPDATE {} SET n = n + 1 WHERE id > 6; INSERT INTO {} VALUES (${400 + at}, 0, 'new', 'x')`,
      );
      await changes.log.settle(changes.copy);
      for (const statement of statements) await changes.copy.execute(statement);
      const what = `the slot ${name}`;
      const last = await changes.catchUp();
      if (!expectSuccess(report, what, last)) return;
      await expectSame(database, changes, report, what, last);
    }
  },
});
