import { defineRule } from "../contract/rule.ts";
import { expectSame, expectSuccess, noLog, openChanges } from "../derive/changes/changes.ts";

/** Messages of the first read, by number, at which the tables change. */
const moments = new Set([1, 2, 4, 8, 16, 24]);
const changeAt = (count: number) =>
  `INSERT INTO {} VALUES (${100 + count}, 0, 'during', 'x'), (${-count}, 0, 'during', 'y');
   UPDATE {} SET n = n + 1 WHERE id <= 12; DELETE FROM {} WHERE id IN (${count % 12}, ${13 - (count % 12)})`;

export default defineRule({
  id: "CDC-04",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title: "The first copy of the rows and the changes that follow fit without a gap.",
  why: "Copying a large table takes hours, and the database goes on meanwhile. Whatever changes between the copy and the first place that is read of the log is never read.",
  fix: "Make the slot first and read the rows from a snapshot that stands at its place or behind it; then read the changes since the slot's place, and let older ones lose against newer rows.",
  good: "CREATE_REPLICATION_SLOT … EXPORT_SNAPSHOT → SET TRANSACTION SNAPSHOT '…'",
  bad: "await copyRows(table); await createSlot();",
  notApplicable: noLog,
  async run(lab, report) {
    const { database } = lab;
    await using changes = await openChanges(lab, report);
    if (!changes || !database) return;
    const what = "the tables changed while they were read for the first time";
    const first = await changes.read({
      async onMessage(_, count) {
        if (moments.has(count)) await changes.change(changeAt(count));
      },
    });
    if (!expectSuccess(report, what, first)) return;
    const next = await changes.read();
    if (expectSuccess(report, what, next)) await expectSame(database, changes, report, what, next);
  },
});
