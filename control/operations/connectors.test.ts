import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { builtInDestinations, builtInSources } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { databaseRows } from "../../tests/database-text.ts";

type Item = { connector_id: string };
type Card = (typeof builtInSources)[number];

/** Ids of the sources and destinations with such a card. */
const idsOf = (fits: (card: Card) => boolean) =>
  [...builtInSources, ...builtInDestinations].filter(fits).map(({ id }) => id);

describe("connectors", () => {
  let api: TestControl;
  const lookups: string[] = [];
  const refuse = (name: string) => {
    lookups.push(name);
    return [];
  };

  beforeAll(async () => {
    api = await startTestControl({
      sandbox: "inline",
      seams: { resolve: async (name) => refuse(name) },
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const list = async (query = "") => {
    const { status, body } = await api.call("GET", `/connectors${query}`);
    expect(status).toBe(200);
    return body.data.items.map((item: Item) => item.connector_id);
  };

  test("are listed with what they can", async () => {
    const { body } = await api.call("GET", "/connectors");
    expect(body.data.items.map((item: Item) => item.connector_id)).toEqual(
      expect.arrayContaining([...builtInSources, ...builtInDestinations].map(({ id }) => id)),
    );
    expect(body.data.items).toContainEqual({
      connector_id: "conn_bankdata",
      name: "Bank data",
      type: "source",
      category: "finance",
      auth_types: ["api_token"],
      release_stage: "ga",
      supports: { full_refresh: true, incremental: true, namespaces: false, ssl: true },
      added: false,
      enabled: true,
      documentation_url: null,
    });
    expect(body.data.items).toContainEqual(
      expect.objectContaining({ connector_id: "conn_postgres", auth_types: ["basic"] }),
    );
    expect(body.data.items).toContainEqual(
      expect.objectContaining({
        connector_id: "conn_duckdb",
        type: "destination",
        auth_types: ["none"],
      }),
    );
    expect(lookups).toEqual([]);
  });

  test.each([
    ["?type=source", builtInSources.map(({ id }) => id)],
    ["?category=finance", idsOf(({ category }) => category === "finance")],
    ["?q=MAIL", idsOf(({ title }) => title.toLowerCase().includes("mail"))],
    ["?q=conn_soc", idsOf(({ id }) => id.startsWith("conn_soc"))],
    ["?q=mail&category=finance", []],
  ])("are filtered by %s", async (query, expected) => {
    const ids = await list(query);
    expect(ids).toEqual(expected);
  });

  test.each([
    ["?type=destination", ["conn_duckdb", "conn_postgres_destination"], "conn_mailer_product_edm"],
    ["?auth_type=basic", ["conn_postgres", "conn_postgres_destination"], "conn_duckdb"],
    ["?auth_type=none", ["conn_duckdb"], "conn_postgres"],
  ])("are filtered by %s, as their modules are", async (query, some, other) => {
    const ids = await list(query);
    expect(ids).toEqual(expect.arrayContaining(some));
    expect(ids).not.toContain(other);
  });

  test("that users connect in the browser are found by that", async () => {
    expect(await list("?auth_type=oauth2")).toContain("conn_social");
  });

  test("come in pages", async () => {
    const { body } = await api.call("GET", "/connectors?limit=3");
    expect(body.data.has_more).toBe(true);
    const rest = await list(`?limit=200&cursor=${body.data.next_cursor}`);
    expect([...body.data.items.map((item: Item) => item.connector_id), ...rest]).toEqual(
      await list(),
    );
  });

  test("an unknown filter is refused", async () => {
    const { body } = await api.call("GET", "/connectors?type=sink");
    expect(body).toMatchObject({ code: "400", details: { reason: "invalid_query" } });
  });

  test("have a preview of their streams, and the limit of tables", async () => {
    const { body } = await api.call("GET", "/connectors/conn_mailer_product_edm");
    const campaigns = body.data.streams_preview.find(
      ({ name }: { name: string }) => name === "campaigns",
    );
    expect(campaigns).toMatchObject({
      primary_key: ["uuid"],
      sync_modes: ["full_refresh", "incremental"],
    });
    expect(campaigns.fields).toContain("open_rate");
    expect(body.data.limits).toEqual({ max_tables: 6_000 });
    expect(body.data).not.toHaveProperty("legacy_aliases");
    for (const id of ["conn_social", "conn_bankdata", "conn_taskapp"]) {
      const other = await api.call("GET", `/connectors/${id}`);
      expect(other.body.data.streams_preview.length).toBeGreaterThan(3);
    }
    const postgres = await api.call("GET", "/connectors/conn_postgres");
    expect(postgres.body.data.streams_preview).toEqual([]);
    expect(lookups).toEqual([]);
  });

  test.each([
    "source:mailer",
    "source:6a1f0d52-93f4-4c1b-8f5e-2b7c1f0e4a01",
    "source:6A1F0D52-93F4-4C1B-8F5E-2B7C1F0E4A01",
    "SOURCE:mailer",
  ])("are found by the id of an old configuration, %s, which no answer shows", async (alias) => {
    for (const path of [`/connectors/${alias}`, `/connectors/${alias}/spec`]) {
      const { status, headers, body, text } = await api.call("GET", path);
      expect(status).toBe(200);
      expect(headers.deprecation).toMatch(/^@\d{10}$/);
      expect(headers.link).toBe('</control/v1/docs>; rel="deprecation"; type="text/html"');
      expect(body.data.connector_id).toBe("conn_mailer_product_edm");
      expect(text).not.toContain("source:");
    }
    const primary = await api.call("GET", "/connectors/conn_mailer_product_edm");
    expect(primary.headers).not.toHaveProperty("deprecation");
  });

  test.each([
    "source:nobody",
    "mailer",
    "conn_nobody",
    "source:",
    "__proto__",
  ])("%s is unknown", async (id) => {
    const { body, headers } = await api.call("GET", `/connectors/${encodeURIComponent(id)}`);
    expect(body).toMatchObject({ code: "404", details: { reason: "not_found" } });
    expect(headers).not.toHaveProperty("deprecation");
  });

  test("have a JSON Schema of their settings, in which every secret is marked", async () => {
    const ajv = new Ajv2020({ strict: false });
    (formats as unknown as (ajv: Ajv2020) => void)(ajv);
    for (const id of await list()) {
      const { body } = await api.call("GET", `/connectors/${id}/spec`);
      const {
        connection_specification: schema,
        secret_fields: secretFields,
        spec_version,
      } = body.data;
      expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
      expect(ajv.validateSchema(schema)).toBe(true);
      ajv.compile(schema);
      expect(spec_version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(secretFields.length > 0).toBe(body.data.auth.type !== "none");
      for (const [name, property] of Object.entries<Record<string, unknown>>(schema.properties)) {
        expect(property["x-svc-secret"] === true).toBe(secretFields.includes(name));
        expect(property.writeOnly === true).toBe(secretFields.includes(name));
        if (secretFields.includes(name))
          expect(property.description).toMatch(/via POST \/credentials/);
      }
    }
  });

  test.each([
    [
      "conn_mailer_product_edm",
      { type: "api_token", start_path: "/credentials/mailer/api-token", account_fields: [] },
    ],
    ["conn_bankdata", { type: "api_token", start_path: "/credentials", account_fields: [] }],
    [
      "conn_social",
      {
        type: "oauth2",
        start_path: "/credentials/source/oauth/start",
        account_fields: ["client_id", "client_secret", "refresh_token"],
      },
    ],
    [
      "conn_taskapp",
      {
        type: "oauth2",
        start_path: "/credentials/taskapp/oauth/start",
        account_fields: ["access_token"],
      },
    ],
    ["conn_postgres", { type: "basic", start_path: "/credentials", account_fields: [] }],
    [
      "conn_postgres_destination",
      { type: "basic", start_path: "/credentials", account_fields: [] },
    ],
    ["conn_duckdb", { type: "none", start_path: null, account_fields: [] }],
  ])("%s says where a credential begins", async (id, auth) => {
    expect((await api.call("GET", `/connectors/${id}/spec`)).body.data.auth).toEqual(auth);
  });

  test("that the operator has disabled say so, and are readable as before", async () => {
    const row = { connector_id: "conn_bankdata", enabled: false, updated_at: new Date(0) };
    await api.db.insertInto("connector_settings").values(row).execute();
    const { status, body } = await api.call("GET", "/connectors/conn_bankdata");
    expect([status, body.data.enabled]).toEqual([200, false]);
    expect((await api.call("GET", "/connectors/conn_social")).body.data.enabled).toBe(true);
    await api.db.deleteFrom("connector_settings").execute();
  });

  test("are code: reading about them touches no row", async () => {
    const {
      credential_uses: _uses,
      sessions: _sessions,
      memberships: _memberships,
      ...before
    } = await databaseRows(api.db);
    for (const id of await list()) {
      await api.call("GET", `/connectors/${id}`);
      await api.call("GET", `/connectors/${id}/spec`);
    }
    expect(await databaseRows(api.db)).toMatchObject(before);
  });
});
