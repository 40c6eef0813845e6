/** An image as a connector: added, used like the others, replaced, removed, and refused. */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { queryDestination } from "../../tests/control-pipelines.ts";
import { type FakeDocker, fakeDigest, startFakeDocker } from "../../tests/fake-docker.ts";
import { soon } from "../../tests/soon.ts";
import { keepDeclared } from "../connectors/declared.ts";
import { askInstance } from "../operator/ask.ts";
import { createOperator } from "../operator/operator.ts";
import { silentLog } from "../services/log.ts";

const host = "api.shop.example.com";
const secret = { type: "string", title: "Key", airbyte_secret: true };
const specOf = (properties: object) => [
  {
    type: "SPEC",
    spec: { connectionSpecification: { type: "object", required: ["key"], properties } },
  },
];
const orders = {
  name: "orders",
  json_schema: {
    type: "object",
    properties: { id: { type: "integer" }, name: { type: "string" } },
  },
  supported_sync_modes: ["full_refresh"],
  source_defined_primary_key: [["id"]],
};
const recordOf = (id: number) => ({
  type: "RECORD",
  record: { stream: "orders", data: { id, name: `${id}` }, emitted_at: 1 },
});
const shop = {
  spec: specOf({ key: secret }),
  check: [{ type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } }],
  discover: [{ type: "CATALOG", catalog: { streams: [orders] } }],
  read: [1, 2].map(recordOf),
};
const acme = { repository: "acme/source-shop", tag: "1.4" };
const reference = (digit: string) => `${acme.repository}@${fakeDigest(digit)}`;

let docker: FakeDocker;
let api: TestControl;
beforeAll(async () => {
  docker = await startFakeDocker();
  await docker.add({ ...acme, digit: "a", says: shop });
  await docker.add({ ...acme, tag: "1.5", digit: "b", says: { ...shop, read: [recordOf(3)] } });
  api = await startTestControl({
    ...{ sandbox: "inline", jobs: "run" },
    settings: { images: ["acme/*", `other/source@${fakeDigest("c")}`] },
  });
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await docker?.[Symbol.asyncDispose]();
});

const add = (changes: object = {}, options: { token?: string } = {}) =>
  api.call("POST", "/connectors", {
    body: { name: "shop", source_image: reference("a"), allowed_hosts: [host], ...changes },
    ...options,
  });
const replace = (body: object, id = "conn_shop") =>
  api.call("PATCH", `/connectors/${id}`, { body });
