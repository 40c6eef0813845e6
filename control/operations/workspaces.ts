/**
 * Workspaces: where everything else belongs. The administrators of the first one make and delete
 * others (docs/decisions/0025).
 */
import { type Static, Type } from "typebox";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  Id,
  IdInput,
  List,
  Name,
  namedListQuery,
  OneOf,
  StrictObject,
  Time,
  Version,
} from "../contract/schemas.ts";
import { appendAudit, toEntry } from "../door/audit.ts";
import { lowerRole, selectMemberships } from "../door/memberships.ts";
import { readPage } from "../door/pages.ts";
import { lockMembers } from "../members/rows.ts";
import { revokeSessionsOf } from "../members/sessions.ts";
import { requireEmpty } from "../members/workspace-contents.ts";
import { addMember, createWorkspace, freeSlug, lockWorkspaces } from "../members/workspaces.ts";
import type { Db } from "../store/database.ts";
import { roles } from "../store/tables.ts";

const Workspace = StrictObject(
  {
    workspace_id: Id("workspace"),
    name: Type.String(),
    slug: Type.String({ description: "Its name in addresses and commands. It stays as it is." }),
    role: OneOf(roles, { description: "The lower of the membership's role and the token's." }),
    created_at: Time,
    member_count: Type.Integer(),
    version: Version,
  },
  { title: "Workspace" },
);

const WorkspaceName = StrictObject({ name: Name }, { title: "WorkspaceName" });
const workspaceParams = StrictObject({ workspace_id: IdInput("The workspace.") });

type Asking = Pick<OperationContext, "caller">;

/** The caller's workspaces, with their role in each and how many belong to it. */
const selectWorkspaces = (db: Db, { caller }: Asking) =>
  selectMemberships(db, caller)
    .innerJoin("workspaces", "workspaces.id", "memberships.workspace_id")
    .selectAll("workspaces")
    .select("memberships.role as member_role")
    .select((eb) =>
      eb
        .selectFrom("memberships as all")
        .select(eb.fn.countAll<string>().as("count"))
        .whereRef("all.workspace_id", "=", "workspaces.id")
        .where("all.status", "=", "active")
        .as("member_count"),
    )
    .where("workspaces.deleted_at", "is", null);

type WorkspaceRow = Awaited<
  ReturnType<ReturnType<typeof selectWorkspaces>["executeTakeFirstOrThrow"]>
>;

const toWorkspace = (
  { caller: { session } }: Asking,
  row: WorkspaceRow,
): Static<typeof Workspace> => ({
  workspace_id: row.id,
  name: row.name,
  slug: row.slug,
  role: session.role ? lowerRole(row.member_role, session.role) : row.member_role,
  created_at: row.created_at.toISOString(),
  member_count: Number(row.member_count),
  version: row.version,
});

/** @throws not_found */
async function findWorkspaceOf(db: Db, asking: Asking, id: string) {
  const row = await selectWorkspaces(db, asking).where("workspaces.id", "=", id).executeTakeFirst();
  if (!row) throw new ControlError("not_found", { resource: "workspace" });
  return row;
}

const { limit, cursor, search, sort } = namedListQuery;

export const listWorkspaces = defineRead({
  id: "workspace.list",
  area: "Workspaces",
  path: "/workspaces",
  summary: "List the workspaces of the current user",
  permission: "read",
  workspace: "none",
  query: StrictObject({
    limit,
    cursor,
    search,
    sort,
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: "The name of search before." }),
    ),
  }),
  data: List(Workspace),
  errors: ["invalid_cursor"],
  async run(
    ctx,
    { query: { limit: size = 50, cursor: position, name, search: part = name, sort: order } },
  ) {
    const filters = { list: "workspaces", userId: ctx.caller.user.id };
    const request = { cursor: position, limit: size, filters, search: part, sort: order };
    const page = await readPage(selectWorkspaces(ctx.db, ctx), request, "workspaces");
    return { ...page, items: page.items.map((row) => toWorkspace(ctx, row)) };
  },
});

export const getWorkspace = defineRead({
  id: "workspace.get",
  area: "Workspaces",
  path: "/workspaces/{workspace_id}",
  summary: "Get a workspace",
  permission: "read",
  params: workspaceParams,
  data: Workspace,
  errors: ["not_found"],
  run: async (ctx) => toWorkspace(ctx, await findWorkspaceOf(ctx.db, ctx, ctx.workspaceId)),
});

