import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addJob,
  claim,
  createStandingClock,
  jobRow,
  type StandingClock,
} from "../../tests/control-jobs.ts";
import { addCredential, addSource } from "../../tests/control-rows.ts";
import { requestCancel } from "./cancel.ts";

describe("a claim", () => {
  let api: TestControl;
  let clock: StandingClock;
  beforeAll(async () => {
    clock = createStandingClock();
    api = await startTestControl({ clock });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  beforeEach(() => api.db.deleteFrom("jobs").execute());

  const add = async (...jobs: Parameters<typeof addJob>[1][]) => {
    const ids: string[] = [];
    for (const job of jobs) {
      ids.push(await addJob(api, job));
      clock.move(1);
    }
    return ids;
  };
  const claimed = async (...rest: [limits?: object, exclusive?: string[]]) =>
    (await claim(api, ...rest))?.job.id;

  test("takes the oldest job and begins its attempt", async () => {
    const [first, second] = await add({}, {});
    const taken = await claim(api);
    expect(taken).toMatchObject({ job: { id: first, status: "running", attempt: 1 }, fence: 0 });
    expect(taken?.leaseUntil.getTime()).toBe(clock.now() + 30_000);
    expect(await claimed()).toBe(second);
    expect(await claimed()).toBeUndefined();
  });

  test("serves the workspace with the fewest running jobs first", async () => {
    const [one, two, three, other] = await add({}, {}, {}, { workspaceId: api.second.id });
    expect([await claimed(), await claimed(), await claimed(), await claimed()]).toEqual([
      one,
      other,
      two,
      three,
    ]);
  });

  test("leaves what is not to run yet", async () => {
    const [id] = await add({});
    await api.db
      .updateTable("jobs")
      .set({ runnable_at: new Date(clock.now() + 5_000) })
      .execute();
    expect(await claimed()).toBeUndefined();
    clock.move(5_000);
    expect(await claimed()).toBe(id);
  });

  test.each([
    ["a credential", "credential:cred_1", { perCredential: 1 }],
    ["a provider", "provider:conn_1", { perProvider: 1 }],
    ["a destination", "destination:dst_1", { perDestination: 1 }],
  ])("waits for %s that is in use, and lets others pass", async (_, key, limits) => {
    const [first, second, free] = await add(
      { limits: [key] },
      { limits: [key] },
      { limits: ["credential:other"] },
    );
    expect([await claimed(limits), await claimed(limits), await claimed(limits)]).toEqual([
      first,
      free,
      undefined,
    ]);
    await api.db
      .updateTable("jobs")
      .set({ status: "succeeded" })
      .where("id", "=", String(first))
      .execute();
    expect(await claimed(limits)).toBe(second);
  });

  test("gives a destination that only one writer can have open to one job", async () => {
    const now = new Date(clock.now());
    await api.db
      .insertInto("destinations")
      .values({
        id: "dst_file",
        workspace_id: api.first.id,
        name: "file",
        connector_id: "conn_duckdb",
        credential_id: null,
        configuration: "{}",
        status: "active",
        last_check: "{}",
        created_at: now,
        updated_at: now,
      })
      .execute();
    const [first] = await add(
      { limits: ["destination:dst_file"] },
      { limits: ["destination:dst_file"] },
    );
    expect([await claimed({}, ["conn_duckdb"]), await claimed({}, ["conn_duckdb"])]).toEqual([
      first,
      undefined,
    ]);
    expect(await claimed({}, [])).toBeDefined();
  });

  test("keeps a workspace below its share", async () => {
    const [first] = await add({}, {});
    expect([await claimed({ perWorkspace: 1 }), await claimed({ perWorkspace: 1 })]).toEqual([
      first,
      undefined,
    ]);
  });

  test("passes over any number of jobs that their credential holds back", async () => {
    const limits = ["credential:cred_1", "provider:conn_1", "destination:dst_1"];
    const same = Array.from({ length: 30 }, () => ({ limits }));
    const [first, second] = await add(...same);
    const [free] = await add({
      limits: ["credential:cred_2", "provider:conn_1", "destination:dst_1"],
    });
    expect([await claimed(), await claimed(), await claimed()]).toEqual([first, free, undefined]);
    await api.db
      .updateTable("jobs")
      .set({ status: "succeeded" })
      .where("id", "=", String(first))
      .execute();
    expect(await claimed()).toBe(second);
  });

  test("takes the oldest job of a workspace, whatever stands before it in its group", async () => {
    const [first, , old, young] = await add(
      { limits: ["credential:cred_1", "destination:dst_1"] },
      { limits: ["credential:cred_1", "destination:dst_1"] },
      { limits: ["credential:cred_2", "destination:dst_2"] },
      { limits: ["credential:cred_3", "destination:dst_1"] },
    );
    expect([await claimed(), await claimed(), await claimed(), await claimed()]).toEqual([
      first,
      old,
      young,
      undefined,
    ]);
  });

  test("takes a job that is tried again before younger ones", async () => {
    const [first, second, third] = await add({}, {}, {});
    expect([await claimed(), await claimed()]).toEqual([first, second]);
    await api.db
      .updateTable("jobs")
      .set({ status: "incomplete" })
      .where("id", "=", String(first))
      .execute();
    expect([await claimed(), await claimed(), await claimed()]).toEqual([first, third, undefined]);
  });

  test("leaves no group of jobs behind that are all taken, cancelled or gone", async () => {
    const [, second, third] = await add({}, {}, {});
    const groups = () => api.db.selectFrom("job_groups").selectAll().execute();
    expect(await groups()).toHaveLength(1);
    await claimed();
    await api.db
      .transaction()
      .execute((tx) => requestCancel(tx, { id: String(second) }, new Date(clock.now())));
    expect(await groups()).toEqual([
      expect.objectContaining({
        oldest_at: (await jobRow(api, String(third))).created_at,
      }),
    ]);
    await api.db.deleteFrom("jobs").where("id", "=", String(third)).execute();
    expect(await groups()).toEqual([]);
  });

  test("raises the fence of the connection each time", async () => {
    const source_id = await addSource(api, await addCredential(api));
    await api.db
      .insertInto("connections")
      .values({
        id: "cn_1",
        workspace_id: api.first.id,
        pipeline_id: "pl_1",
        source_id,
        destination_id: null,
        created_at: new Date(clock.now()),
      })
      .execute();
    const [id] = await add({ connectionId: "cn_1" });
    expect((await claim(api))?.fence).toBe(1);
    await api.db.updateTable("jobs").set({ status: "incomplete" }).execute();
    expect(await claim(api)).toMatchObject({ fence: 2, job: { attempt: 2 } });
    expect((await jobRow(api, String(id))).started_at).not.toBeNull();
  });
});
