import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";

/** Subjects that one look takes on; the rest comes with the next one. */
const atOnce = 200;

/**
 * Takes on one subject after another whose time has come, each in a transaction. Any number of
 * servers may do it at once: `take` gives one that no other one has in hand. One that cannot be
 * looked after does not keep the others from their time.
 * @param take the one that is due for longest, besides those that failed, locked
 */
export async function takeEachDue<Row extends { readonly id: string }>(
  { database: { db }, log }: Pick<Services, "database" | "log">,
  {
    subject,
    take,
    start,
  }: {
    /** The kind of thing, for the log: "pipeline". */
    readonly subject: string;
    take(tx: Db, failed: readonly string[]): Promise<Row | undefined>;
    start(tx: Db, row: Row): Promise<void>;
  },
): Promise<void> {
  const failed: string[] = [];
  for (let count = 0; count < atOnce; count += 1) {
    let row: Row | undefined;
    try {
      await db.transaction().execute(async (tx) => {
        row = await take(tx, failed);
        if (row) await start(tx, row);
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
