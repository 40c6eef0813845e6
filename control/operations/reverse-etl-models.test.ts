import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addCredential } from "../../tests/control-rows.ts";
import { databaseText } from "../../tests/database-text.ts";
import { type ReverseEtl, startReverseEtl } from "../../tests/reverse-etl.ts";

describe("the configuration of reverse ETL", () => {
  let etl: ReverseEtl;
  let people: string;
  let hook: string;

  beforeAll(async () => {
    etl = await startReverseEtl({ jobs: "off" });
    await etl.sql(
      "CREATE TABLE people (id INTEGER, mail VARCHAR, first_name VARCHAR, api_token VARCHAR, amount DECIMAL(20,2)); INSERT INTO people SELECT i, 'person' || i || '@example.org', 'Ada', 'sk_live_51H8abcdefGHIJKLMNOPQR', i FROM range(30) t(i)",
    );
    people = await etl.model("SELECT * FROM people");
    hook = await etl.webhookDestination();
  });
  afterAll(() => etl?.[Symbol.asyncDispose]());

  const post = (path: string, body: object) =>
    etl.api.call("POST", `/reverse-etl${path}`, { body });
  const patch = (path: string, body: object) =>
    etl.api.call("PATCH", `/reverse-etl${path}`, { body });
  const remove = (path: string) => etl.api.call("DELETE", `/reverse-etl${path}`);
  const model = (sql: string, rest: object = {}) => ({
    name: "M",
    warehouseId: etl.warehouse,
    raw: { sql },
    primaryKey: "id",
    ...rest,
  });
  const reasonOf = ({
    status,
    body,
  }: {
    readonly status: number;
    readonly body: { readonly details?: { readonly reason?: string } };
  }) => [status, body.details?.reason];

  describe("a preview of a query", () => {
    const preview = (sql: string, rest: object = {}) =>
      post("/models/preview", { warehouseId: etl.warehouse, raw: { sql }, ...rest });

    test("shows its columns and masked rows, and saves nothing", async () => {
      const before = await databaseText(etl.api.db);
      const { status, body } = await preview("SELECT * FROM people ORDER BY id");
      expect(status).toBe(200);
      expect(body.data.columns).toEqual([
        { name: "id", type: "INTEGER" },
        { name: "mail", type: "VARCHAR" },
        { name: "first_name", type: "VARCHAR" },
        { name: "api_token", type: "VARCHAR" },
        { name: "amount", type: "DECIMAL(20,2)" },
      ]);
      expect([body.data.rows.length, body.data.hasMore]).toEqual([30, false]);
      expect(body.data.rows[7].slice(0, 4)).toEqual([7, "***@example.org", "A***", "[hidden]"]);
      expect(JSON.stringify(body)).not.toContain("sk_live");
      expect((await databaseText(etl.api.db)).includes("ORDER BY id")).toBe(
        before.includes("ORDER BY id"),
      );
    });

    test("shows fifty rows of many, of a table too", async () => {
      const { body } = await preview("SELECT * FROM range(5000) t(i)");
      expect([body.data.rows.length, body.data.hasMore]).toEqual([50, true]);
      const table = await post("/models/preview", {
        warehouse_id: etl.warehouse,
        query_type: "table",
        table: { name: "people" },
      });
      expect(table.body.data.rows.length).toBe(30);
      expect((await preview("SELECT * FROM range(50) t(i)")).body.data.hasMore).toBe(false);
    });

    test.each([
      ["DELETE FROM people", "query_refused"],
      ["SELECT 1; SELECT 2", "query_refused"],
      ["SELECT * FROM read_csv('/etc/passwd')", "query_refused"],
      ["SELECT 1 AS a, 2 AS a", "query_refused"],
      ["SELECT nothing FROM people", "query_failed"],
    ])("refuses what a model refuses: %s", async (sql, reason) => {
      const created = await post("/models", model(sql));
      const answer = await preview(sql);
      expect([answer.status, answer.body.details.reason]).toEqual([422, reason]);
      expect(created.body.details.reason).toBe(reason);
    });

    test("is not for those who may only look, and of no other workspace's warehouse", async () => {
      const body = { warehouseId: etl.warehouse, raw: { sql: "SELECT 1 AS id" } };
      const as = (token: string) =>
        etl.api.call("POST", "/reverse-etl/models/preview", { body, token });
      const { first, second } = etl.api;
      expect((await as(first.tokens.viewer)).status).toBe(403);
      expect((await as(first.tokens.runner)).status).toBe(200);
      expect((await as(second.tokens.admin)).status).toBe(404);
    });
  });

  test("a model knows the columns of its query, and takes every name of its warehouse in either case", async () => {
    const forms = [
      { destinationId: etl.warehouse },
      { warehouseId: etl.warehouse },
      { warehouse_id: etl.warehouse },
      { source_id: etl.warehouse },
    ];
    for (const form of forms) {
      const answer = await post("/models", {
        name: "M",
        query_type: "raw_sql",
        raw: { sql: "SELECT 1 AS id, 'x' AS label" },
        primary_key: "id",
        ...form,
      });
      expect(answer.body.data).toMatchObject({
        warehouseId: etl.warehouse,
        queryType: "raw_sql",
        primaryKey: "id",
        activationIds: [],
        version: 1,
        table: null,
        columns: [
          { name: "id", type: "INTEGER" },
          { name: "label", type: "VARCHAR" },
        ],
      });
    }
    expect(
      reasonOf(await post("/models", model("SELECT 1 AS id", { destinationId: etl.warehouse }))),
    ).toEqual([422, "duplicate_field"]);
    const { primaryKey: _, ...without } = model("SELECT 1 AS id");
    expect((await post("/models", without)).body.details).toMatchObject({
      reason: "validation_failed",
      errors: [{ path: "primaryKey" }],
    });
    expect(reasonOf(await post("/models", model("SELECT 1 AS other")))).toEqual([
      422,
      "validation_failed",
    ]);
    expect(
      (
        await post("/models", {
          ...model("x"),
          raw: undefined,
          queryType: "table",
          table: { name: "main.people" },
        })
      ).body.data,
    ).toMatchObject({ table: { name: "main.people" }, raw: null });
  });

  test.each([
    ["a write", "INSERT INTO people VALUES (1)"],
    ["a delete with rows", "DELETE FROM people RETURNING *"],
    ["a table that is made", "CREATE TABLE mine AS SELECT 1 AS id"],
    ["a table that goes", "DROP TABLE people"],
    ["two statements", "SELECT 1 AS id; DROP TABLE people"],
    ["a write after a comment", "SELECT 1 AS id /* */; DELETE FROM people"],
    ["a file that is read", "SELECT 1 AS id, content FROM read_text('/etc/passwd')"],
    ["a file as a table", "SELECT 1 AS id FROM '/etc/passwd'"],
    ["a file that is written", "COPY people TO '/tmp/svc-people.csv'"],
    ["another database", "ATTACH '/tmp/other.duckdb' AS other"],
    ["an extension", "INSTALL httpfs"],
    ["a setting", "SET memory_limit = '1MB'"],
    ["a pragma", "PRAGMA database_list"],
    ["nothing", "   "],
    ["no SQL", "this is no SQL"],
    ["an unknown table", "SELECT * FROM nowhere"],
    ["the network", "SELECT 1 AS id FROM 'https://example.com/x.parquet'"],
  ])("a query that is %s is refused, and nothing of it happens", async (_, sql) => {
    const before = await etl.api.db.selectFrom("reverse_etl_models").select("id").execute();
    const answer = await post("/models", model(sql));
    expect(answer.status).toBe(422);
    expect(["query_refused", "query_failed"]).toContain(answer.body.details.reason);
    expect(answer.text).not.toContain("root:");
    expect(await etl.api.db.selectFrom("reverse_etl_models").select("id").execute()).toHaveLength(
      before.length,
    );
    expect((await post("/models", model("SELECT id FROM people"))).status).toBe(201);
  });

  test("a model keeps its warehouse; a changed query is tried first", async () => {
    const id = await etl.model("SELECT id FROM people");
    expect(reasonOf(await patch(`/models/${id}`, { warehouseId: etl.warehouse }))).toEqual([
      422,
      "immutable_field",
    ]);
    expect(reasonOf(await patch(`/models/${id}`, { raw: { sql: "DROP TABLE people" } }))).toEqual([
      422,
      "query_refused",
    ]);
    const changed = await patch(`/models/${id}`, { raw: { sql: "SELECT id, mail FROM people" } });
    expect(changed.body.data).toMatchObject({
      version: 2,
      columns: [{ name: "id" }, { name: "mail" }],
    });
    expect((await patch(`/models/${id}`, { name: "Renamed" })).body.data).toMatchObject({
      name: "Renamed",
      version: 3,
    });
    expect((await remove(`/models/${id}`)).body.data).toMatchObject({ modelId: id, deleted: true });
    expect((await remove(`/models/${id}`)).status).toBe(404);
  });

  test.each([
    ["plain HTTP", "http://hooks.example.com/x", "scheme"],
    ["an address", "https://93.184.215.14/x", "host"],
    ["this machine", "https://localhost/x", "host"],
    ["a private name", "https://db.internal/x", "host"],
    ["another port", "https://hooks.example.com:8443/x", "port"],
    ["user-info", "https://user:secret-word@hooks.example.com/x", "userinfo"],
    ["a query", "https://hooks.example.com/x?token=secret-word", "query"],
    ["a fragment", "https://hooks.example.com/x#y", "fragment"],
    ["dot segments", "https://hooks.example.com/a/%2e%2e/b", "path"],
    ["a backslash", "https://hooks.example.com\\@evil.example.com/", "syntax"],
  ])("a webhook URL with %s is refused before anything is asked", async (_, url, rule) => {
    const { handle } = await addCredential(
      etl.api,
      { signing_secret: etl.webhook.secret },
      { connectorId: "conn_webhook" },
    );
    const answer = await post("/destinations", {
      name: "Hook",
      type: "webhook",
      credentialHandle: handle,
      configuration: { url },
    });
    expect(answer.body.details).toMatchObject({
      reason: "invalid_base_url",
      rule,
      errors: [{ path: "configuration.url" }],
    });
    expect(answer.text).not.toContain("secret-word");
  });

  test("a destination needs a credential of its type, and shows no secret", async () => {
    const { handle } = await addCredential(etl.api, { api_token: etl.mailer.token });
    const hookBody = {
      name: "Hook",
      type: "webhook",
      credential_handle: handle,
      configuration: { url: etl.webhook.url },
    };
    expect(reasonOf(await post("/destinations", hookBody))).toEqual([422, "credential_mismatch"]);
    const made = await post("/destinations", {
      ...hookBody,
      type: "mailer",
      configuration: { base_url: etl.mailer.baseUrl },
    });
    expect([made.status, made.body.data.configuration]).toEqual([
      201,
      { base_url: etl.mailer.baseUrl },
    ]);
    const bad = await addCredential(etl.api, { api_token: etl.mailer.badToken });
    const refused = await post("/destinations", {
      ...hookBody,
      credential_handle: bad.handle,
      type: "mailer",
      configuration: { base_url: etl.mailer.baseUrl },
    });
    expect(reasonOf(refused)).toEqual([422, "connection_check_failed"]);
    const secret = {
      ...hookBody,
      type: "mailer",
      configuration: { base_url: etl.mailer.baseUrl, api_token: "a-token-in-the-wrong-place" },
    };
    const refusal = await post("/destinations", secret);
    expect([reasonOf(refusal), refusal.text.includes("wrong-place")]).toEqual([
      [422, "secret_not_allowed"],
      false,
    ]);
    const inUse = await etl.api.call("GET", "/reverse-etl/destinations");
    expect(inUse.text).not.toContain(etl.mailer.token);
    expect(await databaseText(etl.api.db)).not.toContain(etl.webhook.secret);
  });

  test("a credential of a webhook is made like any other, and one that is used stays", async () => {
    const body = {
      connector_id: "conn_webhook",
      name: "Signing",
      secrets: { signing_secret: etl.webhook.secret },
    };
    const credential = await etl.must("POST", "/credentials", body);
    expect(credential.secret_fields).toEqual(["signing_secret"]);
    const destination = {
      name: "Hook",
      type: "webhook",
      credentialHandle: credential.credential_handle,
      configuration: { url: etl.webhook.url },
    };
    const { destinationId } = await etl.must("POST", "/reverse-etl/destinations", destination);
    const used = await etl.api.call("DELETE", `/credentials/${credential.credential_id}`);
    expect(used.body.details).toMatchObject({
      reason: "credential_in_use",
      reverse_etl_destination_ids: [destinationId],
    });
    const short = await etl.must("POST", "/credentials", {
      ...body,
      secrets: { signing_secret: "too-short" },
    });
    const refused = await post("/destinations", {
      ...destination,
      credentialHandle: short.credential_handle,
    });
    expect(refused.body.details).toMatchObject({
      reason: "connection_check_failed",
      check: { error: "CONFIG_INVALID" },
      errors: [{ path: "signing_secret", reason: "invalid" }],
    });
  });

  const key = { from: "id", to: "id", isPrimaryIdentifier: true };
  const activation = (rest: object) => ({
    name: "A",
    modelId: people,
    destinationId: hook,
    object: "rows",
    operation: "upsert",
    mappings: [key],
    ...rest,
  });

  test.each<[string, object, string]>([
    [
      "a column that is not there",
      { mappings: [key, { from: "nowhere", to: "x" }] },
      "mappings.1.from",
    ],
    ["a field twice", { mappings: [key, { from: "mail", to: "id" }] }, "mappings.1.to"],
    ["no identifier", { mappings: [{ from: "id", to: "id" }] }, "mappings"],
    [
      "two identifiers",
      { mappings: [key, { from: "mail", to: "mail", is_primary_identifier: true }] },
      "mappings.1.isPrimaryIdentifier",
    ],
    [
      "an identifier where rows are only added",
      { operation: "append" },
      "mappings.0.isPrimaryIdentifier",
    ],
    ["an object that is not there", { object: "columns" }, "object"],
  ])("an activation with %s is refused, naming the place", async (_, rest, path) => {
    const answer = await post("/activations", activation(rest));
    expect([answer.status, answer.body.details]).toMatchObject([
      422,
      { reason: "invalid_mapping", errors: [{ path }] },
    ]);
  });

  test("an activation holds what it uses, and has a schedule", async () => {
    const schedule = { type: "cron", cron_expression: "0 6 * * *", cron_timezone: "Europe/Berlin" };
    const made = await post("/activations", activation({ schedule }));
    expect(made.body.data).toMatchObject({
      status: "active",
      schedule,
      lastRunId: null,
      mappings: [key],
    });
    const { activationId, nextRunAt } = made.body.data;
    expect(Date.parse(nextRunAt)).toBeGreaterThan(Date.now());
    expect((await remove(`/models/${people}`)).body.details).toMatchObject({
      reason: "model_has_activations",
      activationIds: [activationId],
    });
    expect((await remove(`/destinations/${hook}`)).body.details).toMatchObject({
      reason: "destination_has_activations",
    });
    expect((await etl.api.call("DELETE", `/destinations/${etl.warehouse}`)).status).toBe(409);
    const paused = await patch(`/activations/${activationId}`, { status: "paused" });
    expect(paused.body.data).toMatchObject({ status: "paused", nextRunAt: null, version: 2 });
    expect(reasonOf(await patch(`/activations/${activationId}`, { model_id: people }))).toEqual([
      422,
      "immutable_field",
    ]);
    expect(
      reasonOf(
        await post(
          "/activations",
          activation({ schedule: { type: "cron", cron_expression: "* * * * *" } }),
        ),
      ),
    ).toEqual([422, "invalid_schedule"]);
    expect((await remove(`/activations/${activationId}`)).body.data).toMatchObject({
      deleted: true,
    });
  });

  test("prepare suggests mappings, names what is wrong, and shows rows without what is personal or secret", async () => {
    const { body } = await post("/prepare", { modelId: people, destinationId: hook });
    expect(body.data).toMatchObject({
      valid: true,
      issues: [],
      operation: "upsert",
      objects: [{ name: "rows", id: null }],
    });
    expect(body.data.mappings[0]).toEqual(key);
    const { fields, rows, plannedRows } = body.data.preview;
    expect([fields, rows.length, plannedRows]).toEqual([
      ["id", "mail", "first_name", "api_token", "amount"],
      10,
      { addedCount: 30, changedCount: 0, removedCount: 0 },
    ]);
    expect(rows[3].slice(0, 4)).toEqual([3, "***@example.org", "A***", "[hidden]"]);
    const mapped = await post("/prepare", {
      model_id: people,
      destination_id: hook,
      mappings: [{ from: "gone", to: "x" }],
    });
    expect(mapped.body.data).toMatchObject({
      valid: false,
      issues: [{ path: "mappings.0.from" }, { path: "mappings" }],
    });
    const again = await post("/prepare", { modelId: people, destinationId: hook });
    expect(again.body.data.digest).toBe(body.data.digest);
    const lists = await post("/prepare", {
      modelId: people,
      destinationId: await etl.mailerDestination(),
    });
    expect(lists.body.data).toMatchObject({
      valid: false,
      issues: [{ path: "object" }, { path: "mappings" }],
    });
    expect(lists.body.data.objects).toHaveLength(2);
  });
});