const operator = () => createOperator(askInstance(api.control.services));
const made = async (path: string, body: object) => {
  const answer = await api.call("POST", path, { body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body.data;
};

test("who does not administer the instance adds none, nor does an agent", async () => {
  const { first, second } = api;
  for (const token of [first.tokens.editor, first.tokens.agent, second.tokens.admin])
    expect((await add({}, { token })).status).toBe(403);
  expect(await docker.runs()).toEqual([]);
});

describe("is refused before anything of it runs:", () => {
  test.each([
    ["a name without a digest", { source_image: "acme/source-shop:1.4" }, /by its digest/],
    ["no name of an image", { source_image: `--privileged@${fakeDigest("a")}` }, /by its digest/],
    ["one without hosts", { allowed_hosts: undefined }, /reaches the hosts/],
    ["an address in place of a host", { allowed_hosts: ["10.0.0.1"] }, /required form/],
    ["a manifest besides", { manifest: "a: 1" }, /two connectors/],
    ["neither", { source_image: undefined, allowed_hosts: undefined }, /give one/],
    [
      "one that the operator does not allow",
      { source_image: `evil/x@${fakeDigest("a")}` },
      /not allow/,
    ],
    [
      "another digest than is allowed",
      { source_image: `other/source@${fakeDigest("a")}` },
      /not allow/,
    ],
  ])("%s", async (_, changes, problem) => {
    const { status, text } = await add(changes);
    expect(status).toBe(422);
    expect(text).toMatch(problem);
    expect(await docker.runs()).toEqual([]);
  });
});

test("it is a connector like the others: shown, checked, synced, replaced, and removed when nobody uses it", async () => {
  const added = await add();
  expect(added.status).toBe(201);
  expect(await docker.runs()).toEqual(["spec"]);
  const facts = {
    reaches: [`https://${host}`],
    exposed_secrets: [],
  };
  expect(added.body.data).toMatchObject({
    ...{ connector_id: "conn_shop", spec_version: "1.0.10", secret_fields: ["key"] },
    ...{ manifest_metadata: null, source_image: reference("a"), image_metadata: facts },
  });
  expect((await add()).body.details.reason).toBe("name_taken");
  const shown = await api.call("GET", "/connectors/conn_shop", { token: api.second.tokens.viewer });
  expect(shown.body.data).toMatchObject({
    ...{ type: "source", auth_types: ["api_token"], source_image: null },
    ...{ allowed_hosts: [host], manifest: null, streams_preview: [], image_metadata: facts },
    supports: { incremental: true },
  });
  const { credential_handle, credential_id } = await made("/credentials", {
    ...{ connector_id: "conn_shop", name: "Key" },
    secrets: { key: "a-key-of-this-shop-0123456789" },
  });
  const { source_id } = await made("/sources", {
    ...{ name: "Shop", connector_id: "conn_shop" },
    credential_handle,
  });
  const { destination_id } = await made("/destinations", {
    ...{ name: "Warehouse", connector_id: "conn_duckdb" },
    configuration: { file: "warehouse" },
  });
  const { pipeline_id, connection_id } = await made("/pipelines", {
    ...{ name: "Shop", source_id, destination_id, schedule: { type: "manual" } },
    streams: [{ name: "orders" }],
  });
  const ids = async () => {
    const { job } = await made(`/pipelines/${pipeline_id}/sync`, {});
    await vi.waitFor(async () => {
      const { body } = await api.call("GET", `/jobs/${job.job_id}`);
      expect(body.data).toMatchObject({ status: "succeeded" });
    }, soon);
    const rows = await queryDestination(
      api,
      destination_id,
      "SELECT id FROM _svc_orders ORDER BY 1",
    );
    return rows.flat();
  };
  expect(await ids()).toEqual([1, 2]);
  expect((await docker.runs()).filter((verb) => verb === "spec")).toEqual(["spec"]);

  // A key that was given for one host goes to no other, whatever a proposal would say.
  const proposed = await api.call("PATCH", "/connectors/conn_shop", {
    body: { source_image: reference("b") },
    headers: { "x-svc-execution-mode": "proposal" },
  });
  const refusals = [
    [{ allowed_hosts: [host, "evil.example.net"] }, "https://evil.example.net"],
    [{ source_image: `acme/other@${fakeDigest("b")}` }, "another repository"],
    [{ manifest: "a: 1" }, "this is an image"],
  ] as const;
  for (const [body, problem] of refusals) {
    const answer = await replace(body);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(problem)]);
  }
  expect(proposed.status).toBe(202);
  const { approval_id } = proposed.body.data;
  const { body: proposal } = await api.call("GET", `/approvals/${approval_id}/changes`);
  expect(proposal.data.changes).toEqual([
    {
      ...{ path: ["source_image"], change: "change", is_secret: false },
      ...{ before: reference("a"), after: reference("b") },
    },
  ]);
  const replaced = await replace({ source_image: reference("b") });
  expect(replaced.body.data.source_image).toBe(reference("b"));
  expect(await ids()).toEqual([3]);

  expect((await api.call("DELETE", "/connectors/conn_shop")).status).toBe(409);
  for (const path of [`/connections/${connection_id}`, `/sources/${source_id}`])
    expect((await api.call("DELETE", path)).status).toBe(200);
  expect((await api.call("DELETE", `/credentials/${credential_id}`)).status).toBe(200);
  expect((await api.call("DELETE", "/connectors/conn_shop")).status).toBe(200);
  expect((await api.call("GET", "/connectors?search=shop")).body.data.items).toEqual([]);
});

test.each([
  ["without a secret", specOf({ key: { type: "string", title: "Key" } }), /is a secret/],
  ["that says no spec", [], /without a SPEC message/],
])("an image %s is refused", async (_, spec, problem) => {
  const digit = spec.length === 0 ? "d" : "e";
  await docker.add({ ...acme, tag: digit, digit, says: { spec } });
  const { status, body } = await add({ name: `faulty-${digit}`, source_image: reference(digit) });
  expect([status, body.details.reason]).toEqual([422, "connector_refused"]);
  expect(body.details.problem).toMatch(problem);
});

