import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startMailer } from "../../simulators/mailer/mailer.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential, addDestination, addSource } from "../../tests/control-rows.ts";

describe("a check of what is saved", () => {
  let api: TestControl;
  let mailer: Awaited<ReturnType<typeof startMailer>>;
  /** Happens while the provider is being asked. */
  let during: (() => Promise<unknown>) | undefined;

  beforeAll(async () => {
    mailer = await startMailer({ seed: 3 });
    api = await startTestControl({
      seams: {
        ...mailer.seams,
        async resolve(host) {
          await during?.();
          return mailer.seams.resolve(host);
        },
      },
      sandbox: "inline",
      settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
    });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
    await mailer?.[Symbol.asyncDispose]();
  });

  const check = (path: string, options = {}) => api.call("POST", `${path}/check`, options);
  const read = async (path: string) => (await api.call("GET", path)).body.data;
  const source = async (token = mailer.token, base_url?: string) => {
    const credential = await addCredential(api, { api_token: token });
    const id = await addSource(api, credential, base_url ? { base_url } : undefined);
    return { id, credential, path: `/sources/${id}` };
  };

  test("of a source tells that the connection works, to those who may run it", async () => {
    const { id, path } = await source();
    const { status, body } = await check(path, { token: api.first.tokens.runner });
    const checked = {
      status: "succeeded",
      error: null,
      message: null,
      checked_at: expect.stringMatching(/Z$/),
    };
    expect([status, body.data]).toEqual([
      200,
      { source_id: id, connector_id: "conn_mailer_product_edm", ...checked },
    ]);
    expect(await read(path)).toMatchObject({ status: "active", last_check: checked });
    expect((await check(path, { token: api.first.tokens.viewer })).status).toBe(403);
    expect((await check(path, { token: api.second.tokens.admin })).status).toBe(404);
  });

  test("that fails is an answer, noted with the source, which is no change of it", async () => {
    const { path, credential } = await source(mailer.badToken);
    const before = await read(path);
    const { status, body } = await check(path);
    expect([status, body.data.status, body.data.error]).toEqual([
      200,
      "failed",
      "CREDENTIALS_REJECTED",
    ]);
    expect(body.data.message).toMatch(/credentials/);
    const { source_id, connector_id, ...last_check } = body.data;
    expect(await read(path)).toEqual({ ...before, status: "error", last_check });
    const { items } = (await api.call("GET", "/sources")).body.data;
    expect(items).toContainEqual(await read(path));

    const { id: other } = await addCredential(api, { api_token: mailer.token });
    await api.db
      .updateTable("sources")
      .set({ credential_id: other })
      .where("credential_id", "=", credential.id)
      .execute();
    expect((await check(path)).body.data.status).toBe("succeeded");
    expect(await read(path)).toMatchObject({ status: "active", last_check: { error: null } });
  });

  test("that cannot even be tried is an answer too, and asks nobody", async () => {
    const asked = mailer.requests.length;
    const lost = await source();
    await api.db
      .updateTable("credentials")
      .set({ status: "needs_reauth" })
      .where("id", "=", lost.credential.id)
      .execute();
    const refused = await source(mailer.token, "https://once.example.com/api");
    const wrong = await source();
    await api.db
      .updateTable("sources")
      .set({ configuration: JSON.stringify({ base_url: "https://mail.example.com/api", x: 1 }) })
      .where("id", "=", wrong.id)
      .execute();
    for (const [path, error] of [
      [lost.path, "REAUTHORIZATION_NEEDED"],
      [refused.path, "BASE_URL_REFUSED"],
      [wrong.path, "CONFIG_INVALID"],
    ] as const) {
      const { status, body } = await check(path);
      expect([status, body.data.status, body.data.error]).toEqual([200, "failed", error]);
      expect(await read(path)).toMatchObject({ status: "error", last_check: { error } });
    }
    const setting = {
      connector_id: "conn_mailer_product_edm",
      enabled: false,
      updated_at: new Date(api.control.services.clock.now()),
    };
    await api.db.insertInto("connector_settings").values(setting).execute();
    const { path } = await source();
    expect((await check(path)).body.data.error).toBe("CONNECTOR_DISABLED");
    await api.db.deleteFrom("connector_settings").execute();
    expect(mailer.requests.length).toBe(asked);
  });

  test("is not noted with what was changed meanwhile", async () => {
    const { path } = await source(mailer.badToken);
    during = async () => {
      during = undefined;
      await api.call("PATCH", path, { body: { name: "Another one" } });
    };
    expect((await check(path)).body.data.status).toBe("failed");
    expect(await read(path)).toMatchObject({ name: "Another one", status: "active" });
  });

  describe("of a destination", () => {
    test("writes a table and removes it", async () => {
      const id = await addDestination(api);
      const { status, body } = await check(`/destinations/${id}`, {
        token: api.first.tokens.runner,
      });
      expect([status, body.data]).toEqual([
        200,
        {
          destination_id: id,
          connector_id: "conn_duckdb",
          status: "succeeded",
          error: null,
          message: null,
          checked_at: expect.stringMatching(/Z$/),
        },
      ]);
    });

    test("that fails is an answer, noted with it", async () => {
      const id = await addDestination(api);
      const { warehouses } = api.control.services.settings;
      const folder = join(warehouses ?? "", api.first.id);
      await mkdir(folder, { recursive: true });
      await writeFile(join(folder, "broken.duckdb"), "this is no database".repeat(1_000));
      await api.db
        .updateTable("destinations")
        .set({ configuration: JSON.stringify({ file: "broken" }) })
        .where("id", "=", id)
        .execute();
      const { status, body } = await check(`/destinations/${id}`);
      expect([status, body.data.status]).toEqual([200, "failed"]);
      expect(body.data.error).toMatch(/^[A-Z_]+$/);
      const { destination_id, connector_id, ...last_check } = body.data;
      expect(await read(`/destinations/${id}`)).toMatchObject({
        status: "error",
        version: 1,
        last_check,
      });
    });

    test("of another workspace does not exist", async () => {
      const path = `/destinations/${await addDestination(api)}`;
      expect((await check(path, { token: api.second.tokens.admin })).status).toBe(404);
    });
  });
});
