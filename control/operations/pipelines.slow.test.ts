import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "../../tests/control-rows.ts";
import { skipUnlessWhole } from "../../tests/effort.ts";

describe.skipIf(!findPostgres())(
  "pipelines, with sandboxed workers and a PostgreSQL server as the store",
  () => {
    let server: PostgresServer;
    let api: TestControl;

    beforeAll(async () => {
      server = await startPostgres();
      const store = await server.createDatabase();
      api = await startTestControl({
        database: { url: store.url },
        seams: { dial: (target) => connect(target.port, target.address) },
        settings: {
          network: { approvedHosts: ["mail.example.com"], allowNetworks: ["127.0.0.1/32"] },
        },
      });
    });
    afterAll(async () => {
      await api?.[Symbol.asyncDispose]();
      await server?.stop();
    });

    const createEnds = async () => {
      const source_id = await addSource(api, await addCredential(api));
      await addCatalog(api, source_id, [tableStream("orders")]);
      return { source_id, destination_id: await addDestination(api) };
    };
    const create = (ends: object) =>
      api.call("POST", "/pipelines", { body: { ...ends, streams: [{ name: "orders" }] } });

    test.each([
      "source",
      "destination",
    ] as const)("a %s that is deleted while a pipeline is made keeps it, or was gone before", async (end) => {
      for (let round = 0; round < 10; round++) {
        const ends = await createEnds();
        const [made, deleted] = await Promise.all([
          create(ends),
          api.call("DELETE", `/${end}s/${ends[`${end}_id`]}`),
        ]);
        expect([made.status, deleted.status]).toEqual(
          made.status === 201 ? [201, 409] : [404, 200],
        );
        if (made.status === 201)
          expect(deleted.body.details.connection_ids).toEqual([made.body.data.connection_id]);
      }
    });

    test("of several pipelines onto one table that are made at once there is one", async () => {
      for (let round = 0; round < 5; round++) {
        const ends = await createEnds();
        const answers = await Promise.all([1, 2, 3].map(() => create(ends)));
        expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
        const made = answers.find(({ status }) => status === 201)?.body.data.pipeline_id;
        for (const { status, body } of answers)
          if (status === 409)
            expect(body.details).toMatchObject({
              reason: "table_in_use",
              conflicts: [{ pipeline_id: made }],
            });
      }
    });

    test("of several syncs that are asked for at once there is one", async () => {
      const { pipeline_id } = (await create(await createEnds())).body.data;
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => api.call("POST", `/pipelines/${pipeline_id}/sync`)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
      const made = answers.find(({ status }) => status === 202)?.body.data.job.job_id;
      for (const { status, body } of answers)
        if (status === 409) expect(body.details.job_id).toBe(made);
    });

    test("a connection that is deleted while a sync is asked for leaves no job behind", async () => {
      for (let round = 0; round < 10; round++) {
        const { pipeline_id, connection_id } = (await create(await createEnds())).body.data;
        const [synced, deleted] = await Promise.all([
          api.call("POST", `/pipelines/${pipeline_id}/sync`),
          api.call("DELETE", `/connections/${connection_id}`),
        ]);
        const job = synced.body.data?.job.job_id ?? null;
        expect([synced.status, deleted.status, deleted.body.data.cancelled_job_id]).toEqual([
          job ? 202 : 404,
          200,
          job,
        ]);
        const open = await api.db
          .selectFrom("jobs")
          .select("status")
          .where("pipeline_id", "=", pipeline_id)
          .execute();
        expect(open).toEqual(job ? [{ status: "cancelled" }] : []);
      }
    });

    test("of several changes at once none is lost without a word", async () => {
      const { pipeline_id } = (await create(await createEnds())).body.data;
      const patch = (prefix: string) =>
        api.call("PATCH", `/pipelines/${pipeline_id}`, { body: { prefix } });
      const answers = await Promise.all(["a_", "b_", "c_", "d_"].map(patch));
      const saved = answers.filter(({ status }) => status === 200);
      expect(saved.length).toBeGreaterThan(0);
      for (const { status, body } of answers)
        if (status !== 200)
          expect([status, body.details.reason]).toEqual([409, "concurrent_change"]);
      expect((await api.call("GET", `/pipelines/${pipeline_id}`)).body.data.version).toBe(
        1 + saved.length,
      );
    });

    test("a PostgreSQL destination is saved when a table could be written there, and its password stays in the vault", async () => {
      const database = await server.createDatabase();
      const password = "Battery-9-Staple-Horse";
      await database.query(`CREATE ROLE warehouse_writer LOGIN PASSWORD '${password}';
      CREATE ROLE warehouse_reader LOGIN PASSWORD '${password}';
      GRANT CREATE ON DATABASE ${database.name} TO warehouse_writer; GRANT CREATE ON SCHEMA public TO warehouse_writer`);
      const stored = (secret: string) =>
        addCredential(api, { password: secret }, { connectorId: "conn_postgres_destination" });
      const credential = await stored(password);
      const { host, port } = server;
      const save = (username: string, { handle }: { handle: string }) =>
        api.call("POST", "/destinations", {
          body: {
            name: "Warehouse",
            connector_id: "conn_postgres_destination",
            credential_handle: handle,
            configuration: { host, port, database: database.name, username, ssl_mode: "disable" },
          },
        });
      const made = await save("warehouse_writer", credential);
      expect([made.status, made.body.details]).toEqual([201, undefined]);
      expect(made.body.data).toMatchObject({
        credential_handle: credential.handle,
        status: "active",
      });
      const tables = await database.query(
        "SELECT 1 FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema', '_svc')",
      );
      expect(tables).toEqual([]);
      const wrong = await save("warehouse_writer", await stored(`${password}!`));
      const forbidden = await save("warehouse_reader", credential);
      const reasonOf = ({ body }: typeof made) => [body.details.reason, body.details.check.error];
      expect(reasonOf(wrong)).toEqual(["connection_check_failed", "CREDENTIALS_REJECTED"]);
      expect(reasonOf(forbidden)).toEqual(["connection_check_failed", "PERMISSION_DENIED"]);
      expect(made.text + wrong.text + forbidden.text).not.toContain(password);
    });

    test("6,000 tables of a database are prepared in pages and make one pipeline; one more is refused in both", async (context) => {
      skipUnlessWhole(context);
      const database = await server.createDatabase();
      const tables = (from: number, to: number) =>
        database.query(`DO $$ BEGIN FOR i IN ${from}..${to} LOOP
        EXECUTE format('CREATE TABLE t%s (id integer PRIMARY KEY, note text)', i); END LOOP; END $$`);
      for (let from = 1; from <= 6_000; from += 1_000) await tables(from, from + 999);
      const password = "Correct-Horse-9-Battery";
      await database.query(
        `CREATE ROLE pipeline_reader LOGIN PASSWORD '${password}'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO pipeline_reader`,
      );
      const credential = await addCredential(api, { password }, { connectorId: "conn_postgres" });
      const { host, port } = server;
      const source = await api.call("POST", "/sources", {
        body: {
          name: "Many",
          connector_id: "conn_postgres",
          credential_handle: credential.handle,
          configuration: {
            host,
            port,
            database: database.name,
            username: "pipeline_reader",
            ssl_mode: "disable",
          },
        },
      });
      const warehouse = { name: "W", connector_id: "conn_duckdb", configuration: { file: "many" } };
      const destination = await api.call("POST", "/destinations", { body: warehouse });
      const ends = {
        source_id: source.body.data.source_id,
        destination_id: destination.body.data.destination_id,
      };
      const prepared = await api.call("POST", "/pipelines/prepare", {
        body: { ...ends, limit: 1_000 },
      });
      expect([prepared.status, prepared.body.details]).toEqual([200, undefined]);
      expect(prepared.body.data).toMatchObject({ table_count: 6_000, has_more: true });
      const { prepare_id } = prepared.body.data;
      const made = await api.call("POST", "/pipelines", {
        body: { ...ends, prepare_id, select_all: true },
      });
      expect([made.status, made.body.data?.stream_count]).toEqual([201, 6_000]);

      await tables(6_001, 6_001);
      await database.query("GRANT SELECT ON ALL TABLES IN SCHEMA public TO pipeline_reader");
      const refused = await api.call("POST", "/pipelines/prepare", {
        body: { ...ends, refresh: true },
      });
      expect([refused.status, refused.body.details]).toMatchObject([
        422,
        { reason: "table_limit_exceeded", limit: 6_000, count: 6_001 },
      ]);
      await api.db.deleteFrom("catalogs").execute();
      const fresh = await api.call("POST", "/pipelines", { body: { ...ends, select_all: true } });
      expect(fresh.body.details).toMatchObject({ reason: "table_limit_exceeded", count: 6_001 });
      expect(prepared.text + made.text + refused.text).not.toContain(password);
    });
  },
);