describe("on a host", () => {
  /** The result of checking a source of a connector of this image. */
  const checked = async (name: string, digit: string, meanwhile: () => Promise<unknown>) => {
    const image = `acme/${name}`;
    await docker.add({ repository: image, tag: "1", digit, says: shop });
    const added = await add({ name, source_image: `${image}@${fakeDigest(digit)}` });
    expect(added.status).toBe(201);
    const { credential_handle } = await made("/credentials", {
      ...{ connector_id: `conn_${name}`, name: `Key of ${name}` },
      secrets: { key: "a-key-of-this-shop-0123456789" },
    });
    const { source_id } = await made("/sources", {
      ...{ name, connector_id: `conn_${name}` },
      credential_handle,
    });
    await meanwhile();
    return (await api.call("POST", `/sources/${source_id}/check`)).body.data;
  };

  test("where it is not yet, it is pulled by its digest", async () => {
    const image = `acme/moved@${fakeDigest("1")}`;
    const { status } = await checked("moved", "1", async () => {
      await docker.remove(image);
      await docker.add({
        repository: "acme/moved",
        tag: "1",
        digit: "1",
        says: {},
        isRemote: true,
      });
      await docker.remove("acme/moved:1");
    });
    expect([status, await docker.pulled()]).toEqual(["succeeded", [image]]);
  });

  test("where it is not to be had, its runs say so, and it is no other that runs", async () => {
    const gone = await checked("gone", "2", () => docker.remove(`acme/gone@${fakeDigest("2")}`));
    expect(gone).toMatchObject({
      ...{ status: "failed", error: "SANDBOX_UNAVAILABLE" },
      message: expect.stringContaining("is not on this host, and cannot be pulled"),
    });
  });

  test("without Docker none is added and none runs, and both say why", async () => {
    const stopped = await checked("stopped", "3", docker.stop);
    const { body } = await add({ name: "more" });
    const { connectors } = await operator().run("connector.list_added", {});
    await docker.start();
    const problem = expect.stringContaining("Docker does not answer");
    expect(stopped).toMatchObject({ error: "SANDBOX_UNAVAILABLE", message: problem });
    expect(body.details).toEqual({ reason: "connector_refused", problem });
    expect(connectors).toContainEqual(
      expect.objectContaining({ connector_id: "conn_stopped", kind: "image", problem }),
    );
  });
});

describe("the operator", () => {
  const given = (changes: object = {}) => ({
    image: { name: "desk", reference: "team/desk:1", hosts: [host], exposed: ["key"], ...changes },
  });
  beforeAll(() => docker.add({ repository: "team/desk", tag: "1", digit: "5", says: shop }));

  test("names a tag, which is pinned; may give it a secret as it is; and replaces it alone then", async () => {
    const added = await operator().run("connector.add", { body: given() });
    expect(added).toMatchObject({
      ...{ connector_id: "conn_desk", digest: fakeDigest("5"), sandbox: "process" },
      ...{ reaches: [`https://${host}`], exposed_secrets: ["key"] },
    });
    const { body } = await api.call("GET", "/connectors/conn_desk");
    expect(body.data).toMatchObject({
      source_image: `team/desk@${fakeDigest("5")}`,
      image_metadata: { exposed_secrets: ["key"] },
    });
    const answer = await replace({ allowed_hosts: [host] }, "conn_desk");
    expect(answer.body.details.problem).toMatch(/only svc connectors add/);
  });

  test("is told when a tag is another image than expected", async () => {
    const body = { ...given({ exposed: [] }), digest: fakeDigest("6") };
    await expect(operator().run("connector.add", { body })).rejects.toThrow(fakeDigest("5"));
  });

  test("declares one in the settings: it is added once, changed with them, and goes with them", async () => {
    const { connectors, database, clock } = api.control.services;
    await docker.add({ repository: "team/hub", tag: "1", digit: "7", says: shop });
    const keep = async (hosts: readonly string[] | undefined) => {
      const one = { image: "team/hub", digest: fakeDigest("7"), exposed: [] };
      const declarations = hosts === undefined ? [] : [{ ...one, hosts }];
      const parts = { db: database.db, connectors, clock, log: silentLog };
      await keepDeclared(parts, { declarations, folder: "/nowhere" });
      await connectors.reload();
      return connectors.list().find(({ id }) => id === "conn_hub")?.added;
    };
    const first = await keep([host]);
    expect(first?.image).toMatchObject({ id: `team/hub@${fakeDigest("7")}`, hosts: [host] });
    expect((await keep([host]))?.updatedAt).toEqual(first?.updatedAt);
    expect((await keep([host, "files.example.com"]))?.image?.hosts).toHaveLength(2);
    expect(await keep(undefined)).toBeUndefined();
  });
});
