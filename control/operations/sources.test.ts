import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMailer } from "../../fixtures/providers/mailer/mailer.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { createHandle, createId } from "../contract/ids.ts";
import { secretOwner } from "../credentials/stored-secret.ts";

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
    handle = await storeToken(api, mailer.token);
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
    expect(entries).toMatchObject([{ action: "source.create", outcome: "success", resource_id: id }]);
  });

  test("of another workspace do not exist", async () => {
    const created = await api.call("POST", "/sources", { body: body() });
    const foreign = await api.call("GET", `/sources/${created.body.data.source_id}`, {
      token: api.second.tokens.admin,
    });
    const unknown = await api.call("GET", "/sources/src_0000000000000000000000", { token: api.second.tokens.admin });
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
    expect(other.body).toMatchObject({ code: "422", details: { reason: "idempotency_key_reused" } });
  });
});

async function storeToken(api: TestControl, token: string): Promise<string> {
  const { vault, clock } = api.control.services;
  const now = new Date(clock.now());
  const id = createId("credential");
  const handle = createHandle();
  await api.db
    .insertInto("credentials")
    .values({
      id, handle, workspace_id: api.first.id, connector_id: "conn_mailer_product_edm", name: "token", auth_type: "api_key", status: "active",
      metadata: "{}", base_url: null, secret_fields: '["api_token"]', fingerprint: "x", granted_scopes: "[]", expires_at: null,
      last_verified_at: null, last_error: null, created_at: now, updated_at: now,
    }) // biome-ignore format: a row
    .execute();
  await vault.put(api.db, secretOwner({ id, workspace_id: api.first.id }), 0, { fields: { api_token: token } });
  return handle;
}
