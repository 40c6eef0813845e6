/**
 * The behaviour that the embedded database and PostgreSQL have in common: everything that the
 * control layer relies on.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createId } from "../control/contract/ids.ts";
import { appendAudit, hashEntry } from "../control/door/audit.ts";
import { readPage } from "../control/door/pages.ts";
import { createSession } from "../control/members/sessions.ts";
import type { Database } from "../control/store/database.ts";

/** @param open a database of this kind with its tables, and more of the same data */
export function describeDatabase(
  name: string,
  open: () => Promise<{ one: Database; other: Database; close(): Promise<void> }>,
) {
  describe(name, () => {
    let opened: Awaited<ReturnType<typeof open>>;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => {
      await opened?.close();
    });

    const setting = (id: string, enabled = true) => ({
      connector_id: id,
      enabled,
      updated_at: new Date(0),
    });
    const count = async (prefix: string) =>
      (
        await opened.other.db
          .selectFrom("connector_settings")
          .selectAll()
          .where("connector_id", "like", `${prefix}%`)
          .execute()
      ).length;

    test("a transaction is seen whole, or not at all, also by those who ask beside it", async () => {
      const { one, other } = opened;
      const half = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      const writing = one.db.transaction().execute(async (tx) => {
        await tx.insertInto("connector_settings").values(setting("whole-1")).execute();
        half.resolve();
        await goOn.promise;
        await tx.insertInto("connector_settings").values(setting("whole-2")).execute();
      });
      await half.promise;
      const asking = count("whole");
      goOn.resolve();
      expect([0, 2]).toContain(await asking);
      await writing;
      expect(await count("whole")).toBe(2);
      const failing = other.db.transaction().execute(async (tx) => {
        await tx.insertInto("connector_settings").values(setting("half-1")).execute();
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await count("half")).toBe(0);
    });

    test("thirty transactions at once that read and write one row lose nothing", async () => {
      const workspaceId = randomUUID();
      const entry = {
        workspace_id: workspaceId,
        occurred_at: new Date(0),
        actor_type: "user",
        actor_id: "u",
        actor_display: "u",
        client: "api",
        action: "a",
        resource_type: "t",
        resource_id: null,
        outcome: "success",
        summary: "s",
        approval_id: null,
        request_id: "r",
        ip: null,
        user_agent: null,
      } as const;
      const databases = [opened.one, opened.other];
      await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          databases[index % 2]?.db.transaction().execute((tx) => appendAudit(tx, entry)),
        ),
      );
      const rows = await opened.one.db
        .selectFrom("audit_logs")
        .selectAll()
        .where("workspace_id", "=", workspaceId)
        .orderBy("index")
        .execute();
      expect(rows.map(({ index }) => index)).toEqual(
        Array.from({ length: 30 }, (_, index) => index + 1),
      );
      let previous = "0".repeat(64);
      for (const { hash, ...row } of rows) {
        expect(hashEntry(previous, row)).toBe(hash);
        previous = hash;
      }
    });

    test("an isolation level is kept", async () => {
      const tx = opened.one.db
        .transaction()
        .setIsolationLevel("serializable")
        .setAccessMode("read only");
      await expect(
        tx.execute((db) =>
          db.insertInto("connector_settings").values(setting("read-only")).execute(),
        ),
      ).rejects.toMatchObject({ code: "25006" });
    });

    test("exclusively runs one at a time for a key, others beside it, and goes on after a failure", async () => {
      const { one, other } = opened;
      let running = 0;
      let most = 0;
      const work = async () => {
        running += 1;
        most = Math.max(most, running);
        // Queries of its own, as many as there are connections: those who wait for the lock must
        // not hold them.
        await Promise.all(Array.from({ length: 12 }, () => count("nothing")));
        running -= 1;
        if (Math.random() < 0.3) throw new Error("no");
      };
      const ended = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? one : other).exclusively("key", work),
        ),
      );
      expect(most).toBe(1);
      expect(ended).toHaveLength(20);
      const inner = await one.exclusively("first", () =>
        other.exclusively("second", async () => "both"),
      );
      expect(inner).toBe("both");
    });

    test("pages in their order hold every row once, whatever is added meanwhile", async () => {
      const { db } = opened.one;
      const add = async (at: number, many: number) => {
        for (let index = 0; index < many; index += 1) {
          const id = createId("workspace");
          await db
            .insertInto("workspaces")
            .values({ id, name: "page", slug: id, created_at: new Date(at) })
            .execute();
        }
      };
      for (let index = 0; index < 6; index += 1) await add(1_000 * (index % 3), 5);
      const first = await db
        .selectFrom("workspaces")
        .select("id")
        .where("name", "=", "page")
        .execute();
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const filters = { list: "workspaces" };
        const rows = db
          .selectFrom("workspaces")
          .select(["id", "created_at"])
          .where("name", "=", "page");
        const page = await readPage(rows, { cursor, limit: 4, filters });
        seen.push(...page.items.map(({ id }) => id));
        cursor = page.next_cursor ?? undefined;
        await add(5_000, 2);
      } while (cursor !== undefined);
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining(first.map(({ id }) => id)));
      expect(seen.length).toBe(first.length);
    });

    test("times, JSON and bytes come back as they were", async () => {
      const { db } = opened.one;
      const at = new Date("2026-03-29T01:30:00.123Z");
      const id = randomUUID();
      const metadata = { text: 'é\u2028"\\', list: [1, 1.5, null, { a: true }] };
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
      await db.insertInto("users").values({ id, email: id, name: "n", created_at: at }).execute();
      const { sessionId } = await createSession(db, { userId: id, client: "api" }, at);
      await db
        .updateTable("sessions")
        .set({ token_hash: bytes })
        .where("id", "=", sessionId)
        .execute();
      const session = await db
        .selectFrom("sessions")
        .selectAll()
        .where("id", "=", sessionId)
        .executeTakeFirstOrThrow();
      expect([session.created_at, Buffer.from(session.token_hash)]).toEqual([at, bytes]);
      expect(session.scopes).toContain("control:admin");
      await db
        .insertInto("idempotency_keys")
        .values({
          session_id: id,
          method: "m",
          path: "p",
          key: "k",
          request_hash: "h",
          status: 200,
          data: JSON.stringify(metadata),
          headers: null,
          locked_until: at,
          expires_at: at,
        })
        .execute();
      const kept = await db
        .selectFrom("idempotency_keys")
        .select(["data", "headers"])
        .where("session_id", "=", id)
        .executeTakeFirstOrThrow();
      expect(kept).toEqual({ data: metadata, headers: null });
    });

    test("the audit log takes no change", async () => {
      const { db } = opened.one;
      await expect(
        db.updateTable("audit_logs").set({ summary: "other" }).execute(),
      ).rejects.toThrow("append-only");
      await expect(db.deleteFrom("audit_logs").execute()).rejects.toThrow("append-only");
    });
  });
}
