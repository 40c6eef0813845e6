import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "../../tests/control-rows.ts";

describe("a connection", () => {
  let api: TestControl;
  let ends: { readonly source_id: string; readonly destination_id: string };
  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
    const source_id = await addSource(api, await addCredential(api));
    await addCatalog(api, source_id, [tableStream("orders")]);
    ends = { source_id, destination_id: await addDestination(api) };
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  /** The ids of a new pipeline and its connection. */
  const made = async (prefix: string) => {
    const body = { ...ends, prefix, name: "Orders", streams: [{ name: "orders" }] };
    const answer = await api.call("POST", "/pipelines", { body });
    expect([answer.status, answer.body.details]).toEqual([201, undefined]);
    return answer.body.data as { readonly connection_id: string; readonly pipeline_id: string };
  };
  const get = (id: string, token = api.first.tokens.viewer) =>
    api.call("GET", `/connections/${id}`, { token });

  test("is shown to viewers, as the list shows it", async () => {
    const { connection_id, pipeline_id } = await made("a_");
    const { status, body } = await get(connection_id);
    expect([status, body.data]).toEqual([
      200,
      {
        connection_id,
        pipeline_id,
        ...ends,
        workspace_id: api.first.id,
        name: "Orders",
        status: "active",
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
    const listed = await api.call("GET", `/connections?pipeline_id=${pipeline_id}`);
    expect(listed.body.data.items).toEqual([body.data]);
  });

  test("has the name and the status that its pipeline has now", async () => {
    const { connection_id, pipeline_id } = await made("b_");
    await api.call("PATCH", `/pipelines/${pipeline_id}`, { body: { name: "Renamed" } });
    await api.call("POST", `/pipelines/${pipeline_id}/pause`);
    const { data } = (await get(connection_id)).body;
    expect([data.name, data.status]).toEqual(["Renamed", "paused"]);
  });

  test("does not exist for others, under another id, and once it is deleted", async () => {
    const { connection_id } = await made("c_");
    const missing = { status: 404, body: { details: { reason: "not_found" } } };
    expect(await get(connection_id, api.second.tokens.admin)).toMatchObject(missing);
    const other = connection_id.replace(/.{4}$/, "0000");
    expect(await get(other)).toMatchObject(missing);
    expect((await get("a b")).status).toBe(404);
    expect((await api.call("DELETE", `/connections/${connection_id}`)).status).toBe(200);
    expect(await get(connection_id)).toMatchObject(missing);
  });
});
