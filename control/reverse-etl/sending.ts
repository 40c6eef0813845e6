/** Sends what has changed, in batches, and confirms each after the destination has taken it. */
import { randomUUID } from "node:crypto";
import {
  type ActivationCommand,
  type BatchResult,
  ConnectorError,
  type FailedRow,
  type JsonObject,
  type JsonValue,
  type RowBatch,
  type RowChange,
  rowReasons,
} from "svc-connectors/host";
import type { JobAttempt } from "../contract/job.ts";
import type { RowCounts } from "../store/tables.ts";
import { countSent } from "../telemetry/attempts.ts";
import type { OpenedActivation } from "./activation-target.ts";
import type { Diff, PlannedRow } from "./diff.ts";
import {
  addSuccessful,
  countRows,
  keepFailedRows,
  noRows,
  plus,
  requireCurrent,
} from "./run-row.ts";
import { confirmRows } from "./snapshots.ts";

export interface Sending {
  readonly attempt: JobAttempt;
  readonly runId: string;
  readonly command: ActivationCommand;
  readonly target: OpenedActivation;
  readonly maxBatchRows: number;
  readonly diff: Diff;
  /** Failed rows of which the reason is kept. */
  readonly maxKept: number;
  /** After each batch: how many rows have failed so far. */
  onProgress(failed: RowCounts, taken: number): Promise<void>;
}

/**
 * Sends until nothing is left. A batch is noted before it goes and forgotten when it is confirmed:
 * after a crash its rows come again together, under the same id, so that a destination which
 * remembers ids takes them once.
 * @returns rows that failed
 * @throws ConnectorError: what was confirmed stays confirmed
 */
export async function sendChanges(sending: Sending): Promise<RowCounts> {
  const { attempt, command, target } = sending;
  const { services, signal } = attempt;
  const underWay: { readonly id: string; readonly rows: readonly PlannedRow[] }[] = [];
  let failed = noRows;
  let kept = 0;

  async function* batches(): AsyncGenerator<RowBatch> {
    for await (const batch of plannedBatches(sending)) {
      if (signal.aborted) throw new ConnectorError("CANCELLED");
      underWay.push(batch);
      yield { id: batch.id, rows: batch.rows.map((row) => toChange(row, command)) };
    }
  }
  const results = services.activations.write(
    target.reference,
    target.config,
    command,
    batches(),
    target.options,
  );
  for await (const result of results) {
    const batch = underWay.shift();
    if (!batch)
      throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a result came without a batch" });
    const lost = await confirmBatch(sending, batch.rows, result, sending.maxKept - kept);
    const refused = countRows(lost);
    countSent(services, target.reference.name, countRows(batch.rows), refused);
    failed = plus(failed, refused);
    kept += lost.length;
    await sending.onProgress(failed, batch.rows.length - lost.length);
  }
  if (underWay.length > 0)
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a batch has no result" });
  return failed;
}

/**
 * First the batch that an earlier attempt or run may have left on its way, as it was; then the
 * others.
 */
async function* plannedBatches(
  sending: Sending,
): AsyncGenerator<{ readonly id: string; readonly rows: readonly PlannedRow[] }> {
  const { attempt, diff, maxBatchRows, command } = sending;
  const { db } = attempt.services.database;
  const left = await db
    .selectFrom("reverse_etl_batches")
    .selectAll()
    .where("activation_id", "=", command.owner)
    .executeTakeFirst();
  const again = left ? diff.take(left.rows) : [];
  if (left && again.length > 0) yield { id: left.batch_id, rows: again };
  for (;;) {
    const rows = diff.next(maxBatchRows);
    if (rows.length === 0) return;
    const id = randomUUID();
    const noted = {
      batch_id: id,
      rows: JSON.stringify(rows.map(({ key, hash, change }) => [key, hash, change])),
    };
    await db.transaction().execute(async (tx) => {
      await requireCurrent(tx, attempt);
      await tx
        .insertInto("reverse_etl_batches")
        .values({ activation_id: command.owner, ...noted })
        .onConflict((conflict) => conflict.column("activation_id").doUpdateSet(noted))
        .execute();
    });
    yield { id, rows };
  }
}

function toChange(
  { key, change, fields, identifier }: PlannedRow,
  command: ActivationCommand,
): RowChange {
  if (fields !== null) return { key, change, fields: JSON.parse(fields) as JsonObject };
  const value = identifier === null ? null : (JSON.parse(identifier) as JsonValue);
  return {
    key,
    change,
    fields: command.identifier === undefined ? {} : { [command.identifier]: value },
  };
}

/** @returns the rows that were not taken */
async function confirmBatch(
  { attempt, runId, command }: Sending,
  rows: readonly PlannedRow[],
  { failed }: BatchResult,
  maxKept: number,
): Promise<readonly PlannedRow[]> {
  const { database, clock } = attempt.services;
  const failures = new Map(failed.map((row) => [row.key, row]));
  const lost = rows.filter(({ key }) => failures.has(key));
  const taken = rows.filter(({ key }) => !failures.has(key));
  const entries = lost
    .slice(0, Math.max(0, maxKept))
    .map(({ key, change }) => ({ key, change, ...wordsOf(failures.get(key)) }));
  await database.db.transaction().execute(async (tx) => {
    await requireCurrent(tx, attempt);
    await confirmRows(tx, command.owner, taken, new Date(clock.now()));
    await tx.deleteFrom("reverse_etl_batches").where("activation_id", "=", command.owner).execute();
    await addSuccessful(tx, runId, countRows(taken));
    await keepFailedRows(tx, runId, entries);
  });
  return lost;
}

function wordsOf(row: FailedRow | undefined): {
  readonly reason: string;
  readonly message: string;
} {
  const { reason = "rejected", word } = row ?? {};
  const isWord = word !== undefined && /^[a-z][a-z0-9_]{0,39}$/.test(word);
  return {
    reason,
    message: isWord ? `${rowReasons[reason].slice(0, -1)} (${word}).` : rowReasons[reason],
  };
}
