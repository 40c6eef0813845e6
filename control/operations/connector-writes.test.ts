/** A declarative manifest as a connector: added, used like the others, replaced, removed. */
import { systemClock } from "svc-connectors/host";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { sharedAuthority } from "../../simulators/certificates.ts";
import { answerJson, type Provider, startProvider } from "../../simulators/loopback.ts";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { queryDestination } from "../../tests/control-pipelines.ts";
import { soon } from "../../tests/soon.ts";
import { createConnectors } from "../connectors/registry.ts";
import { examples } from "../contract/examples.ts";

const token = "canary-of-an-orders-token-0123456789-abcdefgh";
const { manifest } = examples["connector.update"] as { manifest: string };
const host = "https://api.orders.example.com";
const id = "conn_orders";

let provider: Provider;
let api: TestControl;
beforeAll(async () => {
  const authority = await sharedAuthority();
  provider = await startProvider(
    ({ headers }, response) =>
      headers.authorization === `Bearer ${token}`
        ? answerJson(response, 200, {
            data: [1, 2].map((order) => ({ id: order, name: `${order}` })),
          })
        : answerJson(response, 401, {}),
    { certificate: await authority.issue(["api.orders.example.com"]) },
  );
  const seams = { ...provider.seams, ca: authority.caPem };
  api = await startTestControl({ seams, sandbox: "inline", jobs: "run" });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const add = (text: string, name = "orders", options: { token?: string } = {}) =>
  api.call("POST", "/connectors", { body: { name, manifest: text }, ...options });
const replace = (text: string) =>
  api.call("PATCH", `/connectors/${id}`, { body: { manifest: text } });
const remove = () => api.call("DELETE", `/connectors/${id}`);
const made = async (path: string, body: object) => {
  const answer = await api.call("POST", path, { body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.data;
};

test("who does not administer the instance adds none, nor does an agent", async () => {
  const { first, second } = api;
  for (const one of [first.tokens.editor, first.tokens.agent, second.tokens.admin])
    expect((await add(manifest, "orders", { token: one })).status).toBe(403);
});

test("it is a connector like the others: shown, checked, synced, replaced, and removed when nobody uses it", async () => {
  const added = await add(manifest);
  expect(added).toMatchObject({
    status: 201,
    headers: { location: `/control/v1/connectors/${id}` },
  });
  const facts = {
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    reaches: [host],
    missing_streams: [],
  };
  expect(added.body.data).toMatchObject({
    connector_id: id,
    secret_fields: ["api_token"],
    manifest_metadata: facts,
  });
  expect((await add(manifest)).body.details.reason).toBe("name_taken");
  const shown = await api.call("GET", `/connectors/${id}`, { token: api.second.tokens.viewer });
  expect(shown.body.data).toMatchObject({
    ...{
      type: "source",
      auth_types: ["api_token"],
      enabled: true,
      manifest,
      manifest_metadata: facts,
    },
    streams_preview: [{ name: "orders", primary_key: ["id"], fields: ["id", "name"] }],
  });
  const { body: spec } = await api.call("GET", `/connectors/${id}/spec`);
  expect(spec.data).toMatchObject({
    ...{ spec_version: "6.36.2", secret_fields: ["api_token"] },
    auth: { type: "api_token", start_path: "/credentials" },
  });
  const { credential_handle, credential_id } = await made("/credentials", {
    ...{ connector_id: id, name: "Token" },
    secrets: { api_token: token },
  });
  const { source_id } = await made("/sources", {
    ...{ name: "Orders", connector_id: id },
    credential_handle,
  });
  const { destination_id } = await made("/destinations", {
    ...{ name: "Warehouse", connector_id: "conn_duckdb" },
    configuration: { file: "warehouse" },
  });
  const { pipeline_id, connection_id } = await made("/pipelines", {
    ...{ name: "Orders", source_id, destination_id, schedule: { type: "manual" } },
    streams: [{ name: "orders" }],
  });
  const rows = async () => {
    const { job } = await made(`/pipelines/${pipeline_id}/sync`, {});
    await vi.waitFor(async () => {
      const { body } = await api.call("GET", `/jobs/${job.job_id}`);
      expect(body.data).toMatchObject({ status: "succeeded" });
    }, soon);
    const query = "SELECT id, name FROM _svc_orders ORDER BY id";
    return await queryDestination(api, destination_id, query);
  };
  expect(await rows()).toEqual([
    [1, "1"],
    [2, "2"],
  ]);

  // A token that was given for one host goes to no other, and stays a secret.
  const refusals = [
    [manifest.replace(host, "https://evil.example.net"), "https://evil.example.net"],
    [
      manifest.replaceAll("api_token", "key").replace('key: "{{', 'api_token: "{{'),
      "api_token would be no secret",
    ],
  ] as const;
  for (const [text, problem] of refusals) {
    const { status, body } = await replace(text);
    expect([status, body.details]).toEqual([
      422,
      { reason: "connector_refused", problem: expect.stringContaining(problem) },
    ]);
  }
  const newer = manifest.replace("name: { type: string }", "name: { type: string }, note: {}");
  const replaced = await replace(newer);
  expect(replaced.status).toBe(200);
  expect(replaced.body.data.manifest_metadata.digest).not.toBe(
    added.body.data.manifest_metadata.digest,
  );
  const fields = (await api.call("GET", `/connectors/${id}`)).body.data.streams_preview[0].fields;
  expect(fields).toEqual(["id", "name", "note"]);
  expect((await api.call("POST", `/sources/${source_id}/check`)).body.data.status).toBe(
    "succeeded",
  );

  expect(await remove()).toMatchObject({
    status: 409,
    body: { details: { reason: "connector_in_use" } },
  });
  for (const path of [`/connections/${connection_id}`, `/sources/${source_id}`])
    expect((await api.call("DELETE", path)).status).toBe(200);
  expect((await remove()).body.details).toMatchObject({ by: "credentials" });
  expect((await api.call("DELETE", `/credentials/${credential_id}`)).status).toBe(200);
  expect((await remove()).status).toBe(200);
  const { items } = (await api.call("GET", "/connectors?limit=200")).body.data;
  expect(items.map((one: { connector_id: string }) => one.connector_id)).not.toContain(id);
  expect((await remove()).status).toBe(404);
  const log = await api.db
    .selectFrom("audit_logs")
    .select("action")
    .where("resource_id", "=", id)
    .execute();
  const actions = new Set(log.map(({ action }) => action));
  expect([...actions].sort()).toEqual(["connector.create", "connector.delete", "connector.update"]);
});

test("of two who replace or remove the same one, the second is told", async () => {
  const first = await add(manifest, "shared");
  const path = "/connectors/conn_shared";
  const newer = (note: string) =>
    manifest.replace("name: { type: string }", `name: { type: string }, ${note}: {}`);
  const replaceFrom = (tag: string, note: string) =>
    api.call("PATCH", path, { body: { manifest: newer(note) }, headers: { "if-match": tag } });
  expect([first.body.data.version, first.headers.etag]).toEqual([1, '"v1"']);
  expect((await api.call("GET", path)).headers.etag).toBe('"v1"');
  // Both have read the same version, and both are looked at before either is written.
  const both = await Promise.all([replaceFrom('"v1"', "mine"), replaceFrom('"v1"', "theirs")]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect(both.find(({ status }) => status === 412)?.body.details).toEqual({
    reason: "version_mismatch",
    version: 2,
  });
  const shown = (await api.call("GET", path)).body.data;
  expect(shown.version).toBe(2);
  const removeFrom = (tag: string) => api.call("DELETE", path, { headers: { "if-match": tag } });
  expect((await removeFrom('"v1"')).status).toBe(412);
  expect((await api.call("GET", path)).status).toBe(200);
  expect((await removeFrom('"v2"')).status).toBe(200);
  // One that comes back is another state than any before.
  expect((await add(manifest, "shared")).body.data.version).toBe(4);
  const { version } = (await api.call("GET", "/connectors/conn_duckdb")).body.data;
  expect(version).toBeNull();
});

test("the text is in the database, so that it runs on every host", async () => {
  await add(manifest, "everywhere");
  const elsewhere = createConnectors({
    ...{ db: api.db, folder: "/nowhere", clock: systemClock, sandbox: "inline" },
  });
  await elsewhere.reload();
  const { reference } = elsewhere.get("conn_everywhere");
  expect(reference).toMatchObject({
    document: manifest,
    url: "manifest:/everywhere/manifest.yaml",
  });
});

test("streams that need what the runtime lacks are named with their place, and the others work", async () => {
  const [head = "", streams = "", rest = ""] = manifest.split(/(?<=streams:\n)|(?=spec:\n)/);
  const custom = streams
    .replace("name: orders", "name: strange")
    .replace("type: RecordSelector", "type: CustomRecordExtractor\n        class_name: a.B");
  const { status, body } = await add(head + streams + custom + rest, "partly");
  expect(status).toBe(201);
  expect(body.data.manifest_metadata.missing_streams).toEqual([
    {
      stream: "strange",
      path: "streams.strange.retriever.record_selector",
      problem: expect.any(String),
    },
  ]);
});

describe("what cannot be added is told with its place:", () => {
  test.each([
    ["no YAML", "a: [", /is not valid YAML: line 1/],
    ["no manifest", "a: 1", /manifest/],
    [
      "a reference to itself",
      manifest.replace("path: orders", 'path: { $ref: "#/streams/0" }'),
      /refers to itself/,
    ],
    ["an internal address", manifest.replace(host, "https://10.0.0.1/v1"), /leads to an address/],
    [
      "a provider on this machine",
      manifest.replace(host, "http://localhost:8080"),
      /on this machine/,
    ],
    [
      "no secret",
      manifest
        .replace(/authenticator:.*/, "http_method: GET")
        .replace(", airbyte_secret: true", ""),
      /none of its settings is a secret/,
    ],
    [
      "a secret within a list",
      manifest.replace(
        "api_token: {",
        "more: { type: array, title: More, items: { type: string, airbyte_secret: true } }\n      api_token: {",
      ),
      /holds a secret where only properties may/,
    ],
  ])("%s", async (_, text, problem) => {
    const { status, body } = await add(text, "faulty");
    expect([status, body.details.reason]).toEqual([422, "connector_refused"]);
    expect(body.details.problem).toMatch(problem);
  });

  test("a name that no id can have, a text that is too long, and the name of one that comes with svc", async () => {
    const { body: named } = await add(manifest, "Orders!");
    expect(named.details.errors[0].path).toBe("name");
    expect((await add(`${manifest}${"#".repeat(1_000_000)}`)).status).toBeOneOf([413, 422]);
    expect((await add(manifest, "postgres")).body.details.problem).toMatch(/comes with svc/);
    expect((await api.call("DELETE", "/connectors/conn_postgres")).body.details.reason).toBe(
      "connector_refused",
    );
  });
});
