/**
 * One attempt of a run: query the model, compare with what the destination has confirmed, send the
 * difference, confirm it batch by batch. An attempt that takes over from another finds the rest of
 * the difference, and nothing else needs to be remembered.
 */
import {
  type ActivationCommand,
  ConnectorError,
  identifyingOperations,
  rowReasons,
} from "svc-connectors/host";
import type { JobAttempt, JobRunner } from "../contract/job.ts";
import { toConnectorError, toFailure } from "../jobs/failure.ts";
import type { RunContext } from "../sources/runs.ts";
import type { RowCounts } from "../store/tables.ts";
import { activationTargetOf, openActivation } from "./activation-target.ts";
import { createDiff, type Diff } from "./diff.ts";
import { createRowMapper } from "./mapped-rows.ts";
import { modelFaults } from "./mappings.ts";
import {
  type ActivationRow,
  findActivation,
  findModel,
  findReverseDestination,
  findRun,
  type ModelTableRow,
  type RunRow,
} from "./rows.ts";
import { keepFailedRows, moveRun, plus, requireCurrent, sumOf } from "./run-row.ts";
import { sendChanges } from "./sending.ts";
import { confirmedRows, type Resync } from "./snapshots.ts";
import { queryModel } from "./warehouse.ts";

/** Most rows of a model. */
export const maxModelRows = 10_000_000;
/** A model that takes longer is no query for every day. */
const queryTimeoutMs = 3_600_000;
/** Failed rows of a run of which the reasons are kept; the others are counted. */
const maxFailedRows = 10_000;

/** Runs an attempt of a job of the kind reverse_etl. */
export const runActivation: JobRunner = async (attempt) => {
  const { services, job } = attempt;
  const runId = String(job.options.runId);
  const at = () => new Date(services.clock.now());
  const { db } = services.database;
  try {
    const run = await findRun(db, job.workspace_id, runId);
    const end = await workOn(attempt, run);
    return {
      status: "succeeded",
      commit: (tx) => moveRun(tx, runId, { ...end, finished_at: at() }),
    };
  } catch (thrown) {
    const error = toConnectorError(thrown);
    const failure = toFailure(error.toRecord(), "destination", at());
    if (attempt.signal.aborted && (await isCancelRequested(attempt)))
      return { status: "cancelled" };
    if (error.code === "OUTPUT_FENCED" || attempt.signal.aborted)
      return { status: "failed", failure };
    attempt.log("warn", "The attempt has failed.", { code: error.code });
    // It waits for another attempt, unless the job ends with this one, and the run with the job.
    await moveRun(db, runId, {
      status: "queued",
      error: { reason: error.code.toLowerCase(), message: error.message },
    });
    return {
      status: "failed",
      failure,
      retryAfterMs: error.retryAfterMs,
    };
  }
};

/** @returns how the run ends, when its job does */
async function workOn(attempt: JobAttempt, run: RunRow): Promise<RunEnd> {
  const { services, job, progress } = attempt;
  const { db } = services.database;
  const now = () => new Date(services.clock.now());
  const activation = await findActivation(db, job.workspace_id, run.activation_id);
  const model = await findModel(db, job.workspace_id, activation.model_id);
  await moveRun(db, run.id, {
    status: "querying",
    started_at: run.started_at ?? now(),
    error: null,
  });

  const stream = { name: activation.object };
  progress.status(stream, "running");
  using diff = createDiff(activation.operation);
  const size = await stage(attempt, activation, model, run, diff);
  progress.add(stream, { emitted: size });
  const { counts, refused } = diff.plan();
  // Rows that earlier attempts of this run have sent were planned too.
  const planned = plus(plus(counts, refused), run.successful as RowCounts);
  await db.transaction().execute(async (tx) => {
    await requireCurrent(tx, attempt);
    await tx.deleteFrom("reverse_etl_failed_rows").where("run_id", "=", run.id).execute();
    const rows = diff.refused(maxFailedRows);
    for (let from = 0; from < rows.length; from += 1_000)
      await keepFailedRows(
        tx,
        run.id,
        rows.slice(from, from + 1_000).map((row) => ({ ...row, message: rowReasons[row.reason] })),
      );
    await moveRun(tx, run.id, { status: "processing", query_size: size, planned, failed: refused });
  });
  attempt.log("info", "The model was compared with what is confirmed.", {
    rows: size,
    added: counts.addedCount,
    changed: counts.changedCount,
    removed: counts.removedCount,
    refused: sumOf(refused),
  });

  let failed = refused;
  if (!run.dry_run && sumOf(counts) > 0)
    failed = plus(refused, await send(attempt, run, activation, diff, refused));
  await moveRun(db, run.id, { status: "reporting", failed });
  progress.status(stream, "complete");
  return outcomeOf(planned, failed, run);
}

