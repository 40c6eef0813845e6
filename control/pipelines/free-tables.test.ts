import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addDestination } from "../../tests/control-pipelines.ts";
import { addCatalog, addCredential, addSource, tableStream } from "../../tests/control-rows.ts";

let api: TestControl;
beforeAll(async () => {
  api = await startTestControl({
    sandbox: "inline",
    seams: { resolve: async () => [] },
    settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
  });
});
afterAll(() => api?.[Symbol.asyncDispose]());

let sourceId: string;
beforeEach(async () => {
  await api.db.deleteFrom("pipelines").execute();
  await api.db.deleteFrom("pipeline_streams").execute();
  await api.db.deleteFrom("connections").execute();
  sourceId = await addSource(api, await addCredential(api));
  await addCatalog(api, sourceId, [
    tableStream("orders", "sales"),
    tableStream("ORDERS", "archive"),
    tableStream("people", "sales"),
  ]);
});

const orders = [{ name: "orders", namespace: "sales" }];
const people = [{ name: "people", namespace: "sales" }];
const create = (destination_id: string, body: object = {}) =>
  api.call("POST", "/pipelines", {
    body: { source_id: sourceId, destination_id, streams: orders, ...body },
  });
const answerOf = ({ status, body }: Awaited<ReturnType<typeof create>>) => [
  status,
  body.details?.reason,
];

describe("a second pipeline onto a table is refused", () => {
  test("when it is made, naming the first one", async () => {
    const destination = await addDestination(api);
    const first = await create(destination);
    expect(answerOf(first)).toEqual([201, undefined]);
    const second = await create(destination, {
      streams: [...people, { name: "ORDERS", namespace: "archive" }],
    });
    expect([second.status, second.body.details]).toEqual([
      409,
      {
        reason: "table_in_use",
        conflict_count: 1,
        conflicts: [
          {
            table: "_svc_ORDERS",
            stream: "archive.ORDERS",
            pipeline_id: first.body.data.pipeline_id,
          },
        ],
      },
    ]);
    expect(answerOf(await create(destination, { streams: people }))).toEqual([201, undefined]);
    expect(answerOf(await create(destination, { prefix: "b_" }))).toEqual([201, undefined]);
    const elsewhere = { namespace_definition: "source" };
    expect(answerOf(await create(destination, elsewhere))).toEqual([201, undefined]);
  });

  test("when its schema is named by one and the default of the other", async () => {
    const destination = await addDestination(api);
    await create(destination, { namespace_definition: "custom_format", namespace_format: "main" });
    expect(answerOf(await create(destination))).toEqual([409, "table_in_use"]);
  });

  test("when another destination leads to the same file, but not to one of another workspace", async () => {
    const [one, same, other] = [
      await addDestination(api, { configuration: { file: "shared" } }),
      await addDestination(api, { configuration: { file: "shared", schema: "main" } }),
      await addDestination(api, { configuration: { file: "shared", schema: "raw" } }),
    ];
    await create(one);
    expect(answerOf(await create(same))).toEqual([409, "table_in_use"]);
    expect(answerOf(await create(other))).toEqual([201, undefined]);
    await api.db
      .updateTable("destinations")
      .set({ workspace_id: api.second.id })
      .where("id", "=", one)
      .execute();
    expect(answerOf(await create(same))).toEqual([201, undefined]);
  });

  test("when it is of another workspace, of which nothing is told", async () => {
    const connectorId = "conn_postgres_destination";
    const configuration = { host: "db.example.com", database: "dwh", username: "u" };
    const add = async (host: object = {}) =>
      addDestination(api, {
        connectorId,
        credential: await addCredential(api, { password: "p" }, { connectorId }),
        configuration: { ...configuration, ...host },
      });
    const first = (await create(await add())).body.data.pipeline_id;
    for (const table of ["pipelines", "destinations"] as const)
      await api.db.updateTable(table).set({ workspace_id: api.second.id }).execute();
    const second = await create(await add({ host: "DB.example.com", port: 5432 }));
    expect(answerOf(second)).toEqual([409, "table_in_use"]);
    expect(second.body.details.conflicts).toMatchObject([{ pipeline_id: null }]);
    expect(second.text).not.toContain(first);
    expect(answerOf(await create(await add({ port: 5433 })))).toEqual([201, undefined]);
  });

  test("when it is changed, by its name or by its streams", async () => {
    const destination = await addDestination(api);
    await create(destination);
    const { pipeline_id } = (await create(destination, { prefix: "b_" })).body.data;
    const patch = (body: object, part = "") =>
      api.call("PATCH", `/pipelines/${pipeline_id}${part}`, { body });
    expect(answerOf(await patch({ prefix: "" }))).toEqual([409, "table_in_use"]);
    expect(answerOf(await patch({ prefix: "", streams: orders }))).toEqual([409, "table_in_use"]);
    expect(answerOf(await patch({ prefix: "", streams: people }))).toEqual([200, undefined]);
    expect(answerOf(await patch({ streams: orders }, "/streams"))).toEqual([409, "table_in_use"]);
    expect(answerOf(await patch({ prefix: "c_" }))).toEqual([200, undefined]);
  });

  test("when it is resumed at a place that its destination was moved to", async () => {
    const [here, there] = [
      await addDestination(api, { configuration: { file: "here" } }),
      await addDestination(api, { configuration: { file: "there" } }),
    ];
    await create(here);
    const { pipeline_id } = (await create(there)).body.data;
    const act = (verb: string) => api.call("POST", `/pipelines/${pipeline_id}/${verb}`);
    await act("pause");
    await api.db
      .updateTable("destinations")
      .set({ configuration: JSON.stringify({ file: "here" }) })
      .where("id", "=", there)
      .execute();
    expect(answerOf(await act("resume"))).toEqual([409, "table_in_use"]);
  });

  test("when its destination is led to the place of another one", async () => {
    const [here, there] = [
      await addDestination(api, { configuration: { file: "place_a" } }),
      await addDestination(api, { configuration: { file: "place_b" } }),
    ];
    const move = (id: string, file: string) =>
      api.call("PATCH", `/destinations/${id}`, { body: { configuration: { file } } });
    const first = (await create(here)).body.data.pipeline_id;
    await create(there);
    const moved = await move(there, "place_a");
    expect(moved.body.details).toMatchObject({
      reason: "table_in_use",
      conflicts: [{ table: "_svc_orders", pipeline_id: first }],
    });
    expect((await api.call("GET", `/destinations/${there}`)).body.data.configuration).toEqual({
      file: "place_b",
    });
    expect(answerOf(await move(there, "place_c"))).toEqual([200, undefined]);
    expect(answerOf(await move(here, "place_b"))).toEqual([200, undefined]);
    expect(answerOf(await move(here, "place_b"))).toEqual([200, undefined]);
  });

  test("as long as the first one lives, paused or not", async () => {
    const destination = await addDestination(api);
    const { pipeline_id, connection_id } = (await create(destination)).body.data;
    await api.call("POST", `/pipelines/${pipeline_id}/pause`);
    expect(answerOf(await create(destination))).toEqual([409, "table_in_use"]);
    await api.call("DELETE", `/connections/${connection_id}`);
    expect(answerOf(await create(destination))).toEqual([201, undefined]);
  });
});

