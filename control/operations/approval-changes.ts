/** The changes that a proposal would make, for who decides about it. */
import { Type } from "typebox";
import { changesOf, type ProposedChanges } from "../approvals/changes.ts";
import { expireDue } from "../approvals/close.ts";
import { findProposable } from "../approvals/revalidate.ts";
import { selectVisible } from "../approvals/rows.ts";
import { defineRead } from "../contract/operation.ts";
import { notFound } from "../contract/reasons.ts";
import { Id, IdInput, Nullable, OneOf, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { approvalStatuses } from "../store/tables.ts";

const Change = StrictObject(
  {
    path: Type.Array(Type.String(), { description: "Where: names from the outside in." }),
    change: OneOf(["add", "change", "remove"]),
    before: Type.Unknown({ description: "As it is now; null: nothing, or a secret." }),
    after: Type.Unknown({ description: "As it would be; null: nothing, or a secret." }),
    is_secret: Type.Boolean({ description: "Neither value is ever shown." }),
  },
  { title: "ProposedChange" },
);

export const getApprovalChanges = defineRead({
  id: "approval.changes",
  area: "Approvals",
  path: "/approvals/{approval_id}/changes",
  summary: "Get what a proposal would change",
  description:
    "Field by field, beside how it is now, or, of one that was carried out, beside how it was then: what does not differ is left out. Of what begins something (`run`), the fields are what it is begun with. A stale proposal cannot be carried out any more.",
  permission: "read",
  params: StrictObject({ approval_id: IdInput("The approval.") }),
  query: StrictObject(workspaceInput),
  data: StrictObject(
    {
      approval_id: Id("approval"),
      status: OneOf(approvalStatuses),
      kind: OneOf(["create", "update", "delete", "run"]),
      changes: Type.Array(Change),
      is_stale: Type.Boolean(),
      problem: Nullable(
        Type.String({ description: "Why it is stale, and what to do; null: it is not." }),
      ),
      proposed_version: Nullable(Type.Integer()),
      current_version: Nullable(Type.Integer()),
    },
    { title: "ProposedChanges" },
  ),
  errors: ["validation_failed"],
  async run(ctx, { params }) {
    await expireDue(ctx.services, ctx.workspaceId);
    const row = await selectVisible(ctx).where("id", "=", params.approval_id).executeTakeFirst();
    if (!row) throw notFound("approval", params.approval_id);
    const { kind, changes, stale, current_version } =
      (row.changes as unknown as ProposedChanges | null) ??
      (await changesOf(ctx, findProposable(ctx.services, row), row));
    return {
      approval_id: row.id,
      status: row.status,
      kind,
      changes: changes.map((one) => ({ ...one, path: [...one.path] })),
      is_stale: stale.is_stale,
      problem: stale.is_stale ? stale.problem : null,
      proposed_version: row.resource_version,
      current_version,
    };
  },
});

export const approvalChangeOperations = [getApprovalChanges];