/** Stages the model's rows beside those that are confirmed. @returns rows of the model */
async function stage(
  attempt: JobAttempt,
  activation: ActivationRow,
  model: ModelTableRow,
  run: RunRow,
  diff: Diff,
): Promise<number> {
  const { services, job, signal } = attempt;
  const { operation, mappings } = activation;
  const isIdentifying = identifyingOperations.includes(operation);
  for await (const rows of confirmedRows(
    services.database.db,
    activation.id,
    resyncOf(run, isIdentifying),
  ))
    diff.confirmed(rows);
  const query = {
    warehouseId: model.destination_id,
    sql: model.sql,
    maxRows: maxModelRows + 1,
    timeoutMs: queryTimeoutMs,
  };
  return await queryModel(
    contextOf(attempt),
    job.workspace_id,
    query,
    async ({ columns, pages }) => {
      const [fault] = modelFaults(mappings, operation, columns);
      if (fault)
        throw new ConnectorError("CONFIG_INVALID", { path: fault.path, problem: fault.message });
      const shape = { primaryKey: model.primary_key, mappings, isIdentifying };
      const toRow = createRowMapper(columns, shape, services.mac);
      let size = 0;
      for await (const page of pages) {
        if (signal.aborted) throw new ConnectorError("CANCELLED");
        diff.add(page.map((values) => toRow(values, ++size)));
        if (size > maxModelRows)
          throw new ConnectorError("QUERY_REFUSED", {
            reason: `it gives more than ${maxModelRows} rows`,
          });
      }
      return size;
    },
  );
}

/** A row that this very run has confirmed, in an earlier attempt, need not be sent again. */
const resyncOf = (
  { full_sync, started_at, created_at }: RunRow,
  isIdentifying: boolean,
): Resync | undefined =>
  full_sync
    ? { before: started_at ?? created_at, as: isIdentifying ? "changed" : "unknown" }
    : undefined;

async function send(
  attempt: JobAttempt,
  run: RunRow,
  activation: ActivationRow,
  diff: Diff,
  refused: RowCounts,
): Promise<RowCounts> {
  const { services, job, progress } = attempt;
  const ctx = contextOf(attempt);
  const row = await findReverseDestination(
    services.database.db,
    job.workspace_id,
    activation.destination_id,
  );
  const target = await openActivation(ctx, await activationTargetOf(ctx, row), "run");
  const { maxBatchRows } = await services.activations.manifest(target.reference);
  const identifier = activation.mappings.find(({ isPrimaryIdentifier }) => isPrimaryIdentifier)?.to;
  const command: ActivationCommand = {
    owner: activation.id,
    object: activation.object,
    operation: activation.operation,
    identifier,
  };
  return await sendChanges({
    attempt,
    runId: run.id,
    command,
    target,
    maxBatchRows,
    diff,
    maxKept: maxFailedRows - sumOf(refused),
    async onProgress(failed, taken) {
      progress.add({ name: activation.object }, { committed: taken });
      await moveRun(services.database.db, run.id, { failed: plus(refused, failed) });
    },
  });
}

type RunEnd = Pick<Parameters<typeof moveRun>[2], "status" | "error">;

/** Rows that failed are told of; a run of which nothing came through has failed. */
function outcomeOf(planned: RowCounts, failed: RowCounts, { dry_run }: RunRow): RunEnd {
  if (sumOf(failed) === 0) return { status: "succeeded" };
  if (dry_run || sumOf(failed) < sumOf(planned)) return { status: "warning" };
  return {
    status: "failed",
    error: { reason: "rows_failed", message: "No row of this run was taken: see its failed rows." },
  };
}

const contextOf = ({ services, secrets, signal }: JobAttempt): RunContext => ({
  services,
  db: services.database.db,
  now: new Date(services.clock.now()),
  secrets,
  signal,
});

async function isCancelRequested({ services, job }: JobAttempt): Promise<boolean> {
  const row = await services.database.db
    .selectFrom("jobs")
    .select("cancel_requested_at")
    .where("id", "=", job.id)
    .executeTakeFirst();
  return row?.cancel_requested_at != null;
}
