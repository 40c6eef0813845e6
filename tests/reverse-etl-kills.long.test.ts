import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createId } from "../control/contract/ids.ts";
import { endJobLeases, takeOverLost } from "../control/jobs/attempts.ts";
import { openKeyring } from "../control/vault/keyring.ts";
import { createRandom } from "../fixtures/random.ts";
import {
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { addCredential } from "./control-rows.ts";
import type { WorkerSettings } from "./reverse-etl-process.ts";

/** `KILLS=200` takes ten minutes. */
const killCount = Number(process.env.KILLS ?? 6);
const seed = Number(process.env.SEED ?? 20_260_728);
const rowCount = 20_000;

describe("a worker that is killed while it runs an activation", () => {
  let postgres: PostgresServer;
  let data: PostgresDatabase;
  let folder: string;
  let api: TestControl;
  let settings: WorkerSettings;
  let warehouse: string;
  let target: string;
  const random = createRandom(seed);

  beforeAll(async () => {
    postgres = await startPostgres({ settings: { fsync: "off" } });
    data = await postgres.createDatabase();
    folder = await mkdtemp(join(tmpdir(), "svc-kills-"));
    settings = {
      databaseUrl: (await postgres.createDatabase()).url,
      keyFile: join(folder, "keys.json"),
    };
    api = await startTestControl({
      database: { url: settings.databaseUrl },
      keyring: await openKeyring(settings.keyFile, { create: true }),
      settings: { network: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] } },
    });
    await data.query(`
      CREATE TABLE source (id int PRIMARY KEY, name text);
      CREATE TABLE mirrored (id int PRIMARY KEY, name text);
      CREATE TABLE appended (id int, name text)`);
    const configuration = {
      host: postgres.host,
      port: postgres.port,
      database: data.name,
      username: "postgres",
      ssl_mode: "disable",
    };
    const { id: credential_id } = await addCredential(
      api,
      { password: postgres.password },
      { connectorId: "conn_postgres_destination" },
    );
    const { handle: credentialHandle } = await addCredential(
      api,
      { password: postgres.password },
      { connectorId: "conn_postgres" },
    );
    warehouse = createId("destination");
    const now = new Date();
    await api.db
      .insertInto("destinations")
      .values({
        id: warehouse,
        workspace_id: api.first.id,
        name: "Warehouse",
        connector_id: "conn_postgres_destination",
        credential_id,
        configuration: JSON.stringify({ ...configuration, schema: "public" }),
        status: "active",
        created_at: now,
        updated_at: now,
        last_check: JSON.stringify({ status: "succeeded", checked_at: now.toISOString() }),
      })
      .execute();
    target = (
      await must("/destinations", {
        name: "Tables",
        type: "postgres",
        credentialHandle,
        configuration,
      })
    ).destinationId;
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const must = async (path: string, body: object) => {
    const answer = await api.call("POST", `/reverse-etl${path}`, { body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return answer.body.data;
  };
  const forkOne = async (): Promise<ChildProcess> => {
    const child = fork(
      new URL("reverse-etl-process.ts", import.meta.url),
      [JSON.stringify(settings)],
      {
        execArgv: ["--conditions=svc-source"],
      },
    );
    await once(child, "message");
    return child;
  };
  const activate = async (object: string, operation: string) => {
    const model = {
      name: "M",
      warehouseId: warehouse,
      raw: { sql: "SELECT id, name FROM source" },
      primaryKey: "id",
    };
    const { modelId } = await must("/models", model);
    const isPrimaryIdentifier = operation === "mirror";
    const mappings = [
      { from: "id", to: "id", isPrimaryIdentifier },
      { from: "name", to: "name" },
    ];
    return (
      await must("/activations", {
        name: "A",
        modelId,
        destinationId: target,
        object,
        operation,
        mappings,
      })
    ).activationId as string;
  };
  /**
   * Runs until it is done, each time killed somewhere on the way.
   * @returns the run, and how often it was killed
   */
  const runWithKills = async (activation: string) => {
    const { runId } = await must(`/activations/${activation}/run`, {});
    let kills = 0;
    for (;;) {
      const child = await forkOne();
      const ended = once(child, "message").then(([said]) => said as "done" | "idle");
      child.send("go");
      const isLast = kills >= killCount;
      const first = await Promise.race([
        ended,
        ...(isLast ? [] : [pause(random() * 900, "kill" as const)]),
      ]);
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      if (first === "done") break;
      // One that found nothing to do came while the claim of the dead was still being committed.
      if (first === "kill") kills += 1;
      // In the time of those who come after, the lease of the dead has ended.
      await endJobLeases(api.db, new Date(0));
      await takeOverLost(api.control.services);
      await api.db
        .updateTable("jobs")
        .set({ runnable_at: new Date(0) })
        .where("status", "=", "incomplete")
        .execute();
    }
    const { body } = await api.call("GET", `/reverse-etl/runs/${runId}`);
    return { run: body.data, kills };
  };
  const same = (table: string) =>
    data.query(`SELECT count(*)::int AS rows, count(DISTINCT t.id)::int AS ids, count(*) FILTER (WHERE t.name = s.name)::int AS same
      FROM ${table} t FULL JOIN source s USING (id)`);

  test("mirrors the model exactly, however often", async () => {
    const activation = await activate("mirrored", "mirror");
    await data.query(
      `INSERT INTO source SELECT i, 'name ' || i FROM generate_series(1, ${rowCount}) i`,
    );
    const first = await runWithKills(activation);
    expect(first.run).toMatchObject({
      status: "succeeded",
      successfulRows: { addedCount: rowCount },
      plannedRows: { addedCount: rowCount },
    });
    expect(await same("mirrored")).toEqual([{ rows: rowCount, ids: rowCount, same: rowCount }]);
    await data.query(
      "DELETE FROM source WHERE id % 5 = 0; UPDATE source SET name = name || '!' WHERE id % 3 = 0",
    );
    const second = await runWithKills(activation);
    const left = (rowCount * 4) / 5;
    expect(second.run).toMatchObject({
      status: "succeeded",
      successfulRows: { removedCount: rowCount / 5 },
    });
    expect(await same("mirrored")).toEqual([{ rows: left, ids: left, same: left }]);
    expect(first.kills + second.kills).toBeGreaterThan(0);
  });

  test("appends every row once, though the table has no key", async () => {
    await data.query("DELETE FROM source");
    const activation = await activate("appended", "append");
    await data.query(
      `INSERT INTO source SELECT i, 'name ' || i FROM generate_series(1, ${rowCount}) i`,
    );
    const { run, kills } = await runWithKills(activation);
    expect(run).toMatchObject({ status: "succeeded", successfulRows: { addedCount: rowCount } });
    expect(await same("appended")).toEqual([{ rows: rowCount, ids: rowCount, same: rowCount }]);
    expect(kills).toBeGreaterThan(0);
  });
});
