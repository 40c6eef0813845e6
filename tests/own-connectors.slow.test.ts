/**
 * A connector of one's own in the Control API: made, added, used like the others, and refused when
 * it is not what was added any more.
 */
import { appendFile, cp, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readConnectorCode } from "svc-connectors/host";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { examples } from "../control/contract/examples.ts";
import { askInstance } from "../control/operator/ask.ts";
import { createOperator } from "../control/operator/operator.ts";
import { createMemoryKeyring } from "../control/vault/keyring.ts";
import type { Provider } from "../simulators/loopback.ts";
import { findPostgres, type PostgresServer, startPostgres } from "../simulators/postgres-server.ts";
import { startTestControl, type TestControl } from "./control.ts";
import { queryDestination } from "./control-pipelines.ts";
import { skipUnlessWhole } from "./effort.ts";
import { prepareInstance } from "./instance.ts";
import {
  changeModule,
  copyConnector,
  installPacked,
  makeOwnConnector,
  notesToken,
  startNotes,
} from "./own-connector.ts";
import { administer, startServe, svc } from "./served.ts";
import { soon } from "./soon.ts";

let made: string;
let provider: Provider;
beforeAll(async () => {
  made = await makeOwnConnector(await realpath(await mkdtemp(join(tmpdir(), "svc-own-"))));
  provider = await startNotes();
});
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]();
  await rm(join(made, ".."), { recursive: true, force: true });
});

let folder: string;
let connector: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-own-")));
  connector = join(folder, "helpdesk");
  await copyConnector(made, connector);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const operatorOf = ({ control }: TestControl) => createOperator(askInstance(control.services));
const start = (options: Parameters<typeof startTestControl>[0] = {}) =>
  startTestControl({ seams: provider.seams, connectorsFolder: folder, jobs: "run", ...options });
const add = (api: TestControl, changes: object = {}) =>
  operatorOf(api).run("connector.add", { body: { path: connector, ...changes } });

