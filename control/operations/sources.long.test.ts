import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCertificateAuthority } from "../../simulators/certificates.ts";
import { startMailer } from "../../simulators/mailer/mailer.ts";
import {
  findPostgres,
  type PostgresServer,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import { startSocial } from "../../simulators/social/social.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addCredential } from "../../tests/control-rows.ts";
import { databaseRows } from "../../tests/database-text.ts";
import { createId } from "../contract/ids.ts";

describe.skipIf(!findPostgres())(
  "with sandboxed workers, and a PostgreSQL server as the store",
  () => {
    let server: PostgresServer;
    let api: TestControl;
    let mailer: Awaited<ReturnType<typeof startMailer>>;
    let social: Awaited<ReturnType<typeof startSocial>>;
    let handle: string;

    beforeAll(async () => {
      const authority = await createCertificateAuthority();
      mailer = await startMailer({ seed: 3, campaigns: 30, authority });
      social = await startSocial({ seed: 5, authority });
      server = await startPostgres();
      const store = await server.createDatabase();
      const providerOf = (host: string) =>
        host === mailer.hostname ? mailer : host.endsWith("zoho.com") ? social : undefined;
      api = await startTestControl({
        database: { url: store.url },
        seams: {
          resolve: async (host) => (await providerOf(host)?.seams.resolve(host)) ?? [],
          dial: (target) =>
            providerOf(target.host)?.seams.dial(target) ?? connect(target.port, target.address),
          ca: authority.caPem,
        },
        settings: {
          network: { approvedHosts: [mailer.hostname], allowNetworks: ["127.0.0.1/32"] },
        },
      });
      handle = (await addCredential(api, { api_token: mailer.token })).handle;
    });
    afterAll(async () => {
      await api?.[Symbol.asyncDispose]();
      await Promise.all([mailer?.close(), social?.close(), server?.stop()]);
    });

    const body = (changes: object = {}) => ({
      name: "Our mailer",
      connector_id: "conn_mailer_product_edm",
      credential_handle: handle,
      configuration: { base_url: mailer.baseUrl },
      ...changes,
    });
    const create = async () => (await api.call("POST", "/sources", { body: body() })).body.data;
    const patch = (id: string, configuration: object) =>
      api.call("PATCH", `/sources/${id}`, { body: { configuration } });

    test("connectors tell of themselves", async () => {
      const { body: answer } = await api.call("GET", "/connectors");
      expect(answer.data.items.length).toBeGreaterThan(5);
      for (const { connector_id } of answer.data.items) {
        const spec = await api.call("GET", `/connectors/${connector_id}/spec`);
        expect(spec.body.data.connection_specification.type).toBe("object");
      }
      expect(
        (await api.call("GET", "/connectors/conn_social")).body.data.streams_preview.length,
      ).toBeGreaterThan(3);
    });

    /**
     * Without what servers count: requests, theirs and a provider's, and when a secret was used.
     */
    const writtenRows = async () => {
      const { credential_uses, provider_requests, request_budgets, ...rows } = await databaseRows(
        api.db,
      );
      return rows;
    };

    test("a mailer account is checked and previewed, and nothing is written but what limits count, the uses of its credential, and where that belongs", async () => {
      await api.call("GET", "/sources"); // notes that its caller is active
      const before = await writtenRows();
      const unbound = '"base_url":null';
      expect(before.credentials).toContain(unbound);
      const account = { credential_handle: handle, base_url: mailer.baseUrl };
      const checked = await api.call("POST", "/connectors/mailer/check", { body: account });
      expect(checked.body.data.data_source_status).toBe("ready");
      const shown = await api.call("POST", "/connectors/mailer/edm/preview", {
        body: { ...account, limit: 5 },
      });
      expect(shown.body.data.campaigns).toHaveLength(5);
      expect(shown.body.data.field_coverage).toEqual(checked.body.data.field_coverage);
      // The first host that has taken the token keeps it.
      const bound = before.credentials?.replace(unbound, `"base_url":"${mailer.baseUrl}"`);
      expect(await writtenRows()).toEqual({ ...before, credentials: bound });
    });

    test("a mailer account whose answers break off is not kept waiting for", async () => {
      mailer.faults.inject({ type: "echo_authorization" }, { path: "/api/sends", times: 10 });
      const account = { credential_handle: handle, base_url: mailer.baseUrl };
      const { body: answer, text } = await api.call("POST", "/connectors/mailer/check", {
        body: account,
      });
      mailer.faults.clear();
      expect(answer.data.data_source_status).toBe("degraded");
      expect(text).not.toContain(mailer.token);
    });

    test("choices of a social account are listed", async () => {
      const secrets = { client_secret: social.clientSecret, refresh_token: social.refreshToken };
      const metadata = { client_id: social.clientId };
      const credential = await addCredential(api, secrets, {
        connectorId: "conn_social",
        metadata,
      });
      const { body: answer } = await api.call("POST", "/sources/entities", {
        body: { credential_handle: credential.handle, portal_id: social.portalId },
      });
      expect(answer.data.options.portal_id.map(({ value }: { value: string }) => value)).toContain(
        social.portalId,
      );
      expect(answer.data.options.channel_ids.length).toBeGreaterThan(0);
    });

    test("of several changes at once none is lost without a word", async () => {
      const { source_id } = await create();
      const settings = [
        { page_size: 7 },
        { lookback_days: 9 },
        { include_html: true },
        { campaign_status: "all" },
      ];
      const answers = await Promise.all(settings.map((one) => patch(source_id, one)));
      const saved = answers.filter(({ status }) => status === 200);
      expect(saved.length).toBeGreaterThan(0);
      for (const { status, body: answer } of answers)
        if (status !== 200)
          expect([status, answer.details.reason]).toEqual([409, "concurrent_change"]);
      const { data } = (await api.call("GET", `/sources/${source_id}`)).body;
      expect(data.version).toBe(1 + saved.length);
      expect(Object.keys(data.configuration)).toHaveLength(1 + saved.length);
    });

    test("a source that is deleted while a connection is made keeps it, or was gone before", async () => {
      for (let round = 0; round < 10; round++) {
        const { source_id } = await create();
        const id = createId("connection");
        const connect = api.db
          .insertInto("connections")
          .values({
            id,
            workspace_id: api.first.id,
            pipeline_id: createId("pipeline"),
            source_id,
            created_at: new Date(0),
          })
          .execute()
          .then(() => true)
          .catch(() => false);
        const [isConnected, deleted] = await Promise.all([
          connect,
          api.call("DELETE", `/sources/${source_id}`),
        ]);
        expect([isConnected, deleted.status]).toEqual(isConnected ? [true, 409] : [false, 200]);
        if (isConnected) expect(deleted.body.details.connection_ids).toEqual([id]);
      }
    });

    test("a source is deleted once, however many ask", async () => {
      const { source_id } = await create();
      const answers = await Promise.all(
        [1, 2, 3, 4].map(() => api.call("DELETE", `/sources/${source_id}`)),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    });

    describe("a database", () => {
      const password = "Correct-Horse-9-Battery";
      const settings = (database: string) => ({
        host: server.host,
        port: server.port,
        database,
        username: "reader_of_control",
        ssl_mode: "disable",
        include_tables: ["public.api_token*"],
      });
      const createOrders = async (role: string, secret: string) => {
        const database = await server.createDatabase();
        await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${secret}'; CREATE TABLE api_tokens (id integer PRIMARY KEY);
        GRANT SELECT ON api_tokens TO ${role}`);
        return database;
      };
      const source = (credential: { handle: string }, configuration: object) => ({
        name: "Orders",
        connector_id: "conn_postgres",
        credential_handle: credential.handle,
        configuration,
      });

      test("becomes a source, and its password stays in the vault", async () => {
        const orders = await createOrders("reader_of_control", password);
        const credential = await addCredential(api, { password }, { connectorId: "conn_postgres" });
        const made = await api.call("POST", "/sources", {
          body: source(credential, settings(orders.name)),
        });
        expect([made.status, made.body.data?.configuration]).toEqual([201, settings(orders.name)]);
        const wrong = await addCredential(
          api,
          { password: `${password}!` },
          { connectorId: "conn_postgres" },
        );
        const failed = await api.call("POST", "/sources", {
          body: source(wrong, settings(orders.name)),
        });
        expect(failed.body.details).toMatchObject({
          reason: "connection_check_failed",
          check: { status: "failed" },
        });
        expect(made.text + failed.text).not.toContain(password);
        const inside = { ...settings(orders.name), password };
        const refused = await api.call("POST", "/sources", { body: source(credential, inside) });
        expect(refused.body.details).toMatchObject({
          reason: "secret_not_allowed",
          errors: [{ path: "configuration.password" }],
        });
      });

      test.each([
        ["same_as_its_own_7", 422],
        ["plainword", 201], // it hides nothing, and is common on machines of developers
      ])("whose user is called like its password, %s, is answered with %i", async (word, expected) => {
        const orders = await createOrders(word, word);
        const credential = await addCredential(
          api,
          { password: word },
          { connectorId: "conn_postgres" },
        );
        const configuration = { ...settings(orders.name), username: word };
        const { status, body: answer } = await api.call("POST", "/sources", {
          body: source(credential, configuration),
        });
        expect(status).toBe(expected);
        if (expected === 201) return;
        expect(answer.details).toMatchObject({
          reason: "secret_not_allowed",
          errors: [{ path: "configuration.username" }],
        });
      });
    });
  },
);
