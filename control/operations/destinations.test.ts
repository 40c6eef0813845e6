import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential } from "../../tests/control-rows.ts";
import { databaseRows } from "../../tests/database-text.ts";
import { createId } from "../contract/ids.ts";

describe("destinations", () => {
  let api: TestControl;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline", seams: { resolve: async () => [] } });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const body = (changes: object = {}) => ({
    name: "Warehouse",
    connector_id: "conn_duckdb",
    configuration: { file: "warehouse" },
    ...changes,
  });
  const create = (changes: object = {}) =>
    api.call("POST", "/destinations", { body: body(changes) });
  const make = async () => (await create()).body.data;

  test("are created when a table could be written, listed, and read", async () => {
    const { status, body: made, headers } = await create();
    expect([status, made.details]).toEqual([201, undefined]);
    expect(made.data).toMatchObject({
      workspace_id: api.first.id,
      name: "Warehouse",
      connector_id: "conn_duckdb",
      credential_handle: null,
      status: "active",
      configuration: { file: "warehouse" },
      last_check: { status: "succeeded" },
      version: 1,
    });
    const { destination_id } = made.data;
    expect(headers.location).toBe(`/control/v1/destinations/${destination_id}`);
    expect((await api.call("GET", `/destinations/${destination_id}`)).body.data).toEqual(made.data);
    const listed = await api.call("GET", "/destinations?connector_id=conn_duckdb&limit=1");
    expect(listed.body.data.items).toEqual([made.data]);
    expect(
      (await api.call("GET", "/destinations?connector_id=conn_postgres_destination")).body.data
        .items,
    ).toEqual([]);
  });

  test("of two workspaces have files of their own, and are not seen by the other one", async () => {
    const { destination_id } = await make();
    const token = api.second.tokens.admin;
    for (const method of ["GET", "DELETE"] as const)
      expect((await api.call(method, `/destinations/${destination_id}`, { token })).status).toBe(
        404,
      );
    const patch = { token, body: { name: "Mine" } };
    expect((await api.call("PATCH", `/destinations/${destination_id}`, patch)).status).toBe(404);
    expect((await api.call("GET", "/destinations", { token })).body.data.items).toEqual([]);
    expect((await api.call("POST", "/destinations", { token, body: body() })).status).toBe(201);
  });

  test.each([
    ["no name", { name: undefined }, "validation_failed", "name"],
    ["a name of two lines", { name: "a\nb" }, "validation_failed", "name"],
    ["no connector", { connector_id: undefined }, "validation_failed", "connector_id"],
    [
      "a connector of a source",
      { connector_id: "conn_postgres" },
      "validation_failed",
      "connector_id",
    ],
    [
      "a path for a file",
      { configuration: { file: "../other" } },
      "invalid_configuration",
      "configuration.file",
    ],
    ["no file", { configuration: {} }, "invalid_configuration", "configuration.file"],
    [
      "a setting that it lacks",
      { configuration: { file: "a", x: 1 } },
      "invalid_configuration",
      "configuration.x",
    ],
    [
      "a secret",
      { configuration: { file: "a", password: "x" } },
      "secret_not_allowed",
      "configuration.password",
    ],
    ["a secret in the body", { password: "x" }, "secret_not_allowed", "password"],
    ["settings that are none", { configuration: [] }, "validation_failed", "configuration"],
    [
      "no credential where one is needed",
      { connector_id: "conn_postgres_destination" },
      "validation_failed",
      "credential_handle",
    ],
  ])("with %s are refused with the place, and nothing is saved", async (_, changes, reason, path) => {
    await api.call("GET", "/sources");
    const before = (await databaseRows(api.db)).destinations;
    const { status, body: answer } = await create(changes);
    expect([status, answer.details.reason]).toEqual([422, reason]);
    expect(answer.details.errors.map((fault: { path: string }) => fault.path)).toContain(path);
    expect((await databaseRows(api.db)).destinations).toEqual(before);
  });

  test("of an unknown connector or credential are not found", async () => {
    expect((await create({ connector_id: "conn_nothing" })).status).toBe(404);
    const { handle } = await addCredential(
      api,
      { password: "a-password-of-nobody" },
      { connectorId: "conn_postgres" },
    );
    const of = (credential_handle: string) =>
      create({ connector_id: "conn_postgres_destination", credential_handle });
    const other = `${handle.slice(0, -1)}${handle.endsWith("0") ? "1" : "0"}`;
    expect((await of(other)).status).toBe(404);
    expect((await of(handle)).body.details.reason).toBe("credential_mismatch");
  });

  test("are changed by a merge patch that is tested, and renamed without a test", async () => {
    const { destination_id } = await make();
    const patch = (change: object, headers = {}) =>
      api.call("PATCH", `/destinations/${destination_id}`, { body: change, headers });
    const renamed = await patch({ name: "Another name" });
    expect(renamed.body.data).toMatchObject({
      name: "Another name",
      version: 2,
      configuration: { file: "warehouse" },
    });
    const moved = await patch({ configuration: { file: "second" } });
    expect(moved.body.data).toMatchObject({ version: 3, configuration: { file: "second" } });
    const refused = await patch({ configuration: { file: "../third" } });
    expect(refused.body.details.reason).toBe("invalid_configuration");
    expect((await patch({ connector_id: "conn_duckdb" })).body.details.reason).toBe(
      "immutable_field",
    );
    expect((await patch({ name: "Late" }, { "if-match": '"v1"' })).status).toBe(412);
    expect((await patch({})).body.data.version).toBe(3);
  });

  test("are deleted once nothing uses them", async () => {
    const { destination_id } = await make();
    const id = createId("model");
    const at = new Date(0);
    await api.db
      .insertInto("reverse_etl_models")
      .values({
        id,
        workspace_id: api.first.id,
        name: "Model",
        destination_id,
        query_type: "raw_sql",
        sql: "SELECT 1 AS id",
        table_name: null,
        primary_key: "id",
        columns: "[]",
        created_at: at,
        updated_at: at,
      })
      .execute();
    const used = await api.call("DELETE", `/destinations/${destination_id}`);
    expect(used.body).toMatchObject({
      code: "409",
      details: { reason: "destination_in_use", model_ids: [id], connection_count: 0 },
    });
    await api.db.deleteFrom("reverse_etl_models").where("id", "=", id).execute();
    const deleted = await api.call("DELETE", `/destinations/${destination_id}`);
    expect([deleted.status, deleted.body.data.deleted]).toEqual([200, true]);
    expect((await api.call("DELETE", `/destinations/${destination_id}`)).status).toBe(404);
  });

  test("keep their credential from being deleted", async () => {
    const { destination_id } = await make();
    const credential = await addCredential(
      api,
      { password: "x" },
      { connectorId: "conn_postgres_destination" },
    );
    await api.db
      .updateTable("destinations")
      .set({ credential_id: credential.id })
      .where("id", "=", destination_id)
      .execute();
    const { body: answer } = await api.call("DELETE", `/credentials/${credential.id}`);
    expect(answer.details).toMatchObject({
      reason: "credential_in_use",
      destination_ids: [destination_id],
    });
  });

  test("of a connector that was disabled are not created", async () => {
    const updated_at = new Date(0);
    await api.db
      .insertInto("connector_settings")
      .values({ connector_id: "conn_duckdb", enabled: false, updated_at })
      .execute();
    const { body: answer } = await create();
    await api.db.deleteFrom("connector_settings").execute();
    expect(answer.details.reason).toBe("connector_disabled");
  });

  test("a password for one is stored like any other secret", async () => {
    const { status, body: answer } = await api.call("POST", "/credentials", {
      body: {
        connector_id: "conn_postgres_destination",
        auth_type: "basic",
        secrets: { password: "Correct-Horse-9" },
      },
    });
    expect([status, answer.data?.secret_fields]).toEqual([201, ["password"]]);
    expect((await api.call("DELETE", `/credentials/${answer.data.credential_id}`)).status).toBe(
      200,
    );
    const none = await api.call("POST", "/credentials", {
      body: { connector_id: "conn_duckdb", secrets: { password: "Correct-Horse-9" } },
    });
    expect(none.body.details.reason).toBe("validation_failed");
  });

  test("viewers see them, and change nothing", async () => {
    const token = api.first.tokens.viewer;
    expect((await api.call("GET", "/destinations", { token })).status).toBe(200);
    expect((await api.call("POST", "/destinations", { token, body: body() })).status).toBe(403);
  });
});
