import { createScaledClock, createSecretRegistry } from "svc-connectors/host";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startMailer } from "../../simulators/mailer/mailer.ts";
import type { Fault, FaultScope } from "../../simulators/simulator/faults.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import { databaseRows, databaseText } from "../../tests/database-text.ts";
import { secretOwner } from "../credentials/stored-secret.ts";
import type { LogFields } from "../services/log.ts";

type Status = { stream: string; available: boolean; fields: { field: string; status: string }[] };

describe("the mailer", () => {
  let api: TestControl;
  let mailer: Awaited<ReturnType<typeof startMailer>>;
  let handle: string;
  const logged: string[] = [];
  const write = (message: string, fields?: LogFields) =>
    void logged.push(JSON.stringify({ message, ...fields }));

  beforeAll(async () => {
    mailer = await startMailer({
      seed: 3,
      campaigns: 500,
      sends: 500,
      lists: 2,
      subscribersPerList: 5,
    });
    api = await startTestControl({
      seams: mailer.seams,
      sandbox: "inline",
      http: { maxAttempts: 1, maxRateLimitWaitMs: 100 },
      log: { info: write, warn: write, error: write },
      settings: {
        network: { approvedHosts: ["mail.example.com", "mail.example.org"], allowNetworks: [] },
      },
    });
    handle = (await addCredential(api, { api_token: mailer.token })).handle;
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await mailer?.[Symbol.asyncDispose]();
  });
  afterEach(() => mailer.faults.clear());

  const account = (changes: object = {}) => ({
    credential_handle: handle,
    base_url: mailer.baseUrl,
    ...changes,
  });
  const check = (changes: object = {}, options = {}) =>
    api.call("POST", "/connectors/mailer/check", { body: account(changes), ...options });
  const preview = (changes: object = {}, options = {}) =>
    api.call("POST", "/connectors/mailer/edm/preview", { body: account(changes), ...options });
  const store = (body: object, options = {}) =>
    api.call("POST", "/credentials/mailer/api-token", {
      body: { api_token: mailer.token, ...body },
      ...options,
    });

  describe("token", () => {
    test("is stored, and is nowhere but in the vault", async () => {
      const before = new Set(Object.keys(await databaseRows(api.db)));
      const { status, headers, body, text } = await store({ name: "Newsletter" });
      expect(status).toBe(201);
      expect(body.data).toEqual({
        credential_handle: expect.stringMatching(/^ch_[0-9A-Za-z]{36}$/),
        credential_id: expect.stringMatching(/^cred_/),
        connector_id: "conn_mailer_product_edm",
        connection_method: "self_hosted",
        status: "active",
      });
      expect(headers.location).toBe(`/control/v1/credentials/${body.data.credential_id}`);
      expect(text).not.toContain(mailer.token);
      expect(before.has("secrets")).toBe(true);
      expect(await databaseText(api.db)).not.toContain(mailer.token);
      expect(
        (await check({ credential_handle: body.data.credential_handle })).body.data
          .data_source_status,
      ).toBe("ready");
    });

    test("with a base URL goes to that host and to no other", async () => {
      const stored = await store({
        base_url: "HTTPS://MAIL.example.com:443/api",
        connection_method: "self_hosted",
      });
      const credential_handle = stored.body.data.credential_handle;
      expect((await check({ credential_handle })).body.data.data_source_status).toBe("ready");
      const asked = mailer.requests.length;
      const elsewhere = [
        await check({ credential_handle, base_url: "https://mail.example.org/api" }),
        await preview({ credential_handle, base_url: "https://mail.example.com/v2/api" }),
        await api.call("POST", "/sources", {
          body: {
            name: "a",
            connector_id: "conn_mailer_product_edm",
            credential_handle,
            base_url: "https://mail.example.org/api",
          },
        }),
      ];
      for (const { body } of elsewhere)
        expect(body).toMatchObject({ code: "422", details: { reason: "credential_mismatch" } });
      expect(mailer.requests.length).toBe(asked);
      const saved = await api.call("POST", "/sources", {
        body: { name: "a", connector_id: "conn_mailer_product_edm", credential_handle },
      });
      expect(saved.body.data.configuration.base_url).toBe("https://mail.example.com/api");
    });

    test("without a base URL goes to the first host that takes it, and to no other", async () => {
      const { credential_handle, credential_id } = (await store({})).body.data;
      const base_url = "https://mail.example.org/api";
      const boundTo = async () =>
        (await api.call("GET", `/credentials/${credential_id}`)).body.data.base_url;
      mailer.faults.inject({ type: "status", status: 401 }, { times: 20 });
      expect((await check({ credential_handle })).body.data.data_source_status).not.toBe("ready");
      expect(await boundTo()).toBeNull();
      mailer.faults.clear();
      expect((await check({ credential_handle })).body.data.data_source_status).toBe("ready");
      expect(await boundTo()).toBe("https://mail.example.com/api");
      for (const { body } of [
        await check({ credential_handle, base_url }),
        await store({ credential_handle, base_url }),
      ])
        expect(body).toMatchObject({ code: "422", details: { reason: "credential_mismatch" } });
      await store({ credential_handle });
      expect(await boundTo()).toBe("https://mail.example.com/api");
    });

    test.each([
      "",
      " ",
      "a\nb",
      "\u0000",
      "x".repeat(8_193),
      7,
      null,
      "token\u2028token",
      "tok\u00e9n-0123456789",
      "令牌-0123456789",
      " token-0123456789",
      "token-0123456789\t",
      "token-0123456789\n",
      "\u00a0token-0123456789",
      "Bearer token-0123456789",
      "bEARER token-0123456789",
    ])("is refused: %j", async (api_token) => {
      const { status, body, text } = await store({ api_token });
      expect(status).toBe(422);
      expect(body.details.errors[0].path).toBe("api_token");
      expect(text).not.toContain("0123456789");
    });

    test("is refused where a name or an address tells it", async () => {
      const api_token = "Zx81kQ0vTn5bWm37";
      for (const body of [
        { name: `Newsletter ${api_token}` },
        { base_url: `https://mail.example.com/${api_token}/api` },
      ]) {
        const refused = await store({ api_token, ...body });
        expect(refused.body.details.reason).toBe("secret_not_allowed");
        expect(refused.text).not.toContain(api_token);
      }
    });

    describe("that replaces another one", () => {
      const bound = "https://mail.example.com/api";
      const read = async (id: string) => (await api.call("GET", `/credentials/${id}`)).body.data;
      const fieldsOf = async ({ credential_id: id }: { credential_id: string }) =>
        (
          await api.control.services.vault.open(
            api.db,
            secretOwner({ id, workspace_id: api.first.id }),
          )
        )?.value.fields;
      const stored = async (body: object = {}) =>
        (await store({ api_token: "an-old-token-0123", ...body })).body.data;

      test("keeps id, handle, name and base URL, and makes the credential active again", async () => {
        const first = await stored({
          name: "Ours",
          base_url: bound,
          connection_method: "self_hosted",
        });
        const { credential_handle, credential_id } = first;
        await api.db
          .updateTable("credentials")
          .set({ status: "needs_reauth" })
          .where("id", "=", credential_id)
          .execute();
        const before = await read(credential_id);
        const replaced = await store({ credential_handle });
        expect([replaced.status, replaced.body.data]).toEqual([
          201,
          { ...first, status: "active" },
        ]);
        expect(replaced.headers.location).toBe(`/control/v1/credentials/${credential_id}`);
        expect(await fieldsOf(first)).toEqual({ api_token: mailer.token });
        const after = await read(credential_id);
        expect(after).toMatchObject({
          name: "Ours",
          base_url: bound,
          status: "active",
          version: 2,
        });
        expect(after.fingerprint).not.toBe(before.fingerprint);
        expect((await check({ credential_handle })).body.data.data_source_status).toBe("ready");
        const elsewhere = { credential_handle, base_url: "https://mail.example.org/api" };
        expect((await check(elsewhere)).body.details.reason).toBe("credential_mismatch");
        const rows = await api.db
          .selectFrom("audit_logs")
          .selectAll()
          .where("request_id", "=", replaced.body.request_id)
          .execute();
        expect(rows).toMatchObject([{ outcome: "success", resource_id: credential_id }]);
      });

      test("is bound where the old one was bound, and nowhere else", async () => {
        const { credential_handle, ...first } = await stored({ base_url: bound });
        const moved = await store({ credential_handle, base_url: "https://mail.example.org/api" });
        expect(moved.body).toMatchObject({
          code: "422",
          details: { reason: "credential_mismatch" },
        });
        const cloud = await store({ credential_handle, connection_method: "cloud" });
        expect(cloud.body).toMatchObject({ code: "422", details: { reason: "invalid_base_url" } });
        expect(await fieldsOf(first)).toEqual({ api_token: "an-old-token-0123" });
      });

      test("is bound when a base URL is given, unless a source goes elsewhere", async () => {
        const { credential_handle, ...first } = await stored();
        const refused = await store({
          credential_handle,
          base_url: "https://evil.example.net/api",
        });
        expect(refused.body.details.reason).toBe("invalid_base_url");
        const id = await addSource(
          api,
          { id: first.credential_id, handle: credential_handle },
          { base_url: "https://mail.example.org/api" },
        );
        const split = await store({ credential_handle, base_url: bound });
        expect(split.body).toMatchObject({
          code: "422",
          details: { reason: "credential_mismatch", source_ids: [id] },
        });
        const base_url = "https://MAIL.example.org:443/api";
        expect((await store({ credential_handle, base_url })).status).toBe(201);
        expect((await read(first.credential_id)).base_url).toBe("https://mail.example.org/api");
      });

      test("is another connector's, another workspace's, or gone: refused", async () => {
        const bank = await addCredential(api, {}, { connectorId: "conn_bankdata" });
        expect((await store({ credential_handle: bank.handle })).body.details.reason).toBe(
          "credential_mismatch",
        );
        const { credential_handle, credential_id } = await stored();
        const token = api.second.tokens.admin;
        expect((await store({ credential_handle }, { token })).status).toBe(404);
        const old = await store({ credential_handle }, { headers: { "if-match": '"v7"' } });
        expect(old.status).toBe(412);
        await api.call("DELETE", `/credentials/${credential_id}`);
        expect((await store({ credential_handle })).status).toBe(404);
      });

      test("can be proposed, and is sealed until it is decided about", async () => {
        const { credential_handle, ...first } = await stored({ base_url: bound });
        const api_token = "Zx81kQ0vTn5bWm37";
        const proposed = await store(
          { credential_handle, api_token },
          { headers: { "x-svc-execution-mode": "proposal" } },
        );
        expect(proposed.body.data.proposal.body_redacted).toMatchObject({
          credential_handle,
          api_token: "[redacted]",
        });
        expect(await databaseText(api.db)).not.toContain(api_token);
        expect(await fieldsOf(first)).toEqual({ api_token: "an-old-token-0123" });
        const { approval_id } = proposed.body.data;
        const approved = await api.call("POST", `/approvals/${approval_id}/approve`);
        expect(approved.body.data).toMatchObject({
          status: "executed",
          result: { credential_handle, ...first },
        });
        expect(await fieldsOf(first)).toEqual({ api_token });
      });
    });

    test("without a base URL needs one where it is used", async () => {
      const source = {
        name: "a",
        connector_id: "conn_mailer_product_edm",
        credential_handle: handle,
      };
      for (const body of [source, { ...source, configuration: { base_url: null } }])
        expect((await api.call("POST", "/sources", { body })).body.details).toMatchObject({
          reason: "invalid_base_url",
          errors: [{ path: "configuration.base_url", reason: "missing", message: "is missing" }],
        });
    });

    test("among the settings of a source is told where it belongs", async () => {
      const configuration = { base_url: mailer.baseUrl, api_token: mailer.token };
      const { body } = await api.call("POST", "/sources", {
        body: {
          name: "a",
          connector_id: "conn_mailer_product_edm",
          credential_handle: handle,
          configuration,
        },
      });
      expect(body.details.errors[0].message).toContain("POST /credentials/mailer/api-token");
    });

    test("is taken by nothing else", async () => {
      for (const send of [check, preview]) {
        const { body, text } = await send({ api_token: mailer.token });
        expect(body).toMatchObject({
          code: "422",
          details: { reason: "secret_not_allowed", errors: [{ path: "api_token" }] },
        });
        expect(text).not.toContain(mailer.token);
      }
    });

    test("is the editor's to store, the runner's to use", async () => {
      const { runner, viewer } = api.first.tokens;
      expect((await store({}, { token: runner })).status).toBe(403);
      expect((await check({}, { token: runner })).status).toBe(200);
      expect((await check({}, { token: viewer })).status).toBe(403);
    });

    test("of another workspace does not exist", async () => {
      const token = api.second.tokens.admin;
      const unknown = {
        credential_handle: `${handle.slice(0, -1)}${handle.endsWith("0") ? "1" : "0"}`,
      };
      for (const send of [check, preview]) {
        const [foreign, missing] = [await send({}, { token }), await send(unknown, { token })];
        expect(foreign.status).toBe(404);
        expect({ ...foreign.body, request_id: "" }).toEqual({ ...missing.body, request_id: "" });
      }
    });
  });

  describe("account", () => {
    test("that works is ready, and covers what its server gives", async () => {
      const { status, body } = await check();
      expect(status).toBe(200);
      const { field_coverage: coverage, ...rest } = body.data;
      expect(rest).toEqual({
        connector_id: "conn_mailer_product_edm",
        credential_handle: handle,
        connection_method: "self_hosted",
        data_source_status: "ready",
        message: expect.any(String),
        checked_at: expect.stringMatching(/Z$/),
      });
      expect(coverage.streams.map(({ stream }: Status) => stream)).toContain("campaigns");
      expect(coverage.streams.every(({ available }: Status) => available)).toBe(true);
      const statuses = coverage.streams.flatMap(({ fields }: Status) =>
        fields.map(({ status: one }) => one),
      );
      expect(coverage.total).toBe(statuses.length);
      expect(coverage.covered).toBe(statuses.filter((one: string) => one === "covered").length);
      expect(coverage.ratio).toBeCloseTo(coverage.covered / coverage.total, 3);
      expect(coverage.ratio).toBeGreaterThan(0.7);
    });

    test("is asked for a page of each stream, however large it is", async () => {
      const asked = mailer.requests.length;
      await check();
      const paths = mailer.requests.slice(asked).map(({ path }) => path);
      // Two of the check; of a listing up to two pages are fetched ahead of the first.
      expect(paths.length).toBeLessThanOrEqual(2 + 5 * 3);
      expect(
        paths
          .filter((path) => path.includes("per_page"))
          .every((path) => /per_page=(1|25)\b/.test(path)),
      ).toBe(true);
    });

    test("on an old server lacks what that does not give; of an empty listing nothing can be told", async () => {
      const listing = (data: object[]) => ({
        data,
        meta: { current_page: 1, last_page: 1, per_page: 25, total: data.length },
      });
      const answer = (data: object[]): Fault => ({
        type: "status",
        status: 200,
        body: JSON.stringify(listing(data)),
      });
      const rows = [
        { uuid: "a", name: "Welcome", updated_at: null, extra: 1 },
        { uuid: "b", created_at: "yesterday", updated_at: "2026-01-01T00:00:00Z" },
      ];
      mailer.faults.inject(answer(rows), { path: "/api/templates" });
      mailer.faults.inject(answer([]), { path: "/api/automations" });
      const { data } = (await check()).body;
      expect(data.data_source_status).toBe("ready");
      const statusesOf = (name: string) => {
        const { available, fields } = data.field_coverage.streams.find(
          ({ stream }: Status) => stream === name,
        );
        expect(available).toBe(true);
        return Object.fromEntries(
          fields.map(({ field, status }: Status["fields"][number]) => [field, status]),
        );
      };
      expect(statusesOf("templates")).toEqual({
        uuid: "covered",
        name: "covered",
        created_at: "missing",
        updated_at: "covered",
      });
      expect(new Set(Object.values(statusesOf("automations")))).toEqual(new Set(["unavailable"]));
    });

    const failing: readonly (readonly [string, Fault, FaultScope, string])[] = [
      ["a 404", { type: "status", status: 404 }, {}, "not_found"],
      ["a 403", { type: "status", status: 403 }, {}, "forbidden"],
      [
        "its limit",
        { type: "status", status: 429, headers: { "retry-after": "3600" } },
        {},
        "rate_limited",
      ],
      ["a reset", { type: "reset" }, {}, "unreachable"],
      ["a debug page", { type: "stack_trace" }, {}, "unreachable"],
      ["a login page", { type: "html" }, {}, "invalid_response"],
      ["half an answer", { type: "malformed_json" }, {}, "invalid_response"],
      ["a redirect into the cloud", { type: "redirect" }, {}, "invalid_response"],
      ["its own token in a 401", { type: "echo_authorization" }, {}, "unauthorized"],
      [
        "a refusal of one listing",
        { type: "status", status: 403 },
        { path: "/api/templates" },
        "degraded",
      ],
      ["a login page for one listing", { type: "html" }, { path: "/api/campaigns" }, "degraded"],
    ];
    test.each(
      failing,
    )("that answers with %s has a status, and nothing of it shows", async (_name, fault, scope, status) => {
      const secrets = createSecretRegistry();
      secrets.add(mailer.token);
      logged.length = 0;
      for (const send of [check, preview]) {
        mailer.faults.inject(fault, { times: 100, ...scope });
        const { status: code, body, text } = await send();
        mailer.faults.clear();
        expect([code, body.data.data_source_status]).toEqual([200, status]);
        const { streams } = body.data.field_coverage;
        if (status === "degraded")
          expect(streams.filter(({ available }: Status) => !available)).toHaveLength(1);
        else {
          expect(streams.some(({ available }: Status) => available)).toBe(false);
          expect(body.data.field_coverage).toMatchObject({ covered: 0, ratio: 0 });
        }
        expect(secrets.contains(Buffer.from(text))).toBe(false);
        expect(text).not.toMatch(/Illuminate|\/var\/www|169\.254|SQLSTATE|<html|Log in/);
      }
      expect(logged.length).toBeGreaterThan(0);
      expect(secrets.contains(Buffer.from(logged.join("\n")))).toBe(false);
      expect(secrets.contains(Buffer.from(await databaseText(api.db)))).toBe(false);
    });

    test.each([
      ["badToken", "unauthorized"],
      ["sendOnlyToken", "forbidden"],
    ] as const)("that does not take %s is %s", async (name, status) => {
      const credential = await addCredential(api, { api_token: mailer[name] });
      const { body } = await check({ credential_handle: credential.handle });
      expect(body.data.data_source_status).toBe(status);
    });

    test("that is silent is unreachable", async () => {
      await using impatient = await startTestControl({
        seams: mailer.seams,
        sandbox: "inline",
        http: { maxAttempts: 1, headersTimeoutMs: 500 },
        settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
      });
      const credential = await addCredential(impatient, { api_token: mailer.token });
      const body = account({ credential_handle: credential.handle });
      mailer.faults.inject({ type: "hang" }, { times: 100 });
      for (const path of ["check", "edm/preview"]) {
        const answer = await impatient.call("POST", `/connectors/mailer/${path}`, { body });
        expect([answer.status, answer.body.data.data_source_status]).toEqual([200, "unreachable"]);
      }
    });

    test("at a host that nobody knows is unreachable", async () => {
      const { handle: credential_handle } = await addCredential(api, {
        api_token: mailer.token,
      });
      const { body } = await check({
        credential_handle,
        base_url: "https://mail.example.org/api",
      });
      expect(body.data.data_source_status).toBe("unreachable");
    });

    test("that keeps one listing back is not waited for without end", async () => {
      await using slow = await startMailer({ seed: 3 });
      await using other = await startTestControl({
        seams: slow.seams,
        sandbox: "inline",
        clock: createScaledClock(30),
        settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
      });
      slow.faults.inject({ type: "hang" }, { path: "/api/automations", times: 10 });
      const credential = await addCredential(other, { api_token: slow.token });
      const body = { credential_handle: credential.handle, base_url: slow.baseUrl };
      const { data } = (await other.call("POST", "/connectors/mailer/check", { body })).body;
      expect(data.data_source_status).toBe("degraded");
      const available = data.field_coverage.streams.filter((one: Status) => one.available);
      expect(available.map(({ stream }: Status) => stream)).toEqual(["email_lists", "templates"]);
    });

    test("is only looked at: nothing is written but the use of its credential", async () => {
      const { credential_uses: uses, ...before } = await databaseRows(api.db);
      await check();
      await preview();
      const { credential_uses: after, ...rest } = await databaseRows(api.db);
      expect(rest).toEqual(before);
      expect(JSON.parse(after ?? "").length).toBe(JSON.parse(uses ?? "").length + 2);
    });

    test.each([
      [{ connection_method: "own" }, "connection_method"],
      [{ limit: 26 }, "limit"],
      [{ limit: 0 }, "limit"],
      [{ connector_id: "conn_social" }, "connector_id"],
      [{ credential_handle: "cred_0000000000000000000000" }, "credential_handle"],
      [{ colour: "red" }, "colour"],
    ])("is asked about properly: %j", async (changes, path) => {
      const { body } = await preview(changes);
      expect(body).toMatchObject({
        code: "422",
        details: { reason: "validation_failed", errors: [{ path }] },
      });
    });

    test("is named by the connector's old id too, and a header says so", async () => {
      for (const send of [check, preview]) {
        const { headers, body } = await send({ connector_id: "source:mailer" });
        expect([headers.deprecation, body.data.connector_id]).toEqual([
          expect.stringMatching(/^@\d+$/),
          "conn_mailer_product_edm",
        ]);
      }
      expect((await check({ connector_id: "source:nobody" })).status).toBe(404);
      expect((await check({ connector_id: "conn_mailer_product_edm" })).headers).not.toHaveProperty(
        "deprecation",
      );
    });
  });

  describe("preview", () => {
    test("shows the newest campaigns with their numbers, and says which numbers are not the mailer's", async () => {
      const { body } = await preview();
      const { campaigns, metrics_requiring_attribution: missing } = body.data;
      expect(campaigns).toHaveLength(25);
      const truth = mailer.truth.campaigns() as Record<string, unknown>[];
      for (const campaign of campaigns) {
        const { campaign_uuid, ...shown } = campaign;
        const row = truth.find(({ uuid }) => uuid === campaign_uuid) ?? {};
        expect(row).toMatchObject(shown);
      }
      const sent = campaigns.map(({ sent_at }: { sent_at: string }) => Date.parse(sent_at));
      expect(sent).toEqual([...sent].sort((left, right) => right - left));
      expect(missing).toEqual(
        ["sessions", "orders", "revenue"].map((metric) => ({
          metric,
          status: "requires_external_attribution_join",
          value: null,
        })),
      );
      expect((await preview({ limit: 3 })).body.data.campaigns).toEqual(campaigns.slice(0, 3));
    });

    test("has no campaigns of an account that cannot be read", async () => {
      mailer.faults.inject({ type: "status", status: 401 }, { times: 100 });
      const { body } = await preview();
      expect(body.data).toMatchObject({ data_source_status: "unauthorized", campaigns: [] });
      expect(body.data.metrics_requiring_attribution).toHaveLength(3);
    });
  });
});