export const createWorkspaceByApi = defineWrite({
  id: "workspace.create",
  area: "Workspaces",
  method: "POST",
  path: "/workspaces",
  summary: "Create a workspace",
  description:
    "For administrators of the instance: those of its first workspace. Who asks is its administrator.",
  permission: "admin",
  workspace: "instance",
  status: 201,
  resource: "workspace",
  body: WorkspaceName,
  data: Workspace,
  errors: [],
  async commit(tx, { caller, now }, { body: { name } }) {
    await lockWorkspaces(tx);
    const slug = await freeSlug(tx, name);
    const id = await createWorkspace(tx, { name, slug }, now);
    await addMember(tx, { workspaceId: id, userId: caller.user.id, role: "admin" }, now);
    // Of a token that is for another workspace too, this once.
    const asking = { caller: { ...caller, session: { ...caller.session, workspaceId: id } } };
    return {
      data: toWorkspace(asking, await findWorkspaceOf(tx, asking, id)),
      resourceId: id,
      location: `/workspaces/${id}`,
      workspaceIds: [id],
    };
  },
});

export const updateWorkspace = defineWrite({
  id: "workspace.update",
  area: "Workspaces",
  method: "PATCH",
  path: "/workspaces/{workspace_id}",
  summary: "Rename a workspace",
  description: "Its slug stays.",
  permission: "admin",
  status: 200,
  resource: "workspace",
  isRepeatable: true,
  params: workspaceParams,
  body: WorkspaceName,
  data: Workspace,
  errors: ["not_found", "version_mismatch"],
  async guard(ctx) {
    ctx.expectVersion((await findWorkspaceOf(ctx.db, ctx, ctx.workspaceId)).version);
  },
  async commit(tx, ctx, { body: { name } }) {
    const { workspaceId: id } = ctx;
    await lockMembers(tx, id);
    const { version } = await findWorkspaceOf(tx, ctx, id);
    ctx.expectVersion(version);
    await tx
      .updateTable("workspaces")
      .set({ name, version: version + 1 })
      .where("id", "=", id)
      .execute();
    return { data: toWorkspace(ctx, await findWorkspaceOf(tx, ctx, id)), resourceId: id };
  },
});

export const deleteWorkspace = defineWrite({
  id: "workspace.delete",
  area: "Workspaces",
  method: "DELETE",
  path: "/workspaces/{workspace_id}",
  summary: "Delete a workspace",
  description:
    "For administrators of the instance who administer this workspace too, and only once nothing is in it and nobody else belongs to it. Its audit log stays. The first workspace cannot be deleted.",
  permission: "admin",
  workspace: "instance",
  status: 200,
  resource: "workspace",
  isRepeatable: true,
  params: workspaceParams,
  data: StrictObject({
    workspace_id: Id("workspace"),
    deleted: Type.Literal(true),
    deleted_at: Time,
  }),
  errors: [
    "not_found",
    "workspace_not_empty",
    "workspace_administers_instance",
    "version_mismatch",
  ],
  async guard(ctx, { params }) {
    await requireDeletable(ctx.db, ctx, params.workspace_id);
  },
  async commit(tx, ctx, { params: { workspace_id: id } }) {
    const { caller, requestId, now } = ctx;
    await tx.selectFrom("workspaces").select("id").where("id", "=", id).forUpdate().execute();
    await requireDeletable(tx, ctx, id);
    await tx.deleteFrom("memberships").where("workspace_id", "=", id).execute();
    await revokeSessionsOf(tx, { userId: caller.user.id, workspaceId: id }, now);
    // The last entry of its own log: none is added to that of a workspace that was deleted.
    const entry = {
      outcome: "success",
      resource_id: id,
      summary: deleteWorkspace.summary,
    } as const;
    await appendAudit(
      tx,
      toEntry(deleteWorkspace, { caller, workspaceId: id, requestId, now }, entry),
    );
    await tx.updateTable("workspaces").set({ deleted_at: now }).where("id", "=", id).execute();
    return {
      data: { workspace_id: id, deleted: true as const, deleted_at: now.toISOString() },
      resourceId: id,
    };
  },
});

/**
 * @throws not_found, permission_denied, version_mismatch, workspace_administers_instance,
 * workspace_not_empty
 */
async function requireDeletable(db: Db, ctx: OperationContext, id: string): Promise<void> {
  const { user, session } = ctx.caller;
  const row = await db
    .selectFrom("workspaces")
    .innerJoin("memberships", "memberships.workspace_id", "workspaces.id")
    .select(["workspaces.version", "workspaces.administers_instance", "memberships.role"])
    .where("workspaces.id", "=", id)
    .where("workspaces.deleted_at", "is", null)
    .where("memberships.user_id", "=", user.id)
    .where("memberships.status", "=", "active")
    .executeTakeFirst();
  const isInReach = session.workspaceId === null || session.workspaceId === id;
  if (!row || !isInReach) throw new ControlError("not_found", { resource: "workspace" });
  if (row.role !== "admin") throw new ControlError("permission_denied");
  ctx.expectVersion(row.version);
  if (row.administers_instance) throw new ControlError("workspace_administers_instance");
  await requireEmpty(db, { workspaceId: id, userId: user.id, now: ctx.now });
}

export const workspaceOperations = [
  listWorkspaces,
  getWorkspace,
  createWorkspaceByApi,
  updateWorkspace,
  deleteWorkspace,
];
