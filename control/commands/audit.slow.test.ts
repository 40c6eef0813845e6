import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../../tests/command.ts";
import { appendAudit, systemEntry } from "../door/audit.ts";
import { addMember, createUser, createWorkspace } from "../members/workspaces.ts";
import { askInstance } from "../operator/ask.ts";
import { createOperator } from "../operator/operator.ts";
import { pruneAudit } from "../retention/audit.ts";
import { silentLog } from "../services/log.ts";
import { buildAudit } from "./audit.ts";
import { locate, openInstance } from "./instance.ts";

describe("svc audit verify", () => {
  let cwd: string;
  let second: string;

  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "svc-audit-"));
    await withInstance(async ({ services }) => {
      const { db } = services.database;
      const now = new Date(0);
      const first = await createWorkspace(db, { name: "First", slug: "first" }, now);
      const userId = await createUser(db, { email: "a@example.com", name: "A" }, now);
      await addMember(db, { workspaceId: first, userId, role: "admin" }, now);
      const operator = createOperator(askInstance(services));
      second = (await operator.run("workspace.create", { body: { name: "Second" } })).workspace_id;
    });
  });
  afterAll(() => rm(cwd, { recursive: true }));

  async function withInstance(
    work: (control: Awaited<ReturnType<typeof openInstance>>) => Promise<unknown>,
  ) {
    await using control = await openInstance(await locate({ cwd }, {}), { log: silentLog });
    await work(control);
  }
  const run = (...args: string[]) =>
    runCommand(["audit", ...args], { cwd, commands: { audit: buildAudit } });

  test("shows the end of each chain, which can be noted", async () => {
    const { code, stdout } = await run("verify");
    expect(code).toBe(0);
    const [, end = ""] =
      new RegExp(`^${second} is as it was written, up to (1:[0-9a-f]{64})$`, "m").exec(stdout) ??
      [];
    expect(await run("verify", "--workspace", "second", "--noted", end)).toEqual({
      code: 0,
      stdout,
      stderr: "",
    });
    const other = `1:${"0".repeat(64)}`;
    expect(await run("verify", "--workspace", second, "--noted", other)).toMatchObject({
      code: 1,
      stdout: "",
    });
  });

  test("names the first broken entry", async () => {
    await withInstance(async ({ services: { database } }) => {
      await sql`ALTER TABLE audit_logs DISABLE TRIGGER ALL`.execute(database.db);
      await sql`UPDATE audit_logs SET summary = 'x'`.execute(database.db);
    });
    const { code, stderr } = await run("verify");
    expect(code).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^svc: the audit log of ${second} was changed at entry 1 \\(aud_\\w{22}\\)\n$`),
    );
  });

  test("says what is wrong with the command", async () => {
    for (const [args, problem] of [
      [[], "say what to do: verify"],
      [["verfy"], 'say what to do: verify (did you mean "verify"?)'],
      [["verify", "--noted", "1:x"], "--noted needs --workspace"],
      [["verify", "--workspace", "first", "--noted", "1:x"], /^--noted must be/],
      [["verify", "--workspace", "third"], "there is no workspace of that id or slug"],
      [
        ["verify", "--data", "nowhere"],
        /^there is no instance in "nowhere"|^there is no instance in ".*nowhere"/,
      ],
    ] as const) {
      const { code, stderr } = await run(...args);
      expect(code).toBe(2);
      expect(stderr.replace(/^svc: |\n$/g, "")).toMatch(
        problem instanceof RegExp ? problem : new RegExp(`^${problem.replace(/[()?]/g, "\\$&")}$`),
      );
    }
  });

  test("reads the archive too, and says what neither it nor the database has", async () => {
    const later = new Date(Date.now() + 40 * 86_400_000);
    const archive = join(cwd, "archive");
    let archived = "";
    await withInstance(async ({ services }) => {
      const { db } = services.database;
      const operator = createOperator(askInstance(services));
      archived = (await operator.run("workspace.create", { body: { name: "Archived" } }))
        .workspace_id;
      for (let count = 0; count < 3; count += 1)
        await db.transaction().execute((tx) =>
          appendAudit(
            tx,
            systemEntry(archived, new Date(), {
              action: "source.create",
              resource_type: "source",
              resource_id: null,
              outcome: "success",
              summary: "Create a source",
            }),
          ),
        );
      const signal = new AbortController().signal;
      await pruneAudit(db, { cutoff: later, now: later, signal, archive });
    });
    const whole = await run("verify", "--archive", "archive", "--workspace", "archived");
    expect(whole).toMatchObject({ code: 0, stderr: "" });
    expect(whole.stdout).toMatch(
      new RegExp(
        `^${archived} is as it was written in the archive, from 1 up to 3:[0-9a-f]{64}$`,
        "m",
      ),
    );
    const { code, stdout } = await run(
      "verify",
      "--archive",
      "archive",
      "--workspace",
      "archived",
      "--json",
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      archive: { intact: [{ workspace_id: archived, file_count: 1 }], faults: [] },
    });

    const file = join(archive, archived, "0000000001.jsonl");
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    const [begin = "", first = "", second = ""] = lines;
    const shorter = { kind: "end", index: 2, hash: JSON.parse(second).hash, count: 2 };
    await writeFile(file, `${[begin, first, second, JSON.stringify(shorter)].join("\n")}\n`);
    const ofArchive = `svc: the archived audit log of ${archived}`;
    const args = ["verify", "--archive", archive, "--workspace", "archived"];
    expect(await run(...args)).toMatchObject({
      code: 1,
      stderr: `${ofArchive} and the log in the database lack entry 3\n`,
    });
    await writeFile(file, lines.slice(0, -1).join("\n"));
    expect(await run(...args)).toMatchObject({
      code: 1,
      stderr: `${ofArchive} has a file that is not whole after entry 3 (0000000001.jsonl)\n`,
    });
    expect(await run("verify", "--archive", "nowhere")).toMatchObject({
      code: 2,
      stderr: "svc: the folder of --archive cannot be read\n",
    });
  });
});
