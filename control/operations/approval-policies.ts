/**
 * Approval policies: which kinds of change need a person's approval when an agent asks for them.
 */
import { Type } from "typebox";
import { ApprovalPolicy, findPolicy, listPolicies } from "../approvals/policies.ts";
import { defineRead, defineWrite } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { IdInput, List, listQuery, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { readCursor, toPage } from "../door/pages.ts";

const ofWorkspace = StrictObject(workspaceInput);
const categoryParams = StrictObject({ category: IdInput("The category.") });

export const listApprovalPolicies = defineRead({
  id: "approval_policy.list",
  area: "Approvals",
  path: "/approval-policies",
  summary: "List approval policies",
  permission: "read",
  query: StrictObject(listQuery),
  data: List(ApprovalPolicy),
  errors: ["invalid_cursor"],
  async run({ db, workspaceId, services }, { query: { limit = 50, cursor } }) {
    const filters = { list: "approval_policies", workspaceId };
    const policies = await listPolicies(db, workspaceId, services.operations);
    // They are no rows, and stand in one order always: their position is their category.
    const rows = policies.map((policy) => ({
      id: policy.category,
      created_at: new Date(0),
      policy,
    }));
    const after = readCursor(cursor, filters);
    const start = after ? rows.findIndex(({ id }) => id === after.id) + 1 : 0;
    if (after && start === 0) throw new ControlError("invalid_cursor");
    const page = toPage(rows.slice(start, start + limit + 1), limit, filters);
    return { ...page, items: page.items.map(({ policy }) => policy) };
  },
});

export const updateApprovalPolicy = defineWrite({
  id: "approval_policy.update",
  area: "Approvals",
  method: "PATCH",
  path: "/approval-policies/{category}",
  summary: "Change an approval policy",
  description: "Proposals that are pending stay as they are.",
  permission: "admin",
  status: 200,
  resource: "approval_policy",
  params: categoryParams,
  query: ofWorkspace,
  body: StrictObject(
    {
      ...workspaceInput,
      requires_approval: Type.Optional(Type.Boolean()),
      require_distinct_approver: Type.Optional(Type.Boolean()),
    },
    { minProperties: 1 },
  ),
  data: ApprovalPolicy,
  errors: [],
  async guard({ db, workspaceId, expectVersion }, { params }) {
    const { version } = await findPolicy(db, workspaceId, params.category);
    expectVersion(version);
  },
  async commit(tx, ctx, { params, body }) {
    const { workspaceId, services, caller, now } = ctx;
    // Made when it is first changed, so that there is a row to lock.
    const found = await findPolicy(tx, workspaceId, params.category);
    const { category } = found;
    const key = { workspace_id: workspaceId, category };
    await tx
      .insertInto("approval_policies")
      .values({
        ...key,
        requires_approval: found.requires_approval,
        require_distinct_approver: found.require_distinct_approver,
        updated_at: now,
        updated_by: caller.user.id,
        version: 0,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await tx
      .selectFrom("approval_policies")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("category", "=", category)
      .forUpdate()
      .executeTakeFirstOrThrow();
    ctx.expectVersion(row.version);
    await tx
      .updateTable("approval_policies")
      .set({
        requires_approval: body.requires_approval ?? row.requires_approval,
        require_distinct_approver: body.require_distinct_approver ?? row.require_distinct_approver,
        updated_at: now,
        updated_by: caller.user.id,
        version: row.version + 1,
      })
      .where("workspace_id", "=", workspaceId)
      .where("category", "=", category)
      .execute();
    const data = await findPolicy(tx, workspaceId, category, services.operations);
    return { data, resourceId: category };
  },
});

export const approvalPolicyOperations = [listApprovalPolicies, updateApprovalPolicy];
