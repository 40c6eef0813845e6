/** How encoded rows and what is known of them become durable: together, fence in hand. */
import { generationOf, type OpenStream } from "./open-stream.ts";
import { holdFence, type SavedGenerations, saveGeneration } from "./state.ts";
import { beginTransaction, type Transaction } from "./transaction.ts";
import type { Writing } from "./writing.ts";

/** The transaction of the stream; one of another stream is committed first. */
export async function transactionOf(writing: Writing, stream: OpenStream): Promise<Transaction> {
  if (writing.transaction && writing.transaction.of !== stream)
    await commit(writing, writing.transaction.of);
  writing.transaction ??= {
    of: stream,
    it: await beginTransaction(
      writing.session,
      writing.command.owner,
      stream,
      stream.covered[0] ?? stream.waiting[0],
      writing.ctx.clock.now(),
    ),
  };
  return writing.transaction.it;
}

/** Sends the gathered rows to the server. */
export async function send(
  writing: Writing,
  stream: OpenStream,
  part: "covered" | "waiting",
): Promise<void> {
  const rows = stream[part];
  if (rows.length === 0) return;
  const transaction = await transactionOf(writing, stream);
  await transaction.write(rows);
  stream[part] = [];
  stream[`${part}Bytes`] = 0;
}

/**
 * Commits what the last checkpoint covers, or with `finish` all; `finish` says what is known of the
 * copies then.
 */
export async function commit(
  writing: Writing,
  stream: OpenStream,
  finish?: (transaction: Transaction) => Promise<SavedGenerations>,
): Promise<void> {
  const {
    ctx,
    session: { client },
    command: { owner, fence },
  } = writing;
  await send(writing, stream, "covered");
  const transaction = await transactionOf(writing, stream);
  await transaction.finish();
  const { saved } = stream.planned;
  const before = saved.generations;
  const generations = finish ? await finish(transaction) : generationsAt(stream);
  await holdFence(client, owner, fence);
  const nowMs = Math.max(ctx.clock.now(), saved.updatedAtMs);
  for (const slot of ["current", "next"] as const)
    if (generations[slot] !== before[slot])
      await saveGeneration(client, transaction.id, slot, generations[slot], nowMs);
  await client.query("COMMIT");
  writing.transaction = undefined;
  writing.pace.committed();
  stream.planned.saved = { ...saved, id: transaction.id, generations, updatedAtMs: nowMs };
  stream.types = new Map(transaction.types);
  reportCommitted(writing, stream, finish !== undefined);
}

/** The copies of a stream as they are at the last checkpoint. */
function generationsAt(stream: OpenStream): SavedGenerations {
  const { saved, plan } = stream.planned;
  const known =
    stream.checkpoint ?? (stream.isFree ? generationOf(stream, stream.rowCount) : undefined);
  return known ? { ...saved.generations, [plan.place]: known } : saved.generations;
}

function reportCommitted({ command }: Writing, stream: OpenStream, isFinished: boolean): void {
  const { saved, plan } = stream.planned;
  const written = isFinished || stream.isFree ? stream.rowCount : stream.coveredRowCount;
  const state = saved.generations[isFinished ? "current" : plan.place]?.state;
  const rowCount = written - stream.committedRowCount;
  stream.committedRowCount = written;
  stream.checkpoint = undefined;
  command.onCommitted?.({
    stream: stream.stream,
    rowCount,
    ...(state === undefined ? {} : { state }),
  });
}

export async function rollback(writing: Writing): Promise<void> {
  if (!writing.transaction) return;
  const { it } = writing.transaction;
  writing.transaction = undefined;
  await it.takeBack();
  await writing.session.client.query("ROLLBACK");
}
