import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createId } from "../contract/ids.ts";
import { type AuditEntry, appendAudit, hashEntry } from "../door/audit.ts";
import { type Database, openDatabase } from "../store/database.ts";
import { verifyAudit } from "./verify.ts";

describe("the chain of the audit log", () => {
  let database: Database;
  let workspaceId: string;

  beforeAll(async () => {
    database = await openDatabase({});
  });
  afterAll(() => database?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    workspaceId = createId("workspace");
    for (let at = 1; at <= 5; at += 1) await append({ resource_id: `src_${at}` });
  });

  const append = (changes: Partial<AuditEntry> = {}) =>
    database.db.transaction().execute((tx) =>
      appendAudit(tx, {
        workspace_id: workspaceId,
        occurred_at: new Date(1_700_000_000_123),
        actor_type: "user",
        actor_id: "usr_1",
        actor_display: "a@example.com",
        client: "api",
        action: "source.create",
        resource_type: "source",
        resource_id: null,
        outcome: "success",
        summary: "Create a source",
        approval_id: null,
        request_id: randomUUID(),
        ip: "127.0.0.1",
        user_agent: null,
        ...changes,
      }),
    );
  /** Changes entries as somebody can who has the database, without the trigger. */
  const tamper = async (...statements: readonly string[]) => {
    const all = [
      "ALTER TABLE audit_logs DISABLE TRIGGER ALL",
      ...statements,
      "ALTER TABLE audit_logs ENABLE TRIGGER ALL",
    ];
    for (const statement of all)
      await sql
        .raw(statement.replaceAll("$ws", `workspace_id = '${workspaceId}'`))
        .execute(database.db);
  };
  const faults = async () =>
    (await verifyAudit(database.db, workspaceId)).faults.map(
      ({ index, kind }) => `${index} ${kind}`,
    );

  test("is as it was written", async () => {
    expect(await verifyAudit(database.db, workspaceId)).toMatchObject({
      faults: [],
      intact: [{ workspaceId, index: 5 }],
    });
  });

  test("cannot be changed by the service itself", async () => {
    const { db } = database;
    const change = db
      .updateTable("audit_logs")
      .set({ summary: "x" })
      .where("workspace_id", "=", workspaceId);
    await expect(change.execute()).rejects.toThrow(/append-only/);
    await expect(db.deleteFrom("audit_logs").execute()).rejects.toThrow(/append-only/);
    await expect(sql`TRUNCATE audit_logs`.execute(db)).rejects.toThrow(/append-only/);
  });

  for (const column of [
    "id",
    "occurred_at",
    "actor_type",
    "actor_id",
    "actor_display",
    "client",
    "action",
    "resource_type",
    "resource_id",
    "outcome",
    "summary",
    "approval_id",
    "request_id",
    "ip",
    "user_agent",
  ]) {
    test(`shows that ${column} was changed`, async () => {
      const value =
        column === "occurred_at"
          ? "occurred_at + interval '1 millisecond'"
          : `coalesce(${column}, '') || 'x'`;
      await tamper(`UPDATE audit_logs SET ${column} = ${value} WHERE $ws AND "index" = 3`);
      expect(await faults()).toEqual(["3 changed"]);
    });
  }

  test("shows that an entry was removed", async () => {
    await tamper(`DELETE FROM audit_logs WHERE $ws AND "index" = 2`);
    expect(await faults()).toEqual(["2 missing"]);
  });

  test("shows that an entry was removed and the others moved up", async () => {
    await tamper(
      `DELETE FROM audit_logs WHERE $ws AND "index" = 2`,
      `UPDATE audit_logs SET "index" = -"index" WHERE $ws AND "index" > 2`,
      `UPDATE audit_logs SET "index" = -"index" - 1 WHERE $ws AND "index" < 0`,
    );
    expect(await faults()).toEqual(["2 changed"]);
  });

  test("shows that two entries were swapped", async () => {
    await tamper(
      `UPDATE audit_logs SET "index" = -"index" WHERE $ws AND "index" IN (2, 3)`,
      `UPDATE audit_logs SET "index" = 5 + "index" WHERE $ws AND "index" < 0`,
    );
    expect(await faults()).toEqual(["2 changed"]);
  });

  test("shows that the end was cut off, or all of it", async () => {
    await tamper(`DELETE FROM audit_logs WHERE $ws AND "index" > 3`);
    expect(await faults()).toEqual(["4 missing"]);
    await tamper("DELETE FROM audit_logs WHERE $ws");
    expect(await faults()).toEqual(["1 missing"]);
  });

  test("shows that an entry was put in, also one that fits", async () => {
    const { db } = database;
    const last = await db
      .selectFrom("audit_logs")
      .selectAll()
      .where("workspace_id", "=", workspaceId)
      .where("index", "=", 5)
      .executeTakeFirstOrThrow();
    const { hash, ...entry } = { ...last, id: createId("audit"), index: 6 };
    await db
      .insertInto("audit_logs")
      .values({ ...entry, hash: hashEntry(hash, entry) })
      .execute();
    expect(await faults()).toEqual(["6 added"]);
    await tamper(`UPDATE audit_heads SET "index" = 6 WHERE $ws`);
    expect(await faults()).toEqual(["6 changed"]);
  });

  test("shows that its end was lost", async () => {
    await tamper("DELETE FROM audit_heads WHERE $ws");
    expect(await faults()).toEqual(["1 added"]);
  });

  test("shows that all of it was written anew, to who has noted its end", async () => {
    const [end] = (await verifyAudit(database.db, workspaceId)).intact;
    if (!end) throw new Error("the chain is broken");
    await append();
    expect((await verifyAudit(database.db, workspaceId, end)).faults).toEqual([]);
    await tamper("DELETE FROM audit_logs WHERE $ws", "DELETE FROM audit_heads WHERE $ws");
    for (const [count, fault] of [
      [4, { index: 5, kind: "missing" }],
      [2, { index: 5, kind: "changed" }],
    ] as const) {
      for (let at = 0; at < count; at += 1) await append({ summary: "another past" });
      expect(await faults()).toEqual([]);
      expect((await verifyAudit(database.db, workspaceId, end)).faults).toMatchObject([fault]);
    }
  });

  test("of one workspace says nothing of another's", async () => {
    const broken = workspaceId;
    await tamper(`DELETE FROM audit_logs WHERE $ws AND "index" = 1`);
    workspaceId = createId("workspace");
    await append();
    const verdict = await verifyAudit(database.db);
    expect(verdict.intact).toContainEqual(expect.objectContaining({ workspaceId, index: 1 }));
    expect(verdict.faults).toContainEqual({
      workspaceId: broken,
      index: 1,
      kind: "missing",
      entryId: null,
    });
  });

  test("is without gaps when fifty entries come at once", async () => {
    await Promise.all(Array.from({ length: 50 }, () => append()));
    expect(await verifyAudit(database.db, workspaceId)).toMatchObject({
      faults: [],
      intact: [{ index: 55 }],
    });
  });

  test("is read in pages", async () => {
    for (let at = 0; at < 1_000; at += 1) await append();
    expect(await verifyAudit(database.db, workspaceId)).toMatchObject({
      faults: [],
      intact: [{ index: 1_005 }],
    });
    await tamper(`UPDATE audit_logs SET summary = 'x' WHERE $ws AND "index" = 1003`);
    expect(await faults()).toEqual(["1003 changed"]);
  });
});
