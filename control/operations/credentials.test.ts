import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential } from "../../tests/control-rows.ts";
import { secretOwner } from "../credentials/stored-secret.ts";

const apiKey = "kZ8vQm2LxW5rT9bN4cJ7";
const accessToken = "access-sandbox-5d1f8a42";

describe("credentials", () => {
  let api: TestControl;

  beforeAll(async () => {
    api = await startTestControl({
      sandbox: "inline",
      settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const bank = (changes: object = {}) => ({
    name: "Our bank",
    connector_id: "conn_bankdata",
    auth_type: "api_key",
    secrets: { api_key: apiKey, access_token: accessToken },
    metadata: { client_id: "team-1", environment: "sandbox" },
    ...changes,
  });
  const create = (body: object = bank(), options: object = {}) =>
    api.call("POST", "/credentials", { body, ...options });
  const opened = async (id: string) =>
    await api.control.services.vault.open(api.db, secretOwner({ id, workspace_id: api.first.id }));

  test("are stored under a handle, and shown without their secrets", async () => {
    const created = await create();
    expect(created.status).toBe(201);
    const { data } = created.body;
    expect(data).toMatchObject({
      name: "Our bank",
      connector_id: "conn_bankdata",
      auth_type: "api_key",
      status: "active",
      metadata: { client_id: "team-1", environment: "sandbox" },
      secret_fields: ["access_token", "api_key"],
      base_url: null,
      version: 1,
    });
    expect(data.fingerprint).toMatch(/^[0-9a-f]{8}$/);
    expect(created.headers.location).toBe(`/control/v1/credentials/${data.credential_id}`);
    const got = await api.call("GET", `/credentials/${data.credential_id}`);
    expect(got.body.data).toEqual(data);
    expect(created.text + got.text).not.toMatch(new RegExp(`${apiKey}|${accessToken}`));
    expect((await opened(data.credential_id))?.value).toEqual({
      fields: { api_key: apiKey, access_token: accessToken },
    });
  });

  test("with the same secrets have the same fingerprint, in one workspace", async () => {
    const [one, same, other, elsewhere] = await Promise.all([
      create(),
      create(),
      create(bank({ secrets: { api_key: `${apiKey}x`, access_token: accessToken } })),
      create(bank(), { token: api.second.tokens.admin }),
    ]);
    const [first, ...rest] = [one, same, other, elsewhere].map(
      (answer) => answer.body.data.fingerprint,
    );
    expect(rest.map((print) => print === first)).toEqual([true, false, false]);
  });

  test("take an old id of the connector, and show its id of today", async () => {
    const created = await create(bank({ connector_id: "source:bankdata" }));
    expect(created.body.data.connector_id).toBe("conn_bankdata");
    expect(created.headers.deprecation).toMatch(/^@\d+$/);
  });

  test("need neither name nor settings, and no particular password", async () => {
    const secrets = { password: "postgres" };
    const created = await create({ connector_id: "conn_postgres", auth_type: "basic", secrets });
    expect(created.status).toBe(201);
    expect(created.body.data).toMatchObject({
      name: expect.any(String),
      auth_type: "basic",
      metadata: {},
    });
  });

  test.each([
    [
      "a secret that the connector does not have",
      { secrets: { api_key: apiKey, access_token: "x", pin: apiKey } },
      "secrets.pin",
      "unknown",
    ],
    [
      "a value where a name belongs",
      { secrets: { [`${apiKey} 1`]: "x", api_key: "x", access_token: "x" } },
      "secrets",
      "unknown",
    ],
    [
      "a blank secret",
      { secrets: { api_key: " \u00a0", access_token: "x" } },
      "secrets.api_key",
      "form",
    ],
    [
      "a secret of two lines",
      { secrets: { api_key: `${apiKey}\nx`, access_token: "x" } },
      "secrets.api_key",
      "form",
    ],
    [
      "a secret of more than 8 KiB",
      { secrets: { api_key: `é${"x".repeat(8_191)}`, access_token: "x" } },
      "secrets.api_key",
      "form",
    ],
    [
      "a secret that no header can carry",
      { connector_id: "conn_taskapp", secrets: { access_token: "pk_\u2028" }, metadata: {} },
      "secrets.access_token",
      "form",
    ],
    [
      "a secret in a header with a space behind it",
      { connector_id: "conn_taskapp", secrets: { access_token: "pk_1234567 " }, metadata: {} },
      "secrets.access_token",
      "form",
    ],
    [
      "a secret with the word that is put before it",
      { connector_id: "conn_taskapp", secrets: { access_token: "bearer abcdefg" }, metadata: {} },
      "secrets.access_token",
      "form",
    ],
    [
      "a secret that is no text",
      { secrets: { api_key: 1, access_token: "x" } },
      "secrets.api_key",
      "type",
    ],
    ["no secrets", { secrets: {} }, "secrets", "minProperties"],
    ["too few secrets", { secrets: { api_key: apiKey } }, "secrets.access_token", "missing"],
    [
      "a secret among the settings",
      { metadata: { api_key: apiKey } },
      "metadata.api_key",
      "secret_not_allowed",
    ],
    [
      "what looks like one",
      { metadata: { my_password: apiKey } },
      "metadata.my_password",
      "secret_not_allowed",
    ],
    [
      "the secret in a setting",
      { metadata: { client_id: `team ${apiKey}` } },
      "metadata.client_id",
      "secret_not_allowed",
    ],
    ["the secret as its name", { name: `key ${apiKey}` }, "name", "secret_not_allowed"],
    [
      "a setting that the connector does not have",
      { metadata: { region: "eu" } },
      "metadata.region",
      "validation_failed",
    ],
    [
      "a setting of another form",
      { metadata: { environment: "moon" } },
      "metadata.environment",
      "validation_failed",
    ],
    ["an unknown way to authenticate", { auth_type: "oauth2" }, "auth_type", "enum"],
    ["an unknown field", { colour: apiKey }, "colour", "unknown"],
    ["a secret beside the secrets", { token: apiKey }, "token", "secret_not_allowed"],
  ])("with %s are refused, and nothing of it is repeated", async (_name, change, path, reason) => {
    const refused = await create(bank(change));
    expect(refused.status).toBe(422);
    expect(refused.body.details.errors[0]).toMatchObject({ path, reason });
    expect(refused.text).not.toContain(apiKey);
  });

  test("of a connector that does not exist are refused", async () => {
    expect((await create(bank({ connector_id: "conn_nothing" }))).status).toBe(404);
  });

  test("of a connector with an endpoint of its own are taken there only, new ones and replacing ones", async () => {
    const special = api.control.services.connectors
      .list()
      .filter(({ credentialPath }) => credentialPath !== "/credentials");
    expect(special.map(({ id }) => id)).toContain("conn_mailer_product_edm");
    for (const { id, aliases, credentialPath } of special) {
      const connectorIds = [id, ...aliases];
      const stored = await addCredential(
        api,
        { api_token: "before-0123456789" },
        { connectorId: id },
      );
      const path = `/credentials/${stored.id}`;
      const secrets = { api_token: apiKey };
      for (const headers of [{}, { "x-svc-execution-mode": "proposal" }]) {
        const answers = [
          ...(await Promise.all(
            connectorIds.map((connector_id) => create({ connector_id, secrets }, { headers })),
          )),
          await create({ connector_id: id, secrets, metadata: { base_url: "x" } }, { headers }),
          await api.call("PATCH", path, { body: { secrets }, headers }),
        ];
        for (const { status, body, text } of answers) {
          expect([status, body.details.reason]).toEqual([422, "secret_not_allowed"]);
          expect(body.details.taken_by).toEqual({
            method: "POST",
            path: `/control/v1${credentialPath}`,
          });
          expect(text).not.toContain(apiKey);
        }
      }
      expect((await opened(stored.id))?.value).toEqual({
        fields: { api_token: "before-0123456789" },
      });
      expect((await api.call("PATCH", path, { body: { name: "Renamed" } })).status).toBe(200);
    }
  });

  test("are listed newest first, page by page, without those that were deleted", async () => {
    const { token } = { token: api.second.tokens.editor };
    const names = ["a", "b", "c"];
    const ids: string[] = [];
    for (const name of names)
      ids.push((await create(bank({ name }), { token })).body.data.credential_id);
    await api.call("DELETE", `/credentials/${ids[1]}`, { token });
    const first = await api.call("GET", "/credentials?limit=1&connector_id=conn_bankdata", {
      token,
    });
    expect(first.body.data).toMatchObject({ items: [{ name: "c" }], has_more: true });
    const { next_cursor } = first.body.data;
    const second = await api.call(
      "GET",
      `/credentials?limit=1&connector_id=conn_bankdata&cursor=${next_cursor}`,
      {
        token,
      },
    );
    expect(second.body.data.items).toMatchObject([{ name: "a" }]);
    const deleted = await api.call("GET", "/credentials?status=revoked", { token });
    expect(deleted.body.data.items).toMatchObject([{ name: "b", status: "revoked" }]);
    const other = await api.call("GET", `/credentials?cursor=${next_cursor}`, { token });
    expect(other.body.details.reason).toBe("invalid_cursor");
  });

  test("of another workspace do not exist, and a handle is no id", async () => {
    const { credential_id, credential_handle } = (await create()).body.data;
    const token = api.second.tokens.admin;
    const unknown = await api.call("GET", "/credentials/cred_0000000000000000000000", { token });
    expect(unknown.status).toBe(404);
    for (const [method, id, by] of [
      ["GET", credential_id, token],
      ["PATCH", credential_id, token],
      ["DELETE", credential_id, token],
      ["GET", credential_handle, api.first.tokens.admin],
    ] as const) {
      const foreign = await api.call(method, `/credentials/${id}`, {
        token: by,
        ...(method === "PATCH" ? { body: { name: "x" } } : {}),
      });
      expect({ ...foreign.body, request_id: "" }).toEqual({ ...unknown.body, request_id: "" });
    }
  });

  test("are not for viewers and runners to store", async () => {
    for (const role of ["viewer", "runner"] as const)
      expect((await create(bank(), { token: api.first.tokens[role] })).status).toBe(403);
    expect((await create(bank(), { token: api.first.tokens.editor })).status).toBe(201);
  });

  test("get a new name without their secrets being touched", async () => {
    const { credential_id, fingerprint } = (await create()).body.data;
    const before = await opened(credential_id);
    const renamed = await api.call("PATCH", `/credentials/${credential_id}`, {
      body: { name: "Renamed" },
    });
    expect(renamed.body.data).toMatchObject({ name: "Renamed", fingerprint, version: 2 });
    expect(await opened(credential_id)).toEqual(before);
  });

  test("get new secrets under the same handle, and are active again", async () => {
    const { credential_id, credential_handle, fingerprint } = (await create()).body.data;
    await api.db
      .updateTable("credentials")
      .set({ status: "needs_reauth" })
      .where("id", "=", credential_id)
      .execute();
    const secrets = { api_key: "another-key-of-the-bank" };
    const changed = await api.call("PATCH", `/credentials/${credential_id}`, { body: { secrets } });
    expect(changed.body.data).toMatchObject({ credential_handle, status: "active", version: 2 });
    expect(changed.body.data.fingerprint).not.toBe(fingerprint);
    expect(await opened(credential_id)).toEqual({
      version: 2,
      value: { fields: { ...secrets, access_token: accessToken } },
    });
  });

  test("may have an end that their owner knows, which new secrets take away", async () => {
    const end = new Date(Date.now() + 30 * 86_400_000).toISOString();
    const created = (await create(bank({ secrets_expire_at: end }))).body.data;
    const path = `/credentials/${created.credential_id}`;
    const change = async (body: object) =>
      (await api.call("PATCH", path, { body })).body.data.secrets_expire_at;
    const later = new Date(Date.now() + 60 * 86_400_000).toISOString();
    expect([created.secrets_expire_at, created.expires_at]).toEqual([end, null]);
    expect(await change({ name: "Renamed" })).toBe(end);
    expect(await change({ secrets_expire_at: later })).toBe(later);
    expect(await change({ secrets: { api_key: "another-key-of-the-bank" } })).toBe(null);
    expect(
      await change({ secrets: { api_key: "yet-another-of-the-bank" }, secrets_expire_at: end }),
    ).toBe(end);
    expect(await change({ secrets_expire_at: null })).toBe(null);
    for (const body of [
      { secrets_expire_at: "2020-01-01T00:00:00Z" },
      { secrets_expire_at: "soon" },
    ]) {
      for (const refused of [await create(bank(body)), await api.call("PATCH", path, { body })])
        expect([refused.status, refused.body.details.errors[0].path]).toEqual([
          422,
          "secrets_expire_at",
        ]);
    }
    const token = await api.call("POST", "/credentials/mailer/api-token", {
      body: { api_token: apiKey, secrets_expire_at: end },
    });
    const stored = await api.call("GET", `/credentials/${token.body.data.credential_id}`);
    expect(stored.body.data.secrets_expire_at).toBe(end);
  });

  test("refuse changes of what is bound to their secrets, and of an older version", async () => {
    const { credential_id } = (await create()).body.data;
    const path = `/credentials/${credential_id}`;
    for (const body of [
      { metadata: {} },
      { base_url: "https://mail.example.com/api" },
      { connector_id: "x" },
      {},
    ])
      expect((await api.call("PATCH", path, { body })).status).toBe(422);
    const headers = { "if-match": '"v7"' };
    expect((await api.call("PATCH", path, { body: { name: "x" }, headers })).status).toBe(412);
    expect((await api.call("DELETE", path, { headers })).status).toBe(412);
    expect((await api.call("GET", path)).body.data).toMatchObject({ version: 1, status: "active" });
  });

  test("leave nothing of their secrets when they are deleted, and stay as a fact", async () => {
    const { credential_id, credential_handle } = (await create()).body.data;
    const path = `/credentials/${credential_id}`;
    const deleted = await api.call("DELETE", path);
    expect(deleted.status).toBe(200);
    expect(deleted.body.data).toMatchObject({
      credential_id,
      deleted: true,
      revocation: "not_supported",
    });
    expect(await opened(credential_id)).toBeUndefined();
    expect((await api.call("GET", path)).body.data).toMatchObject({ status: "revoked" });
    expect((await api.call("DELETE", path)).status).toBe(404);
    expect((await api.call("PATCH", path, { body: { secrets: { api_key: apiKey } } })).status).toBe(
      404,
    );
    const source = { name: "x", connector_id: "conn_bankdata", credential_handle };
    expect((await api.call("POST", "/sources", { body: source })).status).toBe(424);
  });

  test("cannot be deleted while a source uses them", async () => {
    const { credential_id } = (await create()).body.data;
    const now = new Date();
    await api.db
      .insertInto("sources")
      .values({
        id: "src_1",
        workspace_id: api.first.id,
        name: "x",
        connector_id: "conn_bankdata",
        credential_id,
        configuration: "{}",
        status: "active",
        last_check: '{"status":"succeeded","checked_at":"2026-01-01T00:00:00.000Z"}',
        created_at: now,
        updated_at: now,
      })
      .execute();
    const refused = await api.call("DELETE", `/credentials/${credential_id}`);
    expect(refused.body).toMatchObject({
      code: "409",
      details: { reason: "credential_in_use", source_ids: ["src_1"], source_count: 1 },
    });
    expect(await opened(credential_id)).toBeDefined();
  });
});
