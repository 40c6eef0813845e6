import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { systemClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openKeyring } from "../control/vault/keyring.ts";
import { createRandom } from "../fixtures/random.ts";
import { startMailer } from "../simulators/mailer/mailer.ts";
import { type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import {
  createOnce,
  type ProcessCommand,
  type ProcessSettings,
  type Report,
} from "./approval-process.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { addCredential, addSource } from "./control-rows.ts";

/** `KILLS=200` takes ten minutes. */
const killCount = Number(process.env.KILLS ?? 15);
const seed = Number(process.env.SEED ?? 20_260_728);
const asProposal = { "x-svc-execution-mode": "proposal" };
/**
 * How far the clock of this process is ahead: each test says it. A server that comes a minute later
 * finds the leases of the dead ended, but those of the living as well.
 */
let aheadMs = 0;

describe("a server that is killed while it approves", () => {
  let postgres: PostgresServer;
  let mailer: Awaited<ReturnType<typeof startMailer>>;
  let folder: string;
  let api: TestControl;
  let settings: ProcessSettings;
  const random = createRandom(seed);

  beforeAll(async () => {
    postgres = await startPostgres();
    const databaseUrl = (await postgres.createDatabase()).url;
    mailer = await startMailer({ seed: 1, campaigns: 2, lists: 1, subscribersPerList: 2 });
    folder = await mkdtemp(join(tmpdir(), "svc-approvals-"));
    const keyFile = join(folder, "keys.json");
    api = await startTestControl({
      database: { url: databaseUrl },
      keyring: await openKeyring(keyFile, { create: true }),
      clock: { ...systemClock, now: () => Date.now() + aheadMs },
      sandbox: "inline",
      seams: mailer.seams,
      settings: { network: { approvedHosts: [mailer.hostname], allowNetworks: [] } },
    });
    Object.assign(api.control.services, { operations: [...api.control.operations, createOnce] });
    const socket = mailer.seams.dial({ host: mailer.hostname, address: "", port: 443 });
    await once(socket, "connect");
    const port = socket.remotePort ?? 0;
    socket.destroy();
    settings = {
      databaseUrl,
      keyFile,
      mailer: { port, hostname: mailer.hostname, ca: mailer.seams.ca },
    };
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await mailer?.[Symbol.asyncDispose]();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const forkOne = async (): Promise<ChildProcess> => {
    const program = new URL("approval-process.ts", import.meta.url);
    const child = fork(program, [JSON.stringify(settings)], {
      execArgv: ["--conditions=svc-source"],
      env: { ...process.env, PGAPPNAME: "approves" },
    });
    await once(child, "message");
    return child;
  };
  /** PostgreSQL ends what the dead have asked for last: until then nothing is decided. */
  const untilSettled = async (): Promise<void> => {
    const { rows } =
      await sql`SELECT FROM pg_stat_activity WHERE application_name = 'approves' AND state <> 'idle'`.execute(
        api.db,
      );
    if (rows.length === 0) return;
    await systemClock.sleep(1);
    await untilSettled();
  };

  const statusOf = async (id: string) =>
    (
      await api.db
        .selectFrom("approvals")
        .select("status")
        .where("id", "=", id)
        .executeTakeFirstOrThrow()
    ).status;

  /** The mailer's limit is counted for each credential, over all processes. */
  const newCredential = () => addCredential(api, { api_token: mailer.token });
  const newSource = async (name: string) => ({
    name,
    connector_id: "conn_mailer_product_edm",
    credential_handle: (await newCredential()).handle,
    configuration: { base_url: mailer.baseUrl },
  });
  const countOf = async (name: string) =>
    (await api.db.selectFrom("sources").select("id").where("name", "=", name).execute()).length;

  /**
   * Kinds of proposals: without a preparation, with one that can be repeated, and with one that
   * cannot. Each says how often it was done.
   */
  const kinds = {
    async rename(mark: string) {
      const source = await addSource(api, await newCredential(), { base_url: mailer.baseUrl });
      const { body } = await api.call("PATCH", `/sources/${source}`, {
        body: { name: mark },
        headers: asProposal,
      });
      const count = async () => (await api.call("GET", `/sources/${source}`)).body.data.version - 1;
      return { id: body.data.approval_id as string, count };
    },
    async create(mark: string) {
      const { body } = await api.call("POST", "/sources", {
        headers: asProposal,
        body: await newSource(mark),
      });
      return { id: body.data.approval_id as string, count: () => countOf(mark) };
    },
    async once(mark: string) {
      const caller = await api.control.authenticate({
        authorization: `Bearer ${api.first.tokens.admin}`,
        client: undefined,
        ip: null,
        userAgent: null,
      });
      const request = {
        path: createOnce.path,
        params: {},
        query: {},
        body: { value: await newSource(mark) },
        headers: { executionMode: "proposal" },
        signal: new AbortController().signal,
      };
      const { body } = await api.control.execute(createOnce, request, caller);
      return { id: JSON.parse(body).data.approval_id as string, count: () => countOf(mark) };
    },
  };
  const names = Object.keys(kinds) as (keyof typeof kinds)[];

  test(`leaves each of ${killCount} approvals executed once, or failed and not done (seed ${seed})`, async () => {
    aheadMs = 60_000;
    const ends: Record<string, number> = {};
    let next = forkOne();
    const durations: Partial<Record<keyof typeof kinds, number>> = {};
    for (let round = 0; round < killCount + names.length; round += 1) {
      const kind = names[round % names.length] ?? "rename";
      const child = await next;
      next = forkOne();
      const { id, count } = await kinds[kind](`mark-${round}`);
      const command: ProcessCommand = { token: api.first.tokens.admin, approvalId: id };
      const startedMs = performance.now();
      let answer: Report | undefined;
      child.once("message", (report: Report) => {
        answer = report;
      });
      child.send(command);
      // The first of each kind ends by itself: it says how long it takes.
      const durationMs = durations[kind];
      if (durationMs === undefined) {
        await once(child, "message");
        durations[kind] = performance.now() - startedMs;
      } else if (round % 2 === 0) await systemClock.sleep(random() * 1.1 * durationMs);
      else {
        // The time in which it is under way is short: it is met by looking.
        while ((await statusOf(id)) === "pending" && !answer) await systemClock.sleep(1);
        expect(answer ?? { status: 200 }).toEqual({ status: 200 });
        await systemClock.sleep(random() * 0.2 * durationMs);
      }
      child.kill("SIGKILL");
      await once(child, "exit");
      await untilSettled();

      const left = (await api.call("GET", `/approvals/${id}`)).body.data.status;
      const after = await api.call("POST", `/approvals/${id}/approve`);
      const { status, error } = (await api.call("GET", `/approvals/${id}`)).body.data;
      ends[`${kind}: ${left} → ${status}`] = (ends[`${kind}: ${left} → ${status}`] ?? 0) + 1;
      // The server that is left may have found it first, and closed it.
      const answers = status === "failed" ? [200, 409] : [200];
      expect(answers, `${kind}: ${left}`).toContain(after.status);
      if (status === "failed") {
        expect([kind, error.reason, await count()]).toEqual(["once", "outcome_unknown", 0]);
      } else expect([status, await count()]).toEqual(["executed", 1]);
      const effects = await api.db
        .selectFrom("audit_logs")
        .select("outcome")
        .where("approval_id", "=", id)
        .where("action", "in", ["source.update", "source.create", "source.create_once"])
        .execute();
      expect(effects).toHaveLength(1);
    }
    (await next).kill("SIGKILL");
    console.log(ends);
    const interrupted = Object.entries(ends).filter(([way]) => /(approved|executing) →/.test(way));
    expect(ends["once: executing → failed"] ?? 0).toBeGreaterThan(0);
    // Kills that hit nothing would prove nothing.
    expect(interrupted.reduce((sum, [, times]) => sum + times, 0)).toBeGreaterThan(killCount / 20);
  });

  test("two servers that are asked at the same moment do it once, and both say so", async () => {
    aheadMs = 0;
    const children = await Promise.all([forkOne(), forkOne()]);
    for (let round = 0; round < 30; round += 1) {
      const { id, count } = await kinds[names[round % names.length] ?? "rename"](`both-${round}`);
      const command: ProcessCommand = { token: api.first.tokens.admin, approvalId: id };
      const answers = await Promise.all(
        children.map(async (child) => {
          const answer = once(child, "message");
          child.send(command);
          return (await answer)[0] as Report;
        }),
      );
      expect(answers).toEqual([{ status: 200 }, { status: 200 }]);
      expect([await statusOf(id), await count()]).toEqual(["executed", 1]);
    }
    for (const child of children) child.kill("SIGKILL");
  });
});
