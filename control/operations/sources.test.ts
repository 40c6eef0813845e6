import { PGlite } from "@electric-sql/pglite";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startMailer } from "../../simulators/mailer/mailer.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential } from "../../tests/control-rows.ts";
import { databaseRows } from "../../tests/database-text.ts";
import { createId } from "../contract/ids.ts";

describe("sources", () => {
  let api: TestControl;
  let mailer: Awaited<ReturnType<typeof startMailer>>;
  let handle: string;

  beforeAll(async () => {
    mailer = await startMailer({ seed: 3, campaigns: 5, lists: 1, subscribersPerList: 5 });
    api = await startTestControl({
      seams: mailer.seams,
      sandbox: "inline",
      settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
    });
    handle = (await addCredential(api, { api_token: mailer.token })).handle;
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await mailer?.[Symbol.asyncDispose]();
  });

  const body = (changes: object = {}) => ({
    name: "Our mailer",
    connector_id: "conn_mailer_product_edm",
    credential_handle: handle,
    configuration: { base_url: mailer.baseUrl },
    ...changes,
  });

  test("are created after a connection test, and listed", async () => {
    const created = await api.call("POST", "/sources", { body: body() });
    expect(created.body).toMatchObject({
      data: { name: "Our mailer", status: "active", version: 1, credential_handle: handle },
    });
    expect(created.status).toBe(201);
    expect(created.headers.etag).toBe('"v1"');
    const id = created.body.data.source_id;
    expect(created.headers.location).toBe(`/control/v1/sources/${id}`);
    const listed = await api.call("GET", "/sources");
    expect(listed.body.data.items.map((one: { source_id: string }) => one.source_id)).toContain(id);
    expect(created.body.request_id).not.toBe(listed.body.request_id);
    const entries = await api.db.selectFrom("audit_logs").selectAll().execute();
    expect(entries).toMatchObject([
      { action: "source.create", outcome: "success", resource_id: id },
    ]);
  });

  test("what the guard has found is not looked up again", async () => {
    await api.call("POST", "/sources", { body: body() });
    using asked = vi.spyOn(PGlite.prototype, "query");
    const { status } = await api.call("POST", "/sources", { body: body() });
    const lookUps = (table: string) =>
      asked.mock.calls.filter(([text]) => text.includes(`from "${table}"`)).length;
    expect(status).toBe(201);
    // Once by the guard; and once more by the commit, when nobody else can change it any more.
    expect(lookUps("connector_settings")).toBe(2);
    expect(lookUps("credentials")).toBe(2);
  });

  test("of another workspace do not exist", async () => {
    const created = await api.call("POST", "/sources", { body: body() });
    const foreign = await api.call("GET", `/sources/${created.body.data.source_id}`, {
      token: api.second.tokens.admin,
    });
    const unknown = await api.call("GET", "/sources/src_0000000000000000000000", {
      token: api.second.tokens.admin,
    });
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, request_id: "" }).toEqual({ ...unknown.body, request_id: "" });
  });

  test("a request that is repeated with its Idempotency-Key has one effect", async () => {
    const headers = { "idempotency-key": "once" };
    const [first, second] = await Promise.all([
      api.call("POST", "/sources", { body: body(), headers }),
      api.call("POST", "/sources", { body: body(), headers }),
    ]);
    expect([first.status, second.status].sort()).toEqual([201, 409]);
    const again = await api.call("POST", "/sources", { body: body(), headers });
    expect(again.status).toBe(201);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    const other = await api.call("POST", "/sources", { body: body({ name: "Other" }), headers });
    expect(other.body).toMatchObject({
      code: "422",
      details: { reason: "idempotency_key_reused" },
    });
  });
});

