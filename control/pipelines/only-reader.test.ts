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