describe("a stream that is none", () => {
  const faults = async (streams: object[]) =>
    (await create(await addDestination(api), { streams })).body.details;

  test("for its namespace alone, is told the right one", async () => {
    expect(await faults([{ name: "orders" }, { name: "people", namespace: "public" }])).toEqual({
      reason: "stream_unknown",
      errors: [
        {
          path: "streams.0.namespace",
          reason: "namespace_missing",
          message: 'is missing: the source has the stream in "sales"',
        },
        {
          path: "streams.1.namespace",
          reason: "namespace_unknown",
          message: 'is another one: the source has the stream in "sales"',
        },
      ],
    });
  });

  test("in what was seen a while ago, may be there by now", async () => {
    await api.db
      .updateTable("catalogs")
      .set({ created_at: new Date("2026-01-31T09:30:00Z") })
      .execute();
    expect((await faults([{ name: "fresh" }])).errors).toEqual([
      {
        path: "streams.0",
        reason: "stream_unknown",
        message:
          "was no stream of the source at 2026-01-31T09:30:00.000Z: if it is newer, prepare again with refresh",
      },
    ]);
  });

  test("of a pipeline, when a sync names it", async () => {
    const { pipeline_id } = (await create(await addDestination(api))).body.data;
    const { body } = await api.call("POST", `/pipelines/${pipeline_id}/sync`, {
      body: { streams: [{ name: "orders" }, { name: "none" }] },
    });
    expect(body.details.errors).toMatchObject([
      { path: "streams.0.namespace", reason: "namespace_missing" },
      { path: "streams.1", reason: "stream_unknown", message: "is no stream of the pipeline" },
    ]);
  });
});
