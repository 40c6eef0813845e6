import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "../../tests/control-rows.ts";

describe("a job that empties the tables of a pipeline", () => {
  let api: TestControl;
  let id: string;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    await api.db.deleteFrom("connector_settings").execute();
    const source_id = await addSource(api, await addCredential(api));
    await addCatalog(api, source_id, [
      tableStream("orders", "sales"),
      tableStream("notes", "sales"),
    ]);
    const { body } = await api.call("POST", "/pipelines", {
      body: { source_id, destination_id: await addDestination(api), select_all: true },
    });
    expect(body.details).toBeUndefined();
    id = body.data.pipeline_id;
  });

  const ask = (verb: string, body: object = {}, token = api.first.tokens.editor) =>
    api.call("POST", `/pipelines/${id}/${verb}`, { body, token });
  const pipeline = async () => (await api.call("GET", `/pipelines/${id}`)).body.data;
  const disable = (connector_id: string) =>
    api.db
      .insertInto("connector_settings")
      .values({ connector_id, enabled: false, updated_at: new Date() })
      .execute();

  test.each([
    ["clear", ["destination"]],
    ["reset", ["credential", "destination", "provider"]],
  ] as const)("is made by %s, for all streams or some", async (verb, uses) => {
    const { status, body, headers } = await ask(verb, {
      streams: [{ name: "orders", namespace: "sales" }],
    });
    expect([status, body.details]).toEqual([202, undefined]);
    const { job_id } = body.data.job;
    expect(headers.location).toBe(`/control/v1/jobs/${job_id}`);
    const row = await api.db
      .selectFrom("jobs")
      .select(["job_type", "options", "limits", "pipeline_id"])
      .where("id", "=", job_id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      job_type: verb,
      pipeline_id: id,
      options: { streams: [{ name: "orders", namespace: "sales" }] },
    });
    // Limits that it does not use are left to others.
    expect(row.limits.map((limit) => limit.split(":")[0]).sort()).toEqual(uses);
    expect((await pipeline()).last_job).toMatchObject({ job_id, job_type: verb });
    const { items } = (await api.call("GET", `/jobs?job_type=${verb}&pipeline_id=${id}`)).body.data;
    expect(items).toHaveLength(1);
  });

  test.each([
    "clear",
    "reset",
  ])("%s waits for no job that is under way: it is refused and named", async (verb) => {
    const { job_id } = (await ask("sync")).body.data.job;
    const { status, body } = await ask(verb);
    expect([status, body.details]).toEqual([409, { reason: "sync_already_running", job_id }]);
  });

  test("of two at once, one is made", async () => {
    const answers = await Promise.all(["clear", "reset", "sync", "clear"].map((verb) => ask(verb)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
  });

  test("can be made of a paused pipeline when it only clears", async () => {
    await ask("pause");
    expect((await ask("clear")).status).toBe(202);
    const { status, body } = await ask("reset");
    expect([status, body.details.reason]).toEqual([409, "pipeline_paused"]);
  });

  test("needs the source's connector only when it reads", async () => {
    await disable("conn_mailer_product_edm");
    expect((await ask("reset")).body.details.reason).toBe("connector_disabled");
    expect((await ask("clear")).status).toBe(202);
  });

  test("needs the destination's connector", async () => {
    await disable("conn_duckdb");
    for (const verb of ["clear", "reset"])
      expect((await ask(verb)).body.details.reason).toBe("connector_disabled");
  });

  test.each([
    "clear",
    "reset",
  ])("%s refuses a stream that the pipeline does not have, by the place", async (verb) => {
    const streams = [
      { name: "orders", namespace: "sales" },
      { name: "ordres", namespace: "sales" },
    ];
    const { status, body } = await ask(verb, { streams });
    expect([status, body.details.reason, body.details.errors[0].path]).toEqual([
      422,
      "stream_unknown",
      "streams.1",
    ]);
    expect((await ask(verb, { streams: [] })).status).toBe(422);
  });

  test.each([
    "clear",
    "reset",
  ])("%s is for those who may change the pipeline; of an agent it is a proposal", async (verb) => {
    const { tokens } = api.first;
    expect((await ask(verb, {}, tokens.runner)).status).toBe(403);
    expect((await ask(verb, {}, api.second.tokens.admin)).status).toBe(404);
    const proposed = await ask(verb, {}, tokens.agent);
    expect([proposed.status, proposed.body.data.category]).toEqual([202, "sync_run"]);
    expect(
      await api.db.selectFrom("jobs").select("id").where("pipeline_id", "=", id).execute(),
    ).toEqual([]);
  });

  test("that has cleared leaves a pipeline that is still to be synced", async () => {
    const { job_id } = (await ask("clear")).body.data.job;
    const end = (status: "succeeded" | "failed") =>
      api.db
        .updateTable("jobs")
        .set({ status, ended_at: new Date() })
        .where("id", "=", job_id)
        .execute();
    await end("succeeded");
    expect((await pipeline()).sync_state).toBe("pending");
    await end("failed");
    expect((await pipeline()).sync_state).toBe("failed");
  });

  test("is cancelled as every job is", async () => {
    const { job_id } = (await ask("clear")).body.data.job;
    const { status, body } = await api.call("POST", `/jobs/${job_id}/cancel`);
    expect([status, body.data.status]).toEqual([200, "cancelled"]);
  });
});
