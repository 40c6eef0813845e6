import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { addDestination } from "../../tests/control-pipelines.ts";
import { addCatalog, addCredential, addSource, tableStream } from "../../tests/control-rows.ts";

const connectorId = "conn_postgres";
const orders = [{ name: "orders", namespace: "sales" }];

describe("a replication slot has one active pipeline", () => {
  let api: TestControl;
  let tables = 0;
  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline", seams: { resolve: async () => [] } });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    for (const table of ["pipeline_streams", "connections", "pipelines"] as const)
      await api.db.deleteFrom(table).execute();
  });

  const source = async (slot: string | undefined, settings: object = {}) => {
    const credential = await addCredential(api, { password: "p" }, { connectorId });
    const id = await addSource(
      api,
      credential,
      {
        host: "db.example.com",
        database: "shop",
        username: "u",
        ...(slot === undefined ? {} : { replication: { publication: "svc", slot } }),
        ...settings,
      },
      { connectorId },
    );
    await addCatalog(api, id, [tableStream("orders", "sales")]);
    return id;
  };
  /** Each into tables of its own. */
  const create = async (source_id: string) =>
    api.call("POST", "/pipelines", {
      body: {
        source_id,
        destination_id: await addDestination(api),
        streams: orders,
        prefix: `p${tables++}_`,
      },
    });
  const outcome = ({ status, body }: Awaited<ReturnType<typeof create>>) => [
    status,
    body.details?.reason,
  ];
  const inUse = [409, "source_in_use"];

  test("of the same server, whatever the database: slots are the server's", async () => {
    const one = await source("svc");
    const first = await create(one);
    expect(outcome(first)).toEqual([201, undefined]);
    const second = await create(await source("svc", { host: "DB.example.com", port: 5432 }));
    expect(second.body.details).toEqual({
      reason: "source_in_use",
      setting: "replication.slot",
      pipeline_id: first.body.data.pipeline_id,
    });
    expect(outcome(await create(one))).toEqual(inUse);
    for (const other of [
      await source("other"),
      await source("svc", { port: 5433 }),
      await source(undefined),
    ])
      expect(outcome(await create(other))).toEqual([201, undefined]);
  });

  test("a paused one gives it free, and is not resumed while another has it", async () => {
    const { pipeline_id } = (await create(await source("svc"))).body.data;
    const act = (verb: string) => api.call("POST", `/pipelines/${pipeline_id}/${verb}`);
    await act("pause");
    const second = await create(await source("svc"));
    expect(outcome(second)).toEqual([201, undefined]);
    expect(outcome(await act("resume"))).toEqual(inUse);
    await api.call("POST", `/pipelines/${second.body.data.pipeline_id}/pause`);
    expect(outcome(await act("resume"))).toEqual([200, undefined]);
  });

  test("that is paused or deleted leaves its slot, which the answer names with what drops it, unless another pipeline reads it", async () => {
    const slot = {
      setting: "replication.slot",
      name: "svc_shop",
      release: "SELECT pg_drop_replication_slot('svc_shop')",
    };
    const { data } = (await create(await source("svc_shop"))).body;
    expect(data.left_at_source).toEqual([]);
    const path = `/pipelines/${data.pipeline_id}`;
    const left = async () => (await api.call("GET", path)).body.data.left_at_source;
    const paused = await api.call("POST", `${path}/pause`);
    expect(paused.body.data.left_at_source).toEqual([slot]);
    expect(await left()).toEqual([slot]);
    const other = (await create(await source("svc_shop"))).body.data;
    expect(await left()).toEqual([]);
    const remove = (id: string) => api.call("DELETE", `/connections/${id}`);
    expect((await remove(data.connection_id)).body.data.left_at_source).toEqual([]);
    expect((await remove(other.connection_id)).body.data.left_at_source).toEqual([slot]);
  });

  test("none is left by a pipeline that queries tables", async () => {
    const { pipeline_id } = (await create(await source(undefined))).body.data;
    const { data } = (await api.call("POST", `/pipelines/${pipeline_id}/pause`)).body;
    expect(data.left_at_source).toEqual([]);
  });

  test("a source that is read does not take another's", async () => {
    await create(await source("svc"));
    const other = await source("other");
    await create(other);
    const body = { configuration: { replication: { slot: "svc" } } };
    expect(outcome(await api.call("PATCH", `/sources/${other}`, { body }))).toEqual(inUse);
  });

  test("of two that are made at the same time one is refused", async () => {
    const [one, other] = [await source("svc"), await source("svc")];
    const answers = await Promise.all([create(one), create(other)]);
    expect(answers.map(outcome).sort()).toEqual([[201, undefined], inUse]);
  });
});
