/** Approvals: what was proposed, and what people have decided about it. */
import { type Static, Type } from "typebox";
import { announce, settle } from "../approvals/carry-out.ts";
import { closeApproval, expireDue } from "../approvals/close.ts";
import { advance, type Step } from "../approvals/resolve.ts";
import { type ApprovalRow, lockApproval, selectVisible, toApproval } from "../approvals/rows.ts";
import { Approval } from "../contract/approval.ts";
import {
  categories,
  defineRead,
  defineWrite,
  type OperationContext,
} from "../contract/operation.ts";
import { ControlError, type Reason, reasons } from "../contract/reasons.ts";
import {
  datedListQuery,
  IdInput,
  List,
  OneOf,
  StrictObject,
  Text,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { readPage } from "../door/pages.ts";
import { approvalStatuses, clients } from "../store/tables.ts";

const approvalParams = StrictObject({ approval_id: IdInput("The approval.") });
const ofWorkspace = StrictObject(workspaceInput);
const WithReason = StrictObject(
  { reason: Type.Optional(Text(2_000)) },
  { title: "ApprovalReason" },
);
const categoryNames = Object.keys(categories) as (keyof typeof categories)[];

/** Who approves is told whatever the proposed operation refuses, and that may be any of them. */
const refusals = (Object.keys(reasons) as Reason[]).filter((reason) =>
  [404, 409, 410, 412, 422, 424].includes(reasons[reason].status),
);

export const listApprovals = defineRead({
  id: "approval.list",
  area: "Approvals",
  path: "/approvals",
  summary: "List approvals",
  permission: "read",
  query: StrictObject({
    ...datedListQuery,
    status: Type.Optional(OneOf(approvalStatuses)),
    category: Type.Optional(OneOf(categoryNames)),
    operation: Type.Optional(
      Type.String({ maxLength: 100, description: "For instance source.delete." }),
    ),
    source: Type.Optional(OneOf(clients)),
    requested_by: Type.Optional(IdInput("The user who has proposed it.")),
    created_after: Type.Optional(Time),
    created_before: Type.Optional(Time),
  }),
  data: List(Approval),
  errors: ["invalid_cursor"],
  async run(ctx, { query }) {
    const { workspaceId, services } = ctx;
    await expireDue(services, workspaceId);
    const {
      limit = 50,
      cursor,
      sort,
      created_after,
      created_before,
      workspace_id: _,
      ...equal
    } = query;
    const filters = { list: "approvals", workspaceId, created_after, created_before, ...equal };
    let rows = selectVisible(ctx);
    for (const column of ["status", "category", "operation", "source", "requested_by"] as const) {
      const value = equal[column];
      if (value !== undefined) rows = rows.where(column, "=", value);
    }
    if (created_after !== undefined) rows = rows.where("created_at", ">", new Date(created_after));
    if (created_before !== undefined)
      rows = rows.where("created_at", "<", new Date(created_before));
    const page = await readPage(rows, { cursor, limit, filters, sort });
    return { ...page, items: page.items.map(toApproval) };
  },
});

export const getApproval = defineRead({
  id: "approval.get",
  area: "Approvals",
  path: "/approvals/{approval_id}",
  summary: "Get an approval",
  permission: "read",
  params: approvalParams,
  query: ofWorkspace,
  data: Approval,
  errors: [],
  run: async (ctx, { params }) => toApproval(await findNow(ctx, params.approval_id)),
});

export const approve = defineWrite({
  id: "approval.approve",
  area: "Approvals",
  method: "POST",
  path: "/approvals/{approval_id}/approve",
  summary: "Approve a proposal",
  description:
    "Carries it out, as it was proposed and once. An effect that is refused then is told in `error`, with status `failed`.",
  permission: "approve",
  status: 200,
  resource: "approval",
  mustFinish: true,
  isRepeatable: true,
  isForPeople: true,
  params: approvalParams,
  query: ofWorkspace,
  body: StrictObject({
    comment: Type.Optional(Text(2_000)),
    payload_digest: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "Of the payload that was read: another one is not approved.",
      }),
    ),
  }),
  data: Approval,
  errors: ["agent_cannot_approve", "distinct_approver_required", ...refusals],
  async guard(ctx, { params, body }) {
    const row = await findNow(ctx, params.approval_id);
    if (!["pending", "approved", "executing", "executed"].includes(row.status))
      throw notPending(row);
    if (body.payload_digest !== undefined && body.payload_digest !== row.payload_digest)
      throw new ControlError("payload_changed");
  },
  async prepare(ctx, { params, body }): Promise<Step> {
    const { workspaceId, caller, signal } = ctx;
    const which = { workspaceId, id: params.approval_id };
    const step = await advance(ctx, which, { by: caller, comment: body.comment }, signal);
    if ("ended" in step && !["executed", "failed"].includes(step.ended.status))
      throw notPending(step.ended);
    return step;
  },
  async commit(tx, _ctx, _input, step) {
    const row = "ended" in step ? step.ended : await settle(tx, step.execution);
    return toOutcome(row, "ended" in step);
  },
  async announce(_ctx, _input, data, step) {
    const row = "ended" in step ? undefined : await announce(step.execution, data.result);
    return row ? toApproval(row) : data;
  },
});

