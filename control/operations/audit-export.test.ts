import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { verifyAudit } from "../audit/verify.ts";
import { createId } from "../contract/ids.ts";
import { appendAudit, systemEntry } from "../door/audit.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
type Line = any;

/** As somebody does who has the file and the documents alone. Gives the last hash. */
function verify(lines: readonly Line[]): string {
  const [begin, ...rest] = lines;
  const end = rest.pop();
  let { index, hash } = begin;
  for (const { entry, hash: written } of rest) {
    const fields = Object.entries(entry).sort(([left], [right]) => (left < right ? -1 : 1));
    const text = JSON.stringify([hash, fields]);
    const computed = createHash("sha256").update(text).digest("hex");
    if (entry.index !== index + 1 || computed !== written)
      throw new Error(`broken at ${entry.index}`);
    index = entry.index;
    hash = written;
  }
  if (end?.kind !== "end" || end.index !== index || end.hash !== hash || end.count !== rest.length)
    throw new Error("not whole");
  return hash;
}

describe("the export of the audit log", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await startTestControl();
    for (let count = 0; count < 1_200; count += 1)
      await api.db.transaction().execute((tx) =>
        appendAudit(
          tx,
          systemEntry(api.first.id, new Date(1_700_000_000_000 + count), {
            action: "source.create",
            resource_type: "source",
            resource_id: createId("source"),
            outcome: "success",
            summary: `A source "é" \u2028 ${count}`,
          }),
        ),
      );
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const get = (query = "", token = api.first.tokens.admin, headers = {}) =>
    api.server.inject({
      url: `/control/v1/audit-logs/export${query}`,
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  const linesOf = (text: string): Line[] =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));

  test("holds all of it, in a form that is verified elsewhere, and itself at the end", async () => {
    const answer = await get();
    expect(answer.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    const lines = linesOf(answer.payload);
    expect(lines.length).toBeGreaterThan(1_202);
    const { intact } = await verifyAudit(api.db, api.first.id);
    expect(verify(lines)).toBe(intact[0]?.hash);
    expect(lines.at(-2).entry).toMatchObject({
      action: "audit_log.export",
      outcome: "success",
      actor_type: "user",
      workspace_id: api.first.id,
    });
    const changed = structuredClone(lines);
    changed[700].entry.summary = "Another past";
    expect(() => verify(changed)).toThrow(/broken/);
    expect(() => verify(lines.slice(0, -1))).toThrow(/not whole/);
    expect(() => verify(lines.toSpliced(9, 1))).toThrow(/broken/);
  });

  test("is verified by the program that the documents show", async () => {
    const page = await readFile(new URL("../../docs/control.md", import.meta.url), "utf8");
    const [, program = ""] = /```js\n(.*?)```/s.exec(page) ?? [];
    const folder = await mkdtemp(join(tmpdir(), "svc-test-"));
    try {
      const text = (await get()).payload;
      const run = async (content: string) => {
        await writeFile(join(folder, "audit.jsonl"), content);
        const options = { cwd: folder };
        return await promisify(execFile)(
          process.execPath,
          ["--input-type=module", "-e", program],
          options,
        ).then(
          () => "verified",
          ({ stderr }) => /broken|not whole/.exec(stderr)?.[0],
        );
      };
      expect(await run(text)).toBe("verified");
      expect(await run(text.replace("A source", "Another"))).toBe("broken");
      expect(await run(text.split("\n").slice(0, -2).join("\n"))).toBe("not whole");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("goes on after the one before", async () => {
    const whole = linesOf((await get()).payload);
    const end = whole.at(-1);
    const next = linesOf((await get(`?after=${end.index}`)).payload);
    expect(next[0]).toEqual({
      kind: "begin",
      workspace_id: api.first.id,
      index: end.index,
      hash: end.hash,
    });
    verify(next);
    expect(next.length).toBe(3);
    expect((await get("?after=999999")).json().details.reason).toBe("not_found");
  });

  test("begins where older entries were deleted", async () => {
    const [, first] = linesOf((await get()).payload);
    await sql`INSERT INTO audit_anchors (workspace_id, index, hash, anchored_at)
      VALUES (${api.first.id}, 1, ${first.hash}, now())`.execute(api.db);
    const lines = linesOf((await get()).payload);
    expect(lines[0].index).toBe(1);
    verify(lines);
    await api.db.deleteFrom("audit_anchors").execute();
  });

  test("breaks off where an entry is missing: nobody takes it for the whole", async () => {
    await sql.raw("ALTER TABLE audit_logs DISABLE TRIGGER ALL").execute(api.db);
    await sql`DELETE FROM audit_logs WHERE workspace_id = ${api.first.id} AND index = 600`.execute(
      api.db,
    );
    const text = await get().then(
      ({ payload }) => payload,
      () => "",
    );
    expect(text).not.toContain('"kind":"end"');
  });

  test("is for administrators, of their own workspace", async () => {
    expect((await get("", api.first.tokens.editor)).statusCode).toBe(403);
    const other = linesOf((await get("", api.second.tokens.admin)).payload);
    expect(other.length).toBe(3);
    expect(other[1].entry.workspace_id).toBe(api.second.id);
  });
});