async function post(api: TestControl, path: string, body: object) {
  const answer = await api.call("POST", path, { body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.data;
}

/** A pipeline from the helpdesk into a file, by the API. */
async function addPipeline(api: TestControl) {
  const { credential_handle, credential_id } = await post(api, "/credentials", {
    connector_id: "conn_helpdesk",
    name: "Token",
    secrets: { api_token: notesToken },
  });
  const { source_id } = await post(api, "/sources", {
    name: "Helpdesk",
    connector_id: "conn_helpdesk",
    credential_handle,
    configuration: { page_size: 10 },
  });
  const { destination_id } = await post(api, "/destinations", {
    name: "Warehouse",
    connector_id: "conn_duckdb",
    configuration: { file: "warehouse" },
  });
  const { pipeline_id } = await post(api, "/pipelines", {
    name: "Helpdesk",
    source_id,
    destination_id,
    schedule: { type: "manual" },
    streams: [{ name: "notes" }, { name: "folders" }],
  });
  return { credential_id, source_id, destination_id, pipeline_id };
}

async function sync(api: TestControl, pipelineId: string) {
  const { job } = await post(api, `/pipelines/${pipelineId}/sync`, {});
  return await vi.waitFor(async () => {
    const { data } = (await api.call("GET", `/jobs/${job.job_id}`)).body;
    if (["pending", "queued", "running", "incomplete"].includes(data.status))
      throw new Error(data.status);
    return data;
  }, soon);
}

const succeeded = { status: "succeeded" };
const changed = {
  status: "failed",
  failure: { code: "CONNECTOR_CHANGED", message: expect.stringContaining("svc connectors add") },
};

test("it is a connector like the others: spec, credential, check, pipeline, rows in a warehouse", async () => {
  await using api = await start();
  const unknown = await api.call("GET", "/connectors/conn_helpdesk");
  expect(unknown.status).toBe(404);
  expect(await add(api)).toMatchObject({
    connector_id: "conn_helpdesk",
    sandbox: "bubblewrap",
    reaches: ["https://api.notes.example.com/v1"],
    secret_fields: ["api_token"],
    changed: false,
  });
  const { data } = (await api.call("GET", "/connectors?type=source&search=helpdesk")).body;
  expect(data.items).toEqual([
    expect.objectContaining({ connector_id: "conn_helpdesk", category: "other", enabled: true }),
  ]);
  const { body: spec } = await api.call("GET", "/connectors/conn_helpdesk/spec");
  expect(spec.data).toMatchObject({
    spec_version: "0.1.0",
    secret_fields: ["api_token"],
    auth: { type: "api_token", start_path: "/credentials" },
  });
  const { pipeline_id, source_id, destination_id } = await addPipeline(api);
  expect((await api.call("POST", `/sources/${source_id}/check`)).body.data).toMatchObject(
    succeeded,
  );
  expect(await sync(api, pipeline_id)).toMatchObject(succeeded);
  const rows = await queryDestination(
    api,
    destination_id,
    "SELECT id, title FROM _svc_notes ORDER BY id",
  );
  expect(rows).toEqual([1, 2, 3].map((id) => [`n${id}`, `Note ${id}`]));
});

test("it does not say where its secrets and accounts are taken, what else counts, or by which names it goes", async () => {
  const control = {
    credentialPath: "/credentials/mailer/api-token",
    oauthPath: "/credentials/elsewhere",
    namedSettings: ["page_size"],
    sourceRules: { required: ["page_size"] },
  };
  const claims = {
    aliases: ["source:mailer"],
    credentialsOf: ["conn_mailer_product_edm"],
    control,
  };
  // As in a card of one that comes with svc, and as a module might say it itself.
  const card = { kind: "source", name: "mailer", id: "conn_helpdesk", stage: "ga", ...claims };
  await writeFile(join(connector, "card.json"), JSON.stringify(card));
  await changeModule(
    connector,
    'title: "Helpdesk",',
    `title: "Helpdesk", ...${JSON.stringify(claims)},`,
  );
  await using api = await start({ jobs: "off" });
  const before = await api.call("GET", "/connectors/source:mailer");
  await add(api);
  expect(await api.call("GET", "/connectors/source:mailer")).toMatchObject({
    status: before.status,
    body: { data: before.body.data },
  });
  const { data: spec } = (await api.call("GET", "/connectors/conn_helpdesk/spec")).body;
  expect(spec.auth).toMatchObject({ type: "api_token", start_path: "/credentials" });
  expect(JSON.stringify(spec)).toContain("Accepted only via POST /credentials.");
  expect(JSON.stringify(spec)).not.toMatch(/credentials\/(mailer|elsewhere)/);
  const { credential_handle } = await post(api, "/credentials", {
    connector_id: "conn_helpdesk",
    name: "Token",
    secrets: { api_token: notesToken },
  });
  const source = { name: "Helpdesk", connector_id: "conn_helpdesk", credential_handle };
  expect(await post(api, "/sources", { ...source, configuration: {} })).toMatchObject({
    connector_id: "conn_helpdesk",
  });
});

describe("a source of it", () => {
  test("stays when one byte of the module changes, does not run, and runs when it was added again", async (context) => {
    skipUnlessWhole(context);
    await using api = await start();
    const before = await add(api);
    const { pipeline_id, source_id } = await addPipeline(api);
    expect(await sync(api, pipeline_id)).toMatchObject(succeeded);
    await appendFile(join(connector, "index.ts"), " ");
    expect(await sync(api, pipeline_id)).toMatchObject(changed);
    expect(await api.call("GET", `/sources/${source_id}`)).toMatchObject({ status: 200 });
    const check = await api.call("POST", `/sources/${source_id}/check`);
    expect(check.body.data).toMatchObject({ status: "failed", error: "CONNECTOR_CHANGED" });
    const [listed] = (await operatorOf(api).run("connector.list_added", {})).connectors;
    expect(listed?.problem).toContain("its files have changed");
    const after = await add(api);
    expect([after.changed, after.digest === before.digest]).toEqual([true, false]);
    expect(await sync(api, pipeline_id)).toMatchObject(succeeded);
  });

  test("stays when the connector is removed, begins nothing, and goes on when it is back", async (context) => {
    skipUnlessWhole(context);
    await using api = await start();
    await add(api);
    const { pipeline_id, source_id, credential_id } = await addPipeline(api);
    const body = { connector: "conn_helpdesk" };
    await operatorOf(api).run("connector.remove", { body });
    const refused = { status: 409, body: { details: { reason: "connector_disabled" } } };
    expect(await api.call("POST", `/pipelines/${pipeline_id}/sync`, { body: {} })).toMatchObject(
      refused,
    );
    expect(await api.call("GET", `/sources/${source_id}`)).toMatchObject({ status: 200 });
    const check = await api.call("POST", `/sources/${source_id}/check`);
    expect(check.body.data).toMatchObject({ status: "failed", error: "CONNECTOR_DISABLED" });
    const { items } = (await api.call("GET", "/connectors")).body.data;
    expect(items.map((one: { connector_id: string }) => one.connector_id)).not.toContain(
      "conn_helpdesk",
    );
    await expect(operatorOf(api).run("connector.remove", { body })).rejects.toThrow(
      "no connector of that id was added; svc connectors list shows them",
    );
    await add(api);
    expect(await sync(api, pipeline_id)).toMatchObject(succeeded);
    // Its credential was in this workspace: the log tells.
    expect(credential_id).toBeTruthy();
    const entries = await api.db
      .selectFrom("audit_logs")
      .select(["workspace_id", "resource_id"])
      .where("action", "in", ["connector.add", "connector.remove"])
      .execute();
    expect(entries).toEqual(
      [1, 2].map(() => ({ workspace_id: api.first.id, resource_id: "conn_helpdesk" })),
    );
  });
});

describe("what cannot be added is told in one line:", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await start({ jobs: "off" });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  const says = (line: RegExp) =>
    expect(add(api)).rejects.toThrow(
      expect.objectContaining({ name: "OperatorError", message: expect.stringMatching(line) }),
    );

  test.each([
    "conn_social",
    "conn_duckdb",
    "conn_webhook",
  ])("one that calls itself %s, as one that comes with svc does", async (id) => {
    await changeModule(connector, "conn_helpdesk", id);
    await says(/^the connector cannot be added: its id conn_\w+ is that of a connector which/);
  });

  test("one of another place with the id of one that is there", async () => {
    await add(api);
    const place = connector;
    connector = join(folder, "other");
    await copyConnector(place, connector);
    await says(/there is conn_helpdesk from another place: remove that first$/);
    connector = place;
    await changeModule(connector, "conn_helpdesk", "conn_other");
    await says(/it was added as conn_helpdesk, and an id is permanent: remove that first$/);
    await operatorOf(api).run("connector.remove", { body: { connector: "conn_helpdesk" } });
  });

  test.each([
    "http://127.0.0.1:7788/v1",
    "https://localhost:7788/v1",
  ])("one whose provider is declared on this machine, as %s", async (baseUrl) => {
    await changeModule(connector, "https://api.notes.example.com/v1", baseUrl);
    await says(
      /its provider is declared on this machine .* declare the https:\/\/ URL of the provider$/,
    );
  });

  test("one that says something else of itself each time", async () => {
    await changeModule(connector, 'title: "Helpdesk"', 'title: "Helpdesk " + Math.random()');
    await says(/it says something else of itself than before/);
  });

  test("a destination: it would run in the server's process", async () => {
    await changeModule(
      connector,
      "export default defineSource({",
      "export default ({ syncModes: [],",
    );
    await says(/default export is a destination or an activation: they run in svc's own process/);
  });

  test("code that is not the one that was looked at", async () => {
    const digest = `sha256:${"0".repeat(64)}`;
    await expect(add(api, { digest })).rejects.toThrow(
      /^the connector cannot be added: its code is another than expected: sha256:/,
    );
  });

  test("a package that is not installed, and a module with an error", async () => {
    await expect(add(api, { path: undefined, package: "svc-absent" })).rejects.toThrow(
      /no such package is installed; of a folder, name the path: \.\/name/,
    );
    await changeModule(connector, "export default", "export default (");
    await says(/has a syntax error/);
  });
});

test("as an installed package it is the same, also on a host that has it elsewhere", async (context) => {
  skipUnlessWhole(context);
  const name = await installPacked(connector, folder);
  await using api = await start();
  const added = await add(api, { path: undefined, package: name });
  expect(added.connector_id).toBe("conn_helpdesk");
  expect(await sync(api, (await addPipeline(api)).pipeline_id)).toMatchObject(succeeded);
  const elsewhere = join(folder, "elsewhere");
  await copyConnector(join(folder, "node_modules"), join(elsewhere, "node_modules"));
  const module = join(elsewhere, "node_modules", name, "dist/index.js");
  expect((await readConnectorCode(pathToFileURL(module).href)).digest).toBe(added.digest);
});

describe("in the settings it", () => {
  const digestOf = async () =>
    (await readConnectorCode(pathToFileURL(join(connector, "index.ts")).href)).digest;
  const options = async () => ({ keyring: createMemoryKeyring(), digest: await digestOf() });

  test("is there from the start, and gone when the settings lack it", async (context) => {
    skipUnlessWhole(context);
    const { keyring, digest } = await options();
    const database = { folder: join(folder, "database") };
    const declared = [{ path: "helpdesk", digest }];
    {
      await using api = await start({ database, keyring, connectors: declared });
      expect(await sync(api, (await addPipeline(api)).pipeline_id)).toMatchObject(succeeded);
    }
    {
      await using api = await start({ database, keyring, jobs: "off" });
      expect((await api.call("GET", "/connectors/conn_helpdesk")).body.data.enabled).toBe(true);
    }
    await using api = await start({ database, keyring, connectors: [] });
    expect((await api.call("GET", "/connectors/conn_helpdesk")).body.data.enabled).toBe(false);
  });

  test("is not added with another digest: the log says which it is, and the server starts", async () => {
    const digest = await digestOf();
    await appendFile(join(connector, "index.ts"), " ");
    const lines: unknown[] = [];
    const log = { info() {}, warn() {}, error: (...line: unknown[]) => void lines.push(line) };
    await using api = await start({ connectors: [{ path: "helpdesk", digest }], log });
    expect((await api.call("GET", "/connectors/conn_helpdesk")).status).toBe(404);
    expect(lines).toEqual([
      [
        "a connector of the settings was not added",
        { path: connector, problem: `its code is another than expected: ${await digestOf()}` },
      ],
    ]);
  });
});

test("svc connectors adds, lists and removes it beside the server that runs", async () => {
  await prepareInstance(folder);
  await using served = await startServe({ cwd: folder });
  const run = (...args: string[]) => administer(folder, "connectors", ...args);
  const { stdout: digest } = await svc({ cwd: folder }, "connectors", "digest", "./helpdesk");
  const added = await run("add", "./helpdesk", "--sandbox", "process", "--digest", digest.trim());
  expect(added).toEqual({
    code: 0,
    stderr: "",
    stdout: [
      "conn_helpdesk 0.1.0 is added",
      "  reaches  https://api.notes.example.com/v1",
      "  secrets  api_token",
      "  sandbox  process",
      `  digest   ${digest}`,
    ].join("\n"),
  });
  expect(await served.call("GET", "/connectors/conn_helpdesk")).toMatchObject({
    status: 200,
    body: { data: { name: "Helpdesk", enabled: true } },
  });
  await appendFile(join(connector, "index.ts"), " ");
  const listed = await run("list");
  expect(listed.stdout).toMatch(/^conn_helpdesk {2}0\.1\.0 {4}cannot run {2}process/m);
  expect(listed.stdout).toContain("its files have changed");
  expect((await run("add", "./helpdesk")).stdout).toContain("is added again, with other code");
  const removed = await run("remove", "conn_helpdesk");
  expect(removed.stdout).toBe(
    "conn_helpdesk is removed: what was made with it is kept, and runs no more\n",
  );
  expect((await run("list")).stdout).toContain("removed");
  expect(await run("add", "./nowhere")).toMatchObject({
    code: 2,
    stderr: 'svc: there is nothing at "./nowhere"\n',
  });
});

test("a manifest with components of its author's own is added as code, with both files in its digest", async () => {
  await prepareInstance(folder);
  const club = join(folder, "club");
  await cp(fileURLToPath(new URL("../fixtures/manifests/club", import.meta.url)), club, {
    recursive: true,
  });
  await using served = await startServe({ cwd: folder });
  const run = (...args: string[]) => administer(folder, "connectors", ...args);
  const { stdout: digest } = await svc(
    { cwd: folder },
    "connectors",
    "digest",
    "club/manifest.yaml",
  );
  const added = await run("add", "./club/manifest.yaml", "--sandbox", "process");
  expect(added).toEqual({
    code: 0,
    stderr: "",
    stdout: [
      "conn_club 6.36.2 is added",
      "  reaches  https://club.example.com",
      "  secrets  key",
      "  sandbox  process",
      `  digest   ${digest}`,
    ].join("\n"),
  });
  await appendFile(join(club, "components.ts"), " ");
  const listed = await run("list");
  expect(listed.stdout).toContain("its files have changed");
  const manifest = await readFile(join(club, "manifest.yaml"), "utf8");
  const body = { name: "club-of-text", manifest };
  const refused = await served.call("POST", "/connectors", { body });
  expect(refused).toMatchObject({ status: 422 });
  expect(JSON.stringify(refused.body)).toContain("a class in Python: components.ts");
});

test("svc connectors add --report keeps what the kit has found, without its evidence", async () => {
  await prepareInstance(folder);
  await using served = await startServe({ cwd: folder });
  const add = (file: string) =>
    administer(
      folder,
      ...["connectors", "add", "./helpdesk", "--sandbox", "process", "--report", file],
    );
  expect(await add("nowhere.json")).toMatchObject({
    code: 2,
    stderr: 'svc: the report cannot be read: "nowhere.json"\n',
  });
  await writeFile(join(folder, "page.html"), "<html>");
  const isNone =
    'svc: "page.html" is no report: svc conformance … --report json --out page.html makes one\n';
  expect(await add("page.html")).toMatchObject({ code: 2, stderr: isNone });
  // A refused connector has added nothing.
  expect((await served.call("GET", "/connectors/conn_helpdesk")).status).toBe(404);

  const { report } = examples["connector_report.create"] as { report: { rules: object[] } };
  const problem = { sentence: "3 of 10 rows are missing", evidence: [{ text: "a body" }] };
  const rules = report.rules.map((rule) => ({ ...rule, result: "fail", problems: [problem] }));
  const { digest } = await readConnectorCode(pathToFileURL(join(connector, "index.ts")).href);
  const text = JSON.stringify({ ...report, connector: { digest }, verdict: "failed", rules });
  await writeFile(join(folder, "report.json"), text);
  expect(await add("report.json")).toMatchObject({ code: 0, stderr: "" });
  const kept = await served.call("GET", "/connectors/conn_helpdesk/conformance");
  expect(kept.body).toMatchObject({
    data: { verdict: "failed", tried_code: "same", rules: [{ problems: [problem.sentence] }] },
  });
  expect(JSON.stringify(kept.body)).not.toContain("a body");
});

describe.skipIf(findPostgres() === undefined)("with a server and a worker on PostgreSQL", () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  test("the worker learns of it, and runs only the code that was added, as it has it itself", async (context) => {
    skipUnlessWhole(context);
    const name = await installPacked(connector, folder);
    const host = join(folder, "host");
    await copyConnector(join(folder, "node_modules"), join(host, "node_modules"));
    const { url } = await postgres.createDatabase();
    const keyring = createMemoryKeyring();
    const warehouses = join(folder, "warehouses");
    const shared = { database: { url }, keyring, settings: { warehouses } };
    await using api = await start({ ...shared, jobs: "announce" });
    await using worker = await start({ ...shared, connectorsFolder: host });
    await add(api, { path: undefined, package: name });
    const { pipeline_id } = await addPipeline(api);
    expect(await sync(api, pipeline_id)).toMatchObject(succeeded);
    await vi.waitFor(async () => {
      const there = await worker.call("GET", "/connectors/conn_helpdesk", {
        token: worker.first.tokens.admin,
      });
      expect(there.status).toBe(200);
    }, soon);
    await appendFile(join(host, "node_modules", name, "dist/index.js"), " ");
    expect(await sync(api, pipeline_id)).toMatchObject(changed);
  });
});
