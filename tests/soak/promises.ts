/** The invariants after a soak, and while it lasts. Each check throws with what it has found. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createSecretRegistry, type JsonValue } from "svc-connectors/host";
import { verifyAudit } from "../../control/audit/verify.ts";
import { verifyArchive } from "../../control/audit/verify-archive.ts";
import { openDestination, targetOf } from "../../control/destinations/open.ts";
import type { Services } from "../../control/services/services.ts";
import { createScanner } from "../../runtime/filter/scanner.ts";
import { secretViews } from "../../runtime/filter/secret-views.ts";
import { databaseText } from "../database-text.ts";
import type { Pipeline } from "./people.ts";

export class PromiseBroken extends Error {}

const equal = (what: string, found: readonly string[], wanted: readonly string[]) => {
  const missing = wanted.filter((one) => !found.includes(one));
  const strange = found.filter((one) => !wanted.includes(one));
  if (missing.length + strange.length > 0 || found.length !== wanted.length)
    throw new PromiseBroken(
      `${what}: ${missing.length} missing (${missing.slice(0, 3)}), ${strange.length} strange (${strange.slice(0, 3)}), ${found.length} instead of ${wanted.length}`,
    );
};

/** No row is lost, and none is doubled: the tables of a pipeline that was just synced. */
export async function checkRows(services: Services, pipeline: Pipeline): Promise<void> {
  const { account, prefix, destinationId, into, deletes, attemptCount } = pipeline;
  if (!account) return;
  const table = (name: string) => `_svc_${prefix}${name}`;
  const query = async (sql: string) =>
    (await rowsOf(services, destinationId, sql)).map((row) => row.join(" "));
  const textOf = ({ uuid, name }: object & { uuid?: unknown; name?: unknown }) => `${uuid} ${name}`;
  const lists = account.truth.email_lists().map(textOf);
  equal(`${prefix}lists`, await query(`SELECT uuid, name FROM ${table("email_lists")}`), lists);
  const wanted = account.truth.campaigns("sent").map(textOf);
  const isThere = deletes === "soft" ? "WHERE _svc_deleted_at IS NULL" : "";
  const found = await query(`SELECT uuid, name FROM ${table("campaigns")} ${isThere}`);
  const what = `${prefix}campaigns`;
  if (into === "append_dedup" && deletes !== "none") return equal(what, found, wanted);
  const uuids = found.map((row) => row.slice(0, 36));
  const repeated = uuids.length - new Set(uuids).size;
  if (repeated > (into === "append" ? attemptCount : 0))
    throw new PromiseBroken(`${what}: ${repeated} rows are doubled`);
  // Names of rows that were read before stay when rows are only added.
  const seen = new Set(into === "append" ? uuids : found);
  const missing = wanted.filter((row) => !seen.has(into === "append" ? row.slice(0, 36) : row));
  if (missing.length > 0)
    throw new PromiseBroken(`${what}: ${missing.length} rows are lost (${missing.slice(0, 3)})`);
}

async function rowsOf(
  services: Services,
  destinationId: string,
  sql: string,
): Promise<readonly (readonly JsonValue[])[]> {
  const { db } = services.database;
  const row = await db
    .selectFrom("destinations")
    .selectAll()
    .where("id", "=", destinationId)
    .executeTakeFirstOrThrow();
  const ctx = {
    services,
    db,
    now: new Date(services.clock.now()),
    secrets: createSecretRegistry(),
    signal: new AbortController().signal,
  };
  const target = await targetOf(ctx, { ...row, handle: null });
  const { config, options } = await openDestination(ctx, target, "query");
  const command = { sql, maxRows: 1_000_000, timeoutMs: 30_000 };
  const { reference } = target.definition;
  await using open = await services.destinations.query(reference, config, command, options);
  const rows: (readonly JsonValue[])[] = [];
  for await (const page of open.result.pages) rows.push(...page);
  return rows;
}

const over = ["succeeded", "failed", "cancelled"];

/** Jobs that were seen, by id, with their last status. */
export type SeenJobs = Map<string, string>;

/** No job is forgotten: one that is gone was over before, and none is left that nobody will run. */
export async function checkJobs({ database: { db } }: Services, seen: SeenJobs): Promise<void> {
  const rows = await db.selectFrom("jobs").select(["id", "status"]).execute();
  const now = new Map(rows.map(({ id, status }) => [id, status]));
  for (const [id, status] of seen) {
    const found = now.get(id);
    if (found === undefined && !over.includes(status))
      throw new PromiseBroken(`job ${id} is gone, and was ${status} when it was seen last`);
    if (found !== undefined && over.includes(status) && found !== status)
      throw new PromiseBroken(`job ${id} was ${status}, and is ${found}`);
    if (found === undefined) seen.delete(id);
  }
  for (const [id, status] of now) seen.set(id, status);
}

/** Each pipeline whose time had come has a job now, or had one under way. */
export async function checkSchedules({ database: { db } }: Services, dueBy: Date): Promise<void> {
  const late = await db
    .selectFrom("pipelines")
    .select("id")
    .where("status", "=", "active")
    .where("next_run_at", "<=", dueBy)
    .execute();
  if (late.length > 0) throw new PromiseBroken(`${late.length} pipelines were passed over`);
}

/** Nothing waits any more: jobs, events, deliveries, approvals that were decided. */
export async function checkQuiet({ database: { db } }: Services): Promise<void> {
  const count = async (
    table: "jobs" | "event_facts" | "event_deliveries" | "approvals",
    open: readonly string[],
  ) => {
    const { count } = await db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<string>().as("count"))
      .$if(open.length > 0, (rows) => rows.where("status" as never, "in", open as never))
      .executeTakeFirstOrThrow();
    if (Number(count) > 0) throw new PromiseBroken(`${count} ${table} are left open`);
  };
  await count("jobs", ["pending", "queued", "running", "incomplete"]);
  await count("event_facts", []);
  await count("event_deliveries", ["pending"]);
  await count("approvals", ["approved", "executing"]);
}

/** The audit log is as it was written, in the database and in the files that it went to. */
export async function checkAudit({ database: { db }, settings }: Services): Promise<void> {
  const log = await verifyAudit(db);
  const archive = await verifyArchive(settings.auditArchive ?? "");
  const faults = [...log.faults, ...archive.faults];
  if (faults.length > 0) throw new PromiseBroken(`the audit log: ${JSON.stringify(faults)}`);
  for (const { workspaceId, end } of archive.intact) {
    const { first } = await db
      .selectFrom("audit_logs")
      .select(({ fn }) => fn.min<number>("index").as("first"))
      .where("workspace_id", "=", workspaceId)
      .executeTakeFirstOrThrow();
    if (Number(first) !== end.index + 1)
      throw new PromiseBroken(`the archive ends at ${end.index}, the log begins at ${first}`);
  }
}

/** A search for secrets, in every encoding, in texts and in all that is below a folder. */
export function createSearch(secrets: readonly string[]) {
  const scanner = createScanner(secrets.flatMap((secret) => secretViews(secret)));
  const search = (where: string, bytes: Uint8Array) => {
    if (scanner.find(bytes).length > 0) throw new PromiseBroken(`a secret is in ${where}`);
  };
  return {
    text: (where: string, text: string) => search(where, Buffer.from(text)),
    async database({ database: { db } }: Services) {
      search("the database", Buffer.from(await databaseText(db)));
    },
    async files(folder: string) {
      for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
        if (entry.isFile()) {
          const path = join(entry.parentPath, entry.name);
          search(path.slice(folder.length), await readFile(path));
        }
    },
  };
}
