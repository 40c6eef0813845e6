/** Looking at all workspaces of an instance. Only its operator asks for these. */
import { Type } from "typebox";
import { verifyAudit } from "../audit/verify.ts";
import { defineOperatorRead } from "../contract/operation.ts";
import { Nullable, OneOf, StrictObject } from "../contract/schemas.ts";
import { Job, toJob } from "../jobs/schemas.ts";
import { findWorkspace } from "../members/workspaces.ts";
import type { Db } from "../store/database.ts";
import { jobStatuses } from "../store/tables.ts";

/** Jobs that one list holds. */
const maxListed = 200;

const workspace = Type.Optional(
  Type.String({ description: "Id or slug; without one, every workspace." }),
);

export const InstanceJobs = StrictObject({ jobs: Type.Array(Job) });

export const listInstanceJobs = defineOperatorRead({
  id: "job.list",
  area: "Jobs",
  summary: "List the jobs of all workspaces",
  description: `The newest first, at most ${maxListed}.`,
  query: StrictObject({ workspace, status: Type.Optional(OneOf(jobStatuses)) }),
  data: InstanceJobs,
  errors: ["not_found"],
  async run({ db }, { query }) {
    let rows = db.selectFrom("jobs").selectAll();
    if (query.workspace !== undefined)
      rows = rows.where("workspace_id", "=", (await findWorkspace(db, query.workspace)).id);
    if (query.status !== undefined) rows = rows.where("status", "=", query.status);
    const found = await rows
      .orderBy("created_at", "desc")
      .orderBy("id", "desc")
      .limit(maxListed)
      .execute();
    return { jobs: found.map(toJob) };
  },
});

const Index = Type.Integer({ minimum: 0 });

export const AuditReport = StrictObject({
  intact: Type.Array(
    StrictObject({ workspaceId: Type.String(), index: Index, hash: Type.String() }),
  ),
  faults: Type.Array(
    StrictObject({
      workspaceId: Type.String(),
      index: Type.Integer(),
      kind: OneOf(["missing", "changed", "added", "pruned"]),
      entryId: Nullable(Type.String()),
    }),
  ),
});

export const verifyAuditLog = defineOperatorRead({
  id: "audit_log.verify",
  area: "Audit",
  summary: "Verify the audit log",
  description: "Compares the log with the hashes that were kept of it.",
  query: StrictObject({
    workspace,
    noted: Type.Optional(
      StrictObject(
        { index: Index, hash: Type.String() },
        { description: "An end of that workspace's chain, as it was seen before." },
      ),
    ),
  }),
  data: AuditReport,
  errors: ["not_found"],
  async run({ db }, { query }) {
    const id = query.workspace && (await findLog(db, query.workspace));
    const { intact, faults } = await verifyAudit(db, id, query.noted);
    return { intact: [...intact], faults: [...faults] };
  },
});

/** The log of a workspace that was deleted is still there, under its id. */
async function findLog(db: Db, workspace: string): Promise<string> {
  const head = await db
    .selectFrom("audit_heads")
    .select("workspace_id")
    .where("workspace_id", "=", workspace)
    .executeTakeFirst();
  return head?.workspace_id ?? (await findWorkspace(db, workspace)).id;
}

export const instanceOperations = [listInstanceJobs, verifyAuditLog];
