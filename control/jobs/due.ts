import type { Selectable } from "kysely";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";

/** Tables whose rows have a schedule. */
type Scheduled = "pipelines" | "reverse_etl_activations";
type RowOf<Table extends Scheduled> = Selectable<Tables[Table]> & { readonly id: string };

/** Subjects that one look takes on; the rest comes with the next one. */
const atOnce = 200;

/**
 * Takes on one subject after another whose time has come, each in a transaction. Any number of
 * servers may do it at once: none takes one that another one has in hand. One that cannot be looked
 * after does not keep the others from their time.
 */
export async function takeEachDue<Table extends Scheduled>(
  { database: { db }, log, clock }: Pick<Services, "database" | "log" | "clock">,
  {
    table,
    subject,
    start,
  }: {
    readonly table: Table;
    /** The kind of thing, for the log: "pipeline". */
    readonly subject: string;
    start(tx: Db, row: RowOf<Table>, now: Date): Promise<void>;
  },
): Promise<void> {
  const now = new Date(clock.now());
  const failed: string[] = [];
  for (let count = 0; count < atOnce; count += 1) {
    let row: RowOf<Table> | undefined;
    try {
      await db.transaction().execute(async (tx) => {
        row = await takeDue(tx, table, failed, now);
        if (row) await start(tx, row, now);
      });
    } catch (error) {
      if (!row) throw error;
      failed.push(row.id);
      log.error(`the schedule of a ${subject} could not be looked after`, {
        [`${subject}_id`]: row.id,
      });
    }
    if (!row) return;
  }
}

/** Locks the row that is due for longest, besides those that failed, until the transaction ends. */
const takeDue = <Table extends Scheduled>(
  tx: Db,
  table: Table,
  failed: readonly string[],
  now: Date,
) =>
  tx
    .selectFrom(table as Scheduled)
    .selectAll()
    .where("status", "=", "active")
    .where("next_run_at", "<=", now)
    .$if(failed.length > 0, (due) => due.where("id", "not in", failed))
    .orderBy("next_run_at")
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst() as Promise<RowOf<Table> | undefined>;
