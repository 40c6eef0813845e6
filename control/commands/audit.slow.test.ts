import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { sql } from "kysely";
import { type CliEnvironment, createHost, main, systemClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addMember, createUser, createWorkspace } from "../members/workspaces.ts";
import { askInstance, createOperator } from "../operator/operator.ts";
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
  const run = async (...args: string[]) => {
    const written = { out: "", err: "" };
    const capture = (name: keyof typeof written) =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          written[name] += chunk.toString();
          done();
        },
      });
    const environment: CliEnvironment = {
      stdout: capture("out"),
      stderr: capture("err"),
      createHost,
      clock: systemClock,
      cwd,
      isTTY: false,
      onSignal: () => ({ [Symbol.dispose]: () => undefined }),
    };
    const commands = { audit: { summary: "", load: async () => buildAudit } };
    return { code: await main(["audit", ...args], environment, commands), ...written };
  };

  test("shows the end of each chain, which can be noted", async () => {
    const { code, out } = await run("verify");
    expect(code).toBe(0);
    const [, end = ""] =
      new RegExp(`^${second} is as it was written, up to (1:[0-9a-f]{64})$`, "m").exec(out) ?? [];
    expect(await run("verify", "--workspace", "second", "--noted", end)).toEqual({
      code: 0,
      out,
      err: "",
    });
    const other = `1:${"0".repeat(64)}`;
    expect(await run("verify", "--workspace", second, "--noted", other)).toMatchObject({
      code: 1,
      out: "",
    });
  });

  test("names the first broken entry", async () => {
    await withInstance(async ({ services: { database } }) => {
      await sql`ALTER TABLE audit_logs DISABLE TRIGGER ALL`.execute(database.db);
      await sql`UPDATE audit_logs SET summary = 'x'`.execute(database.db);
    });
    const { code, err } = await run("verify");
    expect(code).toBe(1);
    expect(err).toMatch(
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
      const { code, err } = await run(...args);
      expect(code).toBe(2);
      expect(err.replace(/^svc: |\n$/g, "")).toMatch(
        problem instanceof RegExp ? problem : new RegExp(`^${problem.replace(/[()?]/g, "\\$&")}$`),
      );
    }
  });
});
