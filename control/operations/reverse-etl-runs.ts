/** Runs of activations: started, watched, cancelled. */
import { type Static, Type } from "typebox";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  datedListQuery,
  Id,
  IdInput,
  List,
  listQuery,
  OneOf,
  StrictObject,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { requestCancel } from "../jobs/cancel.ts";
import { type ActivationRow, findActivation, findRun, lockRow } from "../reverse-etl/rows.ts";
import { isFinalRun } from "../reverse-etl/run-row.ts";
import { failedRows } from "../reverse-etl/run-rows.ts";
import { FailedRow, Run, toRun } from "../reverse-etl/schemas.ts";
import { requireNoRun, startRun } from "../reverse-etl/start.ts";
import { runStatuses } from "../store/tables.ts";

const activationParams = StrictObject({ activationId: IdInput("The activation.") });
const runParams = StrictObject({ runId: IdInput("The run.") });
const ofWorkspace = StrictObject(workspaceInput);

const RunActivation = StrictObject({
  ...workspaceInput,
  fullResync: Type.Optional(
    Type.Boolean({ description: "Sends every row again, confirmed or not. Default false." }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: "Compares, and sends nothing. Default false." }),
  ),
});

/** @throws activation_not_active */
function requireActive({ status }: ActivationRow): void {
  if (status !== "active") throw new ControlError("activation_not_active", { status });
}

/** Who has asked, as runs and jobs name it. */
const triggerOf = ({ caller }: OperationContext) => (caller.client === "api" ? "api" : "manual");

export const runActivationNow = defineWrite({
  id: "reverse_etl_activation.run",
  area: "Reverse ETL",
  method: "POST",
  path: "/reverse-etl/activations/{activationId}/run",
  summary: "Run a reverse ETL activation",
  description: "Sends what has changed since it was last confirmed. One run at a time.",
  permission: "run",
  status: 202,
  resource: "reverse_etl_activation",
  category: "reverse_etl_run",
  isRepeatable: true,
  params: activationParams,
  body: RunActivation,
  data: StrictObject({
    runId: Id("run"),
    activationId: Id("activation"),
    status: OneOf(["queued"]),
  }),
  errors: [
    "not_found",
    "duplicate_field",
    "run_in_progress",
    "activation_not_active",
    "connector_disabled",
  ],
  async guard(ctx, { params }) {
    const activation = await findActivation(ctx.db, ctx.workspaceId, params.activationId);
    requireActive(activation);
    await requireNoRun(ctx.db, activation.id);
  },
  async commit(tx, ctx, { params: { activationId }, body }) {
    // Others that ask at the same time wait here, and then see this run.
    await lockRow(tx, "reverse_etl_activations", ctx.workspaceId, activationId);
    const activation = await findActivation(tx, ctx.workspaceId, activationId);
    requireActive(activation);
    const runId = await startRun(tx, activation, triggerOf(ctx), body, ctx.now);
    const data = { runId, activationId, status: "queued" as const };
    return { data, resourceId: activationId, location: `/reverse-etl/runs/${runId}` };
  },
  async announce({ services }, _, data) {
    services.jobs.wake();
    return data;
  },
});

export const listRuns = defineRead({
  id: "reverse_etl_run.list",
  area: "Reverse ETL",
  path: "/reverse-etl/runs",
  summary: "List reverse ETL runs",
  permission: "read",
  query: StrictObject({
    ...datedListQuery,
    activationId: Type.Optional(IdInput("Only runs of this activation.")),
  }),
  data: List(Run),
  errors: ["invalid_cursor"],
  async run({ db, workspaceId }, { query: { limit = 50, cursor, sort, activationId } }) {
    const filters = { list: "reverse_etl_runs", workspaceId, activationId };
    let rows = db
      .selectFrom("reverse_etl_runs")
      .selectAll()
      .where("workspace_id", "=", workspaceId);
    if (activationId !== undefined)
      rows = rows.where("reverse_etl_runs.activation_id", "=", activationId);
    const page = await readPage(rows, { cursor, limit, filters, sort }, "reverse_etl_runs");
    return { ...page, items: page.items.map(toRun) };
  },
});

export const getRun = defineRead({
  id: "reverse_etl_run.get",
  area: "Reverse ETL",
  path: "/reverse-etl/runs/{runId}",
  summary: "Get a reverse ETL run",
  permission: "read",
  params: runParams,
  query: ofWorkspace,
  data: Run,
  errors: ["not_found"],
  run: async ({ db, workspaceId }, { params }): Promise<Static<typeof Run>> =>
    toRun(await findRun(db, workspaceId, params.runId)),
});

export const listFailedRows = defineRead({
  id: "reverse_etl_run.failed_rows",
  area: "Reverse ETL",
  path: "/reverse-etl/runs/{runId}/failed-rows",
  summary: "List the failed rows of a reverse ETL run",
  description: "The next run tries them again. Of the first 10,000 the reasons are kept.",
  permission: "read",
  params: runParams,
  query: StrictObject(listQuery),
  data: List(FailedRow),
  errors: ["not_found", "invalid_cursor"],
  async run({ db, workspaceId }, { params, query: { limit = 50, cursor } }) {
    const run = await findRun(db, workspaceId, params.runId);
    return (await failedRows(db, run.id, limit, cursor)) as Static<
      ReturnType<typeof List<typeof FailedRow>>
    >;
  },
});

export const cancelRun = defineWrite({
  id: "reverse_etl_run.cancel",
  area: "Reverse ETL",
  method: "POST",
  path: "/reverse-etl/runs/{runId}/cancel",
  summary: "Cancel a reverse ETL run",
  description:
    "What the destination has taken stays. Asking again is as good as once; a run that has ended stays as it is.",
  permission: "run",
  status: 202,
  resource: "reverse_etl_run",
  category: "reverse_etl_run",
  isRepeatable: true,
  params: runParams,
  body: StrictObject(workspaceInput),
  data: StrictObject({ runId: Id("run"), status: OneOf(runStatuses) }),
  errors: ["not_found"],
  async guard({ db, workspaceId }, { params }) {
    await findRun(db, workspaceId, params.runId);
  },
  async commit(tx, { workspaceId, now }, { params: { runId } }) {
    const run = await findRun(tx, workspaceId, runId);
    if (run.job_id !== null && !isFinalRun(run.status))
      await requestCancel(tx, { id: run.job_id }, now);
    const { status } = toRun(await findRun(tx, workspaceId, runId));
    return { data: { runId, status }, resourceId: runId };
  },
});

export const reverseEtlRunOperations = [
  runActivationNow,
  listRuns,
  getRun,
  listFailedRows,
  cancelRun,
];
