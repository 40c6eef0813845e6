/** How a stream ends: its rows get to the table that people see, or it is abandoned. */
import { commit, rollback, send } from "./commit.ts";
import { deduplicate, removeRepeated } from "./merge.ts";
import { generationOf, type OpenStream } from "./open-stream.ts";
import {
  deletedTable,
  holdFence,
  nextTable,
  type SavedGeneration,
  saveGeneration,
} from "./state.ts";
import { addRows, swapTable } from "./swap.ts";
import { tableName } from "./tables.ts";
import type { Transaction } from "./transaction.ts";
import type { Writing } from "./writing.ts";

/** Ends a stream that was read to its end. */
export async function complete(writing: Writing, stream: OpenStream): Promise<void> {
  await send(writing, stream, "covered");
  await send(writing, stream, "waiting");
  const { saved, plan } = stream.planned;
  const state = stream.configured.sync_mode === "incremental" ? stream.state : undefined;
  const current = generationOf(stream, stream.rowCount, state);
  await commit(writing, stream, async (transaction) =>
    plan.place === "current"
      ? { ...saved.generations, current }
      : { current: await moveRows(writing, stream, transaction, current) },
  );
}

/** Brings the rows from the copy aside to the table that people see. */
async function moveRows(
  { ctx, session: { client }, command: { jobId } }: Writing,
  stream: OpenStream,
  { id, table, types }: Transaction,
  current: SavedGeneration,
): Promise<SavedGeneration> {
  const { saved, plan } = stream.planned;
  const visible = saved.generations.current;
  if (stream.merge) {
    await client.query(`DROP TABLE IF EXISTS ${tableName(deletedTable(id))}`);
    const name = tableName(table);
    const nowMs = ctx.clock.now();
    await deduplicate(client, name, types, stream.columns, stream.merge, id, nowMs);
  } else if (stream.repeatedKeys.length > 0) {
    await removeRepeated(client, tableName(table), { keys: stream.repeatedKeys });
  }
  // Rows that an earlier job has begun with are this one's from now on: a later attempt of it must
  // find all of its rows.
  if (plan.isResumed && current.destinationMode === "append")
    await client.query(`UPDATE ${tableName(table)} SET _svc_job_id = $1 WHERE _svc_job_id <> $1`, [
      jobId,
    ]);
  if (plan.completion !== "add" || visible === undefined) {
    await swapTable(client, table, types, saved.table, visible !== undefined);
    return current;
  }
  // The job did this before, and was killed before it knew.
  if (visible.jobId === jobId)
    await client.query(`DELETE FROM ${tableName(saved.table)} WHERE _svc_job_id = $1`, [jobId]);
  await addRows(client, table, types, saved.table);
  return { ...current, rowCount: current.rowCount + visible.rowCount };
}

/** Keeps what the last checkpoint covers; a copy that nothing can resume is removed. */
export async function abandon(writing: Writing, stream: OpenStream): Promise<void> {
  const { transaction } = writing;
  stream.waiting = [];
  if (transaction?.of === stream && transaction.it.isMarked) await transaction.it.takeBack();
  if (stream.checkpoint) return commit(writing, stream);
  await rollback(writing);
  const { saved, plan } = stream.planned;
  if (stream.isFree && plan.place === "next" && saved.id !== undefined && saved.generations.next)
    await dropNext(writing, stream, saved.id);
}

async function dropNext(
  { session: { client }, command: { owner, fence } }: Writing,
  { planned }: OpenStream,
  id: string,
): Promise<void> {
  await client.query(`BEGIN; DROP TABLE IF EXISTS ${tableName(nextTable(id))}`);
  await holdFence(client, owner, fence);
  await saveGeneration(client, id, "next", undefined, 0);
  await client.query("COMMIT");
  const { next: _, ...generations } = planned.saved.generations;
  planned.saved = { ...planned.saved, generations };
}
