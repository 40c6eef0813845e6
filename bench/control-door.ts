/**
 * Measures each part of the door for a write, one request at a time, in microseconds, on
 * PostgreSQL: node --conditions=svc-source bench/control-door.ts
 */

import { createHandle, createId } from "../control/contract/ids.ts";
import { createControl } from "../control/create-control.ts";
import { appendAudit } from "../control/door/audit.ts";
import { createSession } from "../control/members/sessions.ts";
import { addMember, createUser, createWorkspace } from "../control/members/workspaces.ts";
import { silentLog } from "../control/services/log.ts";
import { createMemoryKeyring } from "../control/vault/keyring.ts";
import { findPostgres, startPostgres } from "../simulators/postgres-server.ts";
import { median } from "./run.ts";

const rounds = 400;

if (findPostgres() === undefined) throw new Error("No PostgreSQL server is installed.");
await using postgres = await startPostgres();
const { url } = await postgres.createDatabase();
const limits = { read: 1e9, write: 1e9, provider: 1e9, anonymous: 1e9 };
await using control = await createControl({
  database: { url },
  keyring: createMemoryKeyring(),
  log: silentLog,
  settings: { limits },
});
const { db } = control.services.database;
const now = new Date();
const workspaceId = await createWorkspace(db, { name: "Bench", slug: "bench" }, now);
const userId = await createUser(db, { email: "bench@example.com", name: "Bench" }, now);
await addMember(db, { workspaceId, userId, role: "admin" }, now);
const { token } = await createSession(db, { userId, client: "api" }, now);
const [credentialId, sourceId] = [createId("credential"), createId("source")];
const common = {
  workspace_id: workspaceId,
  connector_id: "conn_mailer_product_edm",
  status: "active",
  created_at: now,
  updated_at: now,
} as const;
await db
  .insertInto("credentials")
  .values({
    ...common,
    id: credentialId,
    handle: createHandle(),
    name: "c",
    auth_type: "api_key",
    metadata: "{}",
    base_url: null,
    secret_fields: "[]",
    fingerprint: "x",
    granted_scopes: "[]",
    expires_at: null,
    last_verified_at: null,
    last_error: null,
  })
  .execute();
const check = JSON.stringify({ status: "succeeded", checked_at: now.toISOString() });
await db
  .insertInto("sources")
  .values({
    ...common,
    id: sourceId,
    name: "s",
    credential_id: credentialId,
    configuration: "{}",
    last_check: check,
  })
  .execute();

const facts = { authorization: `Bearer ${token}`, client: undefined, ip: null, userAgent: null };
const caller = await control.authenticate(facts);
const operationOf = (id: string) => {
  const found = control.operations.find((operation) => operation.id === id);
  if (!found) throw new Error(`there is no operation ${id}`);
  return found;
};
const [get, update] = [operationOf("source.get"), operationOf("source.update")];
const { signal } = new AbortController();
const ask = async (operation: typeof get, idempotencyKey?: string) => {
  const request = {
    path: `/control/v1/sources/${sourceId}`,
    params: { source_id: sourceId },
    query: {},
    body: { value: operation === get ? {} : { name: "Renamed" } },
    headers: { idempotencyKey },
    signal,
  };
  const { status, body } = await control.execute(operation, request, caller);
  if (status !== 200) throw new Error(body);
};
const entry = {
  workspace_id: workspaceId,
  occurred_at: now,
  actor_type: "user",
  actor_id: userId,
  actor_display: "b",
  client: "api",
  action: "source.update",
  resource_type: "source",
  resource_id: sourceId,
  outcome: "success",
  summary: "s",
  approval_id: null,
  request_id: "r",
  ip: null,
  user_agent: null,
} as const;
const effect = (isAudited: boolean) =>
  db.transaction().execute(async (tx) => {
    await tx.selectFrom("sources").select("id").where("id", "=", sourceId).forUpdate().execute();
    await tx
      .updateTable("sources")
      .set({ name: "Renamed", updated_at: now })
      .where("id", "=", sourceId)
      .execute();
    await tx.selectFrom("sources").selectAll().where("id", "=", sourceId).execute();
    if (isAudited) await appendAudit(tx, entry);
  });

let key = 0;
const subjects: Readonly<Record<string, () => Promise<unknown>>> = {
  "the token": () => control.authenticate(facts),
  "a read of one row through the door": () => ask(get),
  "lock, update and read again, as SQL": () => effect(false),
  "the same with its audit entry": () => effect(true),
  "PATCH through the door": () => ask(update),
  "PATCH through the door with an Idempotency-Key": () => ask(update, String(key++)),
};
const times = new Map<string, number[]>(Object.keys(subjects).map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, work] of Object.entries(subjects)) {
    const startedMs = performance.now();
    await work();
    times.get(name)?.push((performance.now() - startedMs) * 1_000);
  }
}
for (const [name, all] of times)
  console.log(`${name.padEnd(50)} ${Math.round(median(all)).toString().padStart(6)} µs`);
