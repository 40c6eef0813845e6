import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSocial } from "../../simulators/social/social.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential, type TestCredential } from "../../tests/control-rows.ts";

describe("what a social source can be made of", () => {
  let api: TestControl;
  let social: Awaited<ReturnType<typeof startSocial>>;
  let credential: TestCredential;
  const source = (changes: object = {}) => ({
    name: "Our channels",
    connector_id: "conn_social",
    credential_handle: credential.handle,
    ...changes,
  });
  const entities = (body: object = {}, headers = {}) =>
    api.call("POST", "/sources/entities", {
      body: { credential_handle: credential.handle, ...body },
      headers,
    });
  const ids = (rows: Record<string, string>[], name: string) => rows.map((row) => row[name]);

  beforeAll(async () => {
    social = await startSocial({
      seed: 5,
      portals: 2,
      brands: 2,
      tokenLimit: { requests: 1_000, windowMs: 60_000 },
    });
    api = await startTestControl({ seams: social.seams, sandbox: "inline" });
    const { clientSecret, refreshToken, clientId } = social;
    const secrets = { client_secret: clientSecret, refresh_token: refreshToken };
    credential = await addCredential(api, secrets, {
      connectorId: "conn_social",
      metadata: { client_id: clientId },
    });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await social?.[Symbol.asyncDispose]();
  });

  test("is listed by the credential alone, and again under the names of the settings", async () => {
    const { status, body } = await entities({ connector_id: "conn_social" });
    expect(status).toBe(200);
    const { portals, brands, channels, options } = body.data;
    expect(body.data).toMatchObject({
      connector_id: "conn_social",
      credential_handle: credential.handle,
      next_cursor: null,
    });
    expect(ids(portals, "portal_id")).toContain(social.portalId);
    expect(brands.length).toBe(4);
    expect(channels[0]).toEqual({
      channel_id: expect.any(String),
      brand_id: expect.any(String),
      portal_id: expect.any(String),
      network: expect.any(String),
      name: expect.any(String),
      status: expect.stringMatching(/^(active|reconnect)$/),
    });
    expect(ids(options.portal_id, "value")).toEqual(ids(portals, "portal_id"));
    expect(ids(options.brand_ids, "value")).toEqual(ids(brands, "brand_id"));
    expect(ids(options.channel_ids, "value")).toEqual(ids(channels, "channel_id"));
    expect(Object.keys(options.portal_id[0]).sort()).toEqual(["label", "value"]);
  });

  test("is narrowed by what was chosen, also when ids come as numbers", async () => {
    const { brands } = (await entities({ portal_id: social.portalId })).body.data;
    expect(new Set(ids(brands, "portal_id"))).toEqual(new Set([social.portalId]));
    const [brand] = ids(brands, "brand_id");
    const { channels } = (await entities({ portal_id: social.portalId, brand_ids: [brand] })).body
      .data;
    expect(new Set(ids(channels, "brand_id"))).toEqual(new Set([brand]));
    if (!Number.isSafeInteger(Number(social.portalId))) return;
    expect((await entities({ portal_id: Number(social.portalId) })).body.data.brands).toEqual(
      brands,
    );
  });

  test("that is no longer the account's is refused", async () => {
    const { body } = await entities({ portal_id: "12345" });
    expect(body).toMatchObject({
      code: "422",
      details: { reason: "provider_refused", error: "RESOURCE_NOT_FOUND" },
    });
  });

  test("is listed for a saved source by its own credential", async () => {
    const { brands } = (await entities({ portal_id: social.portalId })).body.data;
    const settings = { portal_id: social.portalId, brand_ids: ids(brands, "brand_id") };
    const created = await api.call("POST", "/sources", { body: source(settings) });
    expect(created.status).toBe(201);
    const body = { source_id: created.body.data.source_id };
    const listed = await api.call("POST", "/sources/entities", { body });
    expect(listed.body.data.credential_handle).toBe(credential.handle);
    expect(listed.body.data.brands.length).toBe(4);
  });

  test.each([
    [{ credential_handle: undefined }, "validation_failed"],
    [{ connector_id: "conn_mailer_product_edm" }, "credential_mismatch"],
    [{ connector_id: "conn_nobody" }, "not_found"],
    [{ source_id: "src_0000000000000000000000" }, "not_found"],
    [{ portal_id: "../users" }, "validation_failed"],
    [{ brand_ids: ["a b"] }, "validation_failed"],
  ])("needs to be asked for properly: %j", async (body, reason) => {
    expect((await entities(body)).body.details.reason).toBe(reason);
  });

  test("is nothing for a connector that has no choices", async () => {
    const mailer = await addCredential(api);
    const { body } = await entities({ credential_handle: mailer.handle });
    expect(body).toMatchObject({ code: "422", details: { reason: "entities_not_supported" } });
  });

  test("by the connector's old id is the same, and a header says so", async () => {
    const { headers, body } = await entities({
      connector_id: "source:social",
      portal_id: social.portalId,
    });
    expect([headers.deprecation, body.data.connector_id]).toEqual([
      expect.stringMatching(/^@\d+$/),
      "conn_social",
    ]);
  });

  test("is needed: a source names its portal and at least one brand, with ids as texts and each once", async () => {
    const { brands, channels } = (await entities({ portal_id: social.portalId })).body.data;
    const [brand] = ids(brands, "brand_id");
    for (const settings of [
      {},
      { portal_id: social.portalId },
      { portal_id: social.portalId, brand_ids: [] },
    ]) {
      const { body } = await api.call("POST", "/sources", { body: source(settings) });
      expect(body).toMatchObject({ code: "422", details: { reason: "invalid_configuration" } });
      expect(body.details.errors.at(-1).path).toMatch(/^configuration\.(portal_id|brand_ids)$/);
    }
    const channel = channels.find(
      ({ brand_id }: { brand_id: string }) => brand_id === brand,
    ).channel_id;
    const configuration = { brand_ids: [brand, brand], channel_ids: [channel, channel] };
    const saved = await api.call("POST", "/sources", {
      body: source({ configuration, portal_id: social.portalId }),
    });
    expect(saved.body.data.configuration).toEqual({
      portal_id: social.portalId,
      brand_ids: [brand],
      channel_ids: [channel],
    });
    const numbers = source({ portal_id: 123, brand_ids: [456, "456"] });
    const unknown = await api.call("POST", "/sources", { body: numbers });
    expect(unknown.body.details.reason).toBe("connection_check_failed");
    const rounded = `{"name":"a","connector_id":"conn_social","credential_handle":"${credential.handle}","portal_id":90071992547409931234}`;
    const { body } = await api.call("POST", "/sources", { body: rounded });
    expect(body).toMatchObject({
      details: { reason: "validation_failed", errors: [{ path: "portal_id" }] },
    });
  });

  test("takes what its credential brings, and nothing else in its place", async () => {
    const settings = {
      portal_id: social.portalId,
      brand_ids: ["1"],
      configuration: { client_id: "another client" },
    };
    const { body } = await api.call("POST", "/sources", { body: source(settings) });
    expect(body).toMatchObject({
      details: { reason: "invalid_configuration", errors: [{ path: "configuration.client_id" }] },
    });
  });
});