export const reject = defineWrite({
  id: "approval.reject",
  area: "Approvals",
  method: "POST",
  path: "/approvals/{approval_id}/reject",
  summary: "Reject a proposal",
  permission: "approve",
  status: 200,
  resource: "approval",
  isFree: true,
  params: approvalParams,
  query: ofWorkspace,
  body: WithReason,
  data: Approval,
  errors: ["approval_not_pending", "approval_expired"],
  guard: async (ctx, { params }) => requireOpen(await findNow(ctx, params.approval_id), "rejected"),
  commit: (tx, ctx, { params, body }) =>
    close(tx, ctx, params.approval_id, "rejected", body.reason),
});

export const cancelApproval = defineWrite({
  id: "approval.cancel",
  area: "Approvals",
  method: "POST",
  path: "/approvals/{approval_id}/cancel",
  summary: "Withdraw a proposal",
  description: "Only who has proposed it can.",
  permission: "read",
  status: 200,
  resource: "approval",
  isFree: true,
  params: approvalParams,
  query: ofWorkspace,
  body: WithReason,
  data: Approval,
  errors: ["approval_not_pending", "approval_expired"],
  async guard(ctx, { params }) {
    const row = await findNow(ctx, params.approval_id);
    if (row.requested_by !== ctx.caller.user.id) throw new ControlError("permission_denied");
    requireOpen(row, "cancelled");
  },
  commit: (tx, ctx, { params, body }) =>
    close(tx, ctx, params.approval_id, "cancelled", body.reason),
});

/** The approval as it is now: its time may just have ended. */
async function findNow(ctx: OperationContext, id: string): Promise<ApprovalRow> {
  await expireDue(ctx.services, ctx.workspaceId);
  const row = await selectVisible(ctx).where("id", "=", id).executeTakeFirst();
  if (!row) throw new ControlError("not_found");
  return row;
}

/** @throws approval_not_pending, approval_expired */
function requireOpen(row: ApprovalRow, wanted: "rejected" | "cancelled"): void {
  if (row.status !== "pending" && row.status !== wanted) throw notPending(row);
}

const notPending = ({ status }: ApprovalRow) =>
  status === "expired"
    ? new ControlError("approval_expired")
    : new ControlError("approval_not_pending", { status });

async function close(
  tx: Parameters<typeof closeApproval>[0],
  { services, workspaceId, caller, now }: OperationContext,
  id: string,
  status: "rejected" | "cancelled",
  reason: string | undefined,
) {
  const row = await lockApproval(tx, workspaceId, id);
  requireOpen(row, status);
  if (row.status === status) return toOutcome(row, true);
  return toOutcome(
    await closeApproval(tx, services, row, { status, decidedBy: caller.user.id, reason }, now),
    false,
  );
}

function toOutcome(row: ApprovalRow, wasResolved: boolean) {
  const data: Static<typeof Approval> = {
    ...toApproval(row),
    ...(wasResolved ? { already_resolved: true } : {}),
  };
  return { data, resourceId: row.id, approvalId: row.id };
}

export const approvalOperations = [listApprovals, getApproval, approve, reject, cancelApproval];
