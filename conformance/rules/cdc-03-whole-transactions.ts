import { messageEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { type Changes, expectSuccess, noLog, openChanges } from "../derive/changes/changes.ts";

/** Transactions that are committed during a read, one at a message. */
const transactionsPerRead = 8;
/** One without a large value: those are read as they are now where the log does not have them. */
const row = "INSERT INTO {} VALUES (1000, 0, 'in both', NULL)";
/** Changes the row of each table, in one transaction. */
const both = (tables: readonly string[]) =>
  `BEGIN; ${tables.map((table) => `UPDATE ${table} SET n = n + 1 WHERE id = 1000`).join("; ")}; COMMIT`;

export default defineRule({
  id: "CDC-03",
  level: "MUST",
  profile: "resumable",
  since: "0.2.0",
  title: "All tables of a read end at the same transaction.",
  why: "An order without its lines, a payment that is booked on one account only: a transaction that is there in part is a state that the database has never had, and a report on it is wrong.",
  fix: "Fix one border when the run begins, the place of the snapshot or the end of the log, and end every stream there.",
  good: "const border = await writtenNow(session); // once for a run",
  bad: "for (const stream of streams) { const border = await writtenNow(session); … }",
  notApplicable: noLog,
  async run(lab, report) {
    await using changes = await openChanges(lab, report);
    if (!changes) return;
    await changes.change(row);
    for (const what of ["the tables are read whole", "changes are read"]) {
      const run = await readBetween(changes);
      if (!expectSuccess(report, what, run)) return;
      expectTogether(changes, report, what, run);
    }
  },
});

/** A read during which transactions of both tables are committed, and one more behind it. */
async function readBetween(changes: Changes): Promise<Observation> {
  const transaction = both(changes.log.tables);
  let left = transactionsPerRead;
  const run = await changes.read({
    async onMessage() {
      if (left-- > 0) await changes.copy.execute(transaction);
    },
  });
  await changes.copy.execute(transaction);
  return run;
}

function expectTogether(
  { tables: [first, second] }: Changes,
  report: Reporter,
  what: string,
  run: Observation,
): void {
  const counted = (table: typeof first) =>
    String(table?.rows().find(({ data }) => String(data.id) === "1000")?.data.n);
  report.checked(what);
  const [one, other] = [counted(first), counted(second)];
  if (one !== other)
    report.fail(
      `While ${what}, transactions change n in a row of ${first?.facts.label} and of ${second?.facts.label} alike. After the read it is ${one} there and ${other} here: one of them is there in part.`,
      messageEvidence("The read", run, []),
    );
}