describe("a source", () => {
  let api: TestControl;
  let mailer: Awaited<ReturnType<typeof startMailer>>;
  let handle: string;

  beforeAll(async () => {
    mailer = await startMailer({ seed: 3, campaigns: 5, lists: 1, subscribersPerList: 5 });
    api = await startTestControl({
      seams: mailer.seams,
      sandbox: "inline",
      settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
    });
    handle = (await addCredential(api, { api_token: mailer.token })).handle;
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await mailer?.[Symbol.asyncDispose]();
  });

  const body = (changes: object = {}) => ({
    name: "Our mailer",
    connector_id: "conn_mailer_product_edm",
    credential_handle: handle,
    configuration: { base_url: mailer.baseUrl },
    ...changes,
  });
  const create = async (changes: object = {}) =>
    (await api.call("POST", "/sources", { body: body(changes) })).body.data;
  const patch = (id: string, changes: object, headers = {}) =>
    api.call("PATCH", `/sources/${id}`, { body: changes, headers });
  const requestCount = () => mailer.requests.length;

  describe("that is created", () => {
    test("takes the mailer's settings beside the configuration or in it, and not in both places", async () => {
      const named = {
        configuration: { page_size: 10 },
        base_url: "HTTPS://Mail.example.com:443/api",
      };
      const created = await create({ ...named, connection_method: "self_hosted" });
      expect(created.configuration).toEqual({
        page_size: 10,
        base_url: "https://mail.example.com/api",
        connection_method: "self_hosted",
      });
      const twice = await api.call("POST", "/sources", {
        body: body({ base_url: mailer.baseUrl }),
      });
      expect(twice.body).toMatchObject({
        code: "422",
        details: { reason: "duplicate_field", errors: [{ path: "base_url" }] },
      });
      const other = await api.call("POST", "/sources", { body: body({ portal_id: "1" }) });
      expect(other.body).toMatchObject({
        details: { reason: "validation_failed", errors: [{ path: "portal_id" }] },
      });
    });

    test("by the id of an old configuration has the connector's own, and a header says so", async () => {
      const old = await api.call("POST", "/sources", {
        body: body({ connector_id: "source:mailer" }),
      });
      expect([old.status, old.headers.deprecation]).toEqual([201, expect.stringMatching(/^@\d+$/)]);
      expect(old.body.data.connector_id).toBe("conn_mailer_product_edm");
      expect(old.text).not.toContain("source:mailer");
      const listed = await api.call("GET", "/sources?connector_id=source:mailer");
      expect(listed.headers.deprecation).toMatch(/^@\d+$/);
      expect(listed.body.data.items.length).toBeGreaterThan(0);
      expect((await api.call("GET", "/sources?connector_id=conn_social")).body.data.items).toEqual(
        [],
      );
      expect(
        (await api.call("POST", "/sources", { body: body({ connector_id: "source:nobody" }) }))
          .status,
      ).toBe(404);
    });

    test("with a connection that fails is not saved", async () => {
      const bad = await addCredential(api, { api_token: mailer.badToken });
      const before = await databaseRows(api.db);
      const { body: answer } = await api.call("POST", "/sources", {
        body: body({ credential_handle: bad.handle }),
      });
      expect(answer).toMatchObject({
        code: "422",
        details: {
          reason: "connection_check_failed",
          check: { status: "failed", error: "CREDENTIALS_REJECTED", message: expect.any(String) },
        },
      });
      expect((await databaseRows(api.db)).sources).toBe(before.sources);
    });

    test.each([
      [{ page_size: 0 }, "configuration.page_size"],
      [{ page_size: "10" }, "configuration.page_size"],
      [{ campaign_status: "lost" }, "configuration.campaign_status"],
      [{ colour: "red" }, "configuration.colour"],
    ])("with settings that do not fit is refused before anybody is asked: %j", async (settings, path) => {
      const before = requestCount();
      const configuration = { base_url: mailer.baseUrl, ...settings };
      const refused = await api.call("POST", "/sources", { body: body({ configuration }) });
      expect(refused.body).toMatchObject({
        code: "422",
        details: {
          reason: "invalid_configuration",
          errors: [{ path, reason: "invalid_configuration" }],
        },
      });
      const proposed = { "x-svc-execution-mode": "proposal" };
      const proposal = await api.call("POST", "/sources", {
        body: body({ configuration }),
        headers: proposed,
      });
      expect(proposal.body.details.reason).toBe("invalid_configuration");
      expect(requestCount()).toBe(before);
    });

    test.each([
      [{ configuration: { api_token: "canary-in-the-wrong-place" } }, "configuration.api_token"],
      [{ configuration: { API_KEY: "canary-in-the-wrong-place" } }, "configuration.API_KEY"],
      [
        { configuration: { auth: { Authorization: "canary-in-the-wrong-place" } } },
        "configuration.auth.Authorization",
      ],
      [
        { configuration: { list: [{ private_key: "canary-in-the-wrong-place" }] } },
        "configuration.list.0.private_key",
      ],
      [{ configuration: { "canary-in-the-wrong-place-password": 1 } }, "configuration"],
      [{ api_token: "canary-in-the-wrong-place" }, "api_token"],
      [{ credential: { password: "canary-in-the-wrong-place" } }, "credential"],
    ])("with a secret where none belongs is refused by its place: %#", async (changes, path) => {
      for (const send of [
        () => api.call("POST", "/sources", { body: body(changes) }),
        async () => patch((await create()).source_id, changes),
      ]) {
        const { body: answer, text } = await send();
        expect(answer).toMatchObject({
          code: "422",
          details: { reason: "secret_not_allowed", errors: [{ path }] },
        });
        expect(text).not.toContain("canary");
      }
      expect(JSON.stringify(await databaseRows(api.db))).not.toContain("canary-in");
    });

    test("whose name or setting is a secret of its credential is refused", async () => {
      for (const [changes, path] of [
        [{ name: mailer.token }, "name"],
        [
          {
            configuration: { base_url: mailer.baseUrl, lookback_days: 3 },
            name: `mine: ${mailer.token}`,
          },
          "name",
        ],
      ] as const) {
        const { body: answer, text } = await api.call("POST", "/sources", { body: body(changes) });
        expect(answer).toMatchObject({
          details: { reason: "secret_not_allowed", errors: [{ path }] },
        });
        expect(text).not.toContain(mailer.token);
      }
    });

    test("needs a usable credential of the same connector and workspace", async () => {
      const social = await addCredential(
        api,
        { refresh_token: "x" },
        { connectorId: "conn_social" },
      );
      const other = await api.call("POST", "/sources", {
        body: body({ credential_handle: social.handle }),
      });
      expect(other.body.details.reason).toBe("credential_mismatch");
      const revoked = await addCredential(api, { api_token: mailer.token });
      await api.db
        .updateTable("credentials")
        .set({ status: "revoked" })
        .where("id", "=", revoked.id)
        .execute();
      const ended = await api.call("POST", "/sources", {
        body: body({ credential_handle: revoked.handle }),
      });
      expect([ended.status, ended.body.details.reason]).toEqual([424, "credential_not_usable"]);
      const foreign = await api.call("POST", "/sources", {
        body: body(),
        token: api.second.tokens.admin,
      });
      const unknown = body({
        credential_handle: `${handle.slice(0, -1)}${handle.endsWith("0") ? "1" : "0"}`,
      });
      const missing = await api.call("POST", "/sources", {
        body: unknown,
        token: api.second.tokens.admin,
      });
      expect(foreign.status).toBe(404);
      expect({ ...foreign.body, request_id: "" }).toEqual({ ...missing.body, request_id: "" });
    });
  });

  describe("that is changed", () => {
    test("in its name alone keeps settings and credential, and is not tested again", async () => {
      const before = await create();
      const asked = requestCount();
      const {
        status,
        headers,
        body: answer,
      } = await patch(before.source_id, { name: "Newsletter" });
      expect([status, headers.etag]).toEqual([200, '"v2"']);
      expect(requestCount()).toBe(asked);
      const { name: _name, version: _version, updated_at: _updatedAt, ...rest } = before;
      expect(answer.data).toMatchObject({ ...rest, name: "Newsletter", version: 2 });
    });

    test("takes a merge patch: null takes away, the rest stays", async () => {
      const before = await create({
        configuration: { base_url: mailer.baseUrl, page_size: 10, lookback_days: 3 },
      });
      const asked = requestCount();
      const { body: answer } = await patch(before.source_id, {
        configuration: { page_size: null, include_html: true },
      });
      expect(answer.data.configuration).toEqual({
        base_url: mailer.baseUrl,
        lookback_days: 3,
        include_html: true,
      });
      expect(requestCount()).toBeGreaterThan(asked);
      const named = await patch(before.source_id, { connection_method: "self_hosted" });
      expect(named.body.data.configuration.connection_method).toBe("self_hosted");
      const gone = await patch(before.source_id, { connection_method: null });
      expect(gone.body.data.configuration).not.toHaveProperty("connection_method");
      const needed = await patch(before.source_id, { configuration: { base_url: null } });
      expect(needed.body.details.reason).toBe("invalid_base_url");
    });

    test("is tested before it is saved", async () => {
      const before = await create();
      const bad = await addCredential(api, { api_token: mailer.badToken });
      const failed = await patch(before.source_id, {
        credential_handle: bad.handle,
        name: "Never",
      });
      expect(failed.body.details.reason).toBe("connection_check_failed");
      expect((await api.call("GET", `/sources/${before.source_id}`)).body.data).toEqual(before);
      const good = await addCredential(api, { api_token: mailer.token });
      const changed = await patch(before.source_id, { credential_handle: good.handle });
      expect(changed.body.data).toMatchObject({ credential_handle: good.handle, version: 2 });
    });

    test.each([
      "conn_mailer_product_edm",
      "conn_social",
      null,
      7,
    ])("keeps its connector: connector_id %j", async (connector) => {
      const { source_id } = await create();
      const { body: answer } = await patch(source_id, { connector_id: connector });
      expect(answer).toMatchObject({
        code: "422",
        details: { reason: "immutable_field", errors: [{ path: "connector_id" }] },
      });
    });

    test("only in the version that the request knows", async () => {
      const { source_id } = await create();
      expect((await patch(source_id, { name: "A" }, { "if-match": '"v1"' })).status).toBe(200);
      const late = await patch(source_id, { name: "B" }, { "if-match": '"v1"' });
      expect([late.status, late.body.details]).toEqual([
        412,
        { reason: "version_mismatch", version: 2 },
      ]);
      expect((await patch(source_id, {}, { "if-match": '"v2"' })).body.data).toMatchObject({
        name: "A",
        version: 2,
      });
    });

    test("by two requests at once loses neither's settings", async () => {
      const { source_id } = await create();
      const answers = await Promise.all([
        patch(source_id, { configuration: { page_size: 7 } }),
        patch(source_id, { configuration: { lookback_days: 9 } }),
      ]);
      const failed = answers.filter(({ status }) => status !== 200);
      for (const { status, body: answer } of failed)
        expect([status, answer.details.reason]).toEqual([409, "concurrent_change"]);
      const { configuration } = (await api.call("GET", `/sources/${source_id}`)).body.data;
      expect(Object.keys(configuration)).toHaveLength(1 + answers.length - failed.length);
    });
  });

  describe("that is deleted", () => {
    const remove = (id: string, options = {}) => api.call("DELETE", `/sources/${id}`, options);

    test("is gone, which is verified", async () => {
      const { source_id } = await create();
      const { status, body: answer } = await remove(source_id);
      expect([status, answer.data]).toEqual([
        200,
        {
          source_id,
          deleted: true,
          post_delete_verified: true,
          deleted_at: expect.stringMatching(/Z$/),
        },
      ]);
      expect((await api.call("GET", `/sources/${source_id}`)).status).toBe(404);
      expect((await remove(source_id)).status).toBe(404);
      const credential = await api.db
        .selectFrom("credentials")
        .select("status")
        .where("handle", "=", handle)
        .execute();
      expect(credential).toEqual([{ status: "active" }]);
    });

    test("must have no connections", async () => {
      const { source_id } = await create();
      const ids = [createId("connection"), createId("connection")];
      const rows = ids.map((id) => ({
        id,
        workspace_id: api.first.id,
        pipeline_id: createId("pipeline"),
        source_id,
        created_at: new Date(0),
      }));
      await api.db.insertInto("connections").values(rows).execute();
      const { body: answer } = await remove(source_id);
      expect(answer).toMatchObject({
        code: "409",
        details: { reason: "source_has_connections", connection_count: 2 },
      });
      expect(answer.details.connection_ids.sort()).toEqual(ids.sort());
      expect((await api.call("GET", `/sources/${source_id}`)).status).toBe(200);
      await api.db.deleteFrom("connections").execute();
      expect((await remove(source_id)).status).toBe(200);
    });

    test("only in the version that the request knows", async () => {
      const { source_id } = await create();
      expect((await remove(source_id, { headers: { "if-match": '"v2"' } })).status).toBe(412);
      expect((await remove(source_id, { headers: { "if-match": '"v1"' } })).status).toBe(200);
    });
  });

  test("of another workspace cannot be told from one that does not exist", async () => {
    const { source_id } = await create();
    const token = api.second.tokens.admin;
    const unknown = "src_0000000000000000000000";
    const asks = (id: string) => [
      api.call("GET", `/sources/${id}`, { token }),
      api.call("PATCH", `/sources/${id}`, { token, body: { name: "Mine" } }),
      api.call("PATCH", `/sources/${id}`, { token, body: { configuration: { page_size: 1 } } }),
      api.call("DELETE", `/sources/${id}`, { token }),
      api.call("POST", `/sources/${id}/check`, { token }),
      api.call("POST", "/sources/entities", { token, body: { source_id: id } }),
    ];
    const foreign = await Promise.all(asks(source_id));
    const missing = await Promise.all(asks(unknown));
    expect(foreign.map(({ status }) => status)).toEqual(foreign.map(() => 404));
    const plain = (answers: typeof foreign) =>
      answers.map(({ body: answer }) => ({ ...answer, request_id: "" }));
    expect(plain(foreign)).toEqual(plain(missing));
    expect((await api.call("GET", `/sources/${source_id}`)).body.data.version).toBe(1);
  });

  test("of a disabled connector stays; new ones and changes are refused", async () => {
    const { source_id } = await create();
    const row = {
      connector_id: "conn_mailer_product_edm",
      enabled: false,
      updated_at: new Date(0),
    };
    await api.db.insertInto("connector_settings").values(row).execute();
    try {
      const refused = await Promise.all([
        api.call("POST", "/sources", { body: body() }),
        patch(source_id, { configuration: { page_size: 5 } }),
        api.call("POST", "/connectors/mailer/check", {
          body: { credential_handle: handle, base_url: mailer.baseUrl },
        }),
        api.call("POST", "/credentials/mailer/api-token", {
          body: { api_token: "a-token-of-no-account" },
        }),
      ]);
      for (const { status, body: answer } of refused)
        expect([status, answer.details.reason]).toEqual([409, "connector_disabled"]);
      expect((await patch(source_id, { name: "Still mine" })).status).toBe(200);
      expect((await api.call("GET", `/sources/${source_id}`)).body.data.status).toBe("active");
      expect((await api.call("DELETE", `/sources/${source_id}`)).status).toBe(200);
    } finally {
      await api.db.deleteFrom("connector_settings").execute();
    }
  });
});
