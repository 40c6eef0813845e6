import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "../../tests/control-rows.ts";

describe("some streams of a pipeline", () => {
  let api: TestControl;
  let ends: { source_id: string; destination_id: string };
  let id: string;
  /** Added to the time. */
  let later = 0;

  const tables = [
    tableStream("orders", "sales"),
    tableStream("orders", "archive"),
    tableStream("customers", "sales"),
    tableStream("notes", "sales"),
  ];

  beforeAll(async () => {
    api = await startTestControl({
      sandbox: "inline",
      seams: { resolve: async () => [] },
      settings: { network: { approvedHosts: ["mail.example.com"], allowNetworks: [] } },
      clock: { now: () => Date.now() + later, sleep: async () => undefined },
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    const source_id = await addSource(api, await addCredential(api));
    ends = { source_id, destination_id: await addDestination(api) };
    await addCatalog(api, source_id, tables);
    const { body } = await api.call("POST", "/pipelines", {
      body: {
        ...ends,
        namespace_definition: "source",
        streams: [
          {
            name: "orders",
            namespace: "sales",
            sync_mode: "incremental",
            cursor_field: ["updated_at"],
            destination_sync_mode: "append_dedup",
            selected_fields: ["id", "updated_at"],
          },
          { name: "orders", namespace: "archive" },
          { name: "customers", namespace: "sales" },
        ],
      },
    });
    expect(body.details).toBeUndefined();
    id = body.data.pipeline_id;
  });

  type Stream = { readonly name: string; readonly namespace: string };
  const streams = async (): Promise<readonly Stream[]> =>
    (await api.call("GET", `/pipelines/${id}/streams`)).body.data.items;
  const patch = (body: object, options: object = {}) =>
    api.call("PATCH", `/pipelines/${id}/streams`, { body, ...options });
  const named = (list: readonly Stream[]) => list.map((one) => `${one.namespace}.${one.name}`);
  const restarts = async () =>
    (
      await api.db
        .selectFrom("pipeline_streams")
        .select(["namespace", "name"])
        .where("pipeline_id", "=", id)
        .where("is_restart", "=", true)
        .execute()
    ).map((one) => `${one.namespace}.${one.name}`);

  test("change by what is named of them: of the one of its namespace, and nothing else of it or the others", async () => {
    const before = await streams();
    const { status, body, headers } = await patch({
      streams: [
        { name: "orders", namespace: "sales", selected_fields: ["id", "updated_at", "note"] },
      ],
    });
    expect([status, body.details, headers.etag]).toEqual([200, undefined, '"v2"']);
    const [orders, ...others] = before;
    const after = [{ ...orders, selected_fields: ["id", "updated_at", "note"] }, ...others];
    expect(await streams()).toEqual(after);
    expect(body.data.streams).toEqual(after);
    // The same rows under the same key: nothing is read anew for another choice of columns.
    expect(await restarts()).toEqual([]);
  });

  test("with another mode are read from the beginning, the others are not", async () => {
    const change = { sync_mode: "full_refresh", destination_sync_mode: "overwrite" };
    await patch({ streams: [{ name: "orders", namespace: "sales", ...change }] });
    expect((await streams())[0]).toMatchObject({
      ...change,
      selected_fields: ["id", "updated_at"],
    });
    expect(await restarts()).toEqual(["sales.orders"]);
  });

  test("with other hashed columns or another filter are read from the beginning; other choices stay", async () => {
    const choices = {
      hashed_fields: ["note"],
      row_filter: [{ column: "note", operator: "in", value: ["a", "b"] }],
    };
    await patch({ streams: [{ name: "orders", namespace: "sales", ...choices }] });
    const shown = { ...choices, selected_fields: ["id", "updated_at"], sync_mode: "incremental" };
    expect((await streams())[0]).toMatchObject(shown);
    expect(await restarts()).toEqual(["sales.orders"]);
    await patch({ streams: [{ name: "orders", namespace: "sales", selected_fields: null }] });
    expect((await streams())[0]).toMatchObject(choices);
    const none = { hashed_fields: null, row_filter: [] };
    await patch({ streams: [{ name: "orders", namespace: "sales", ...none }] });
    expect((await streams())[0]).toMatchObject({ hashed_fields: null, row_filter: null });
  });

  test("are added and removed in one request; a removed one may be removed again", async () => {
    const body = {
      streams: [{ name: "notes", namespace: "sales" }],
      remove: [{ name: "orders", namespace: "archive" }],
    };
    expect((await patch(body)).status).toBe(200);
    const after = ["sales.orders", "sales.customers", "sales.notes"];
    expect(named(await streams())).toEqual(after);
    expect((await patch(body)).status).toBe(200);
    expect(named(await streams())).toEqual(after);
    const pipeline = (await api.call("GET", `/pipelines/${id}`)).body.data;
    expect([pipeline.stream_count, pipeline.version]).toEqual([3, 3]);
  });

  test.each([
    [{}, "validation_failed", "streams"],
    [{ streams: [] }, "validation_failed", "streams"],
    [{ streams: [{ name: "orders" }] }, "stream_unknown", "streams.0.namespace"],
    [{ streams: [{ name: "ordres", namespace: "sales" }] }, "stream_unknown", "streams.0"],
    [{ remove: [{ name: "ordres", namespace: "sales" }] }, "stream_unknown", "remove.0"],
    [
      {
        streams: [
          { name: "customers", namespace: "sales" },
          { name: "customers", namespace: "sales" },
        ],
      },
      "validation_failed",
      "streams.1",
    ],
    [
      {
        streams: [{ name: "orders", namespace: "sales" }],
        remove: [{ name: "orders", namespace: "sales" }],
      },
      "validation_failed",
      "remove.0",
    ],
    [
      { streams: [{ name: "orders", namespace: "sales", destination_sync_mode: "overwrite" }] },
      "sync_mode_unsupported",
      "streams.0",
    ],
    [
      { streams: [{ name: "orders", namespace: "sales", selected_fields: ["nothing"] }] },
      "validation_failed",
      "streams.0.selected_fields.0",
    ],
    [
      { streams: [{ name: "orders", namespace: "sales", hashed_fields: ["note", "nothing"] }] },
      "validation_failed",
      "streams.0.hashed_fields.1",
    ],
    [
      { streams: [{ name: "orders", namespace: "sales", hashed_fields: ["updated_at"] }] },
      "validation_failed",
      "streams.0.hashed_fields.0",
    ],
    [
      {
        streams: [
          {
            name: "notes",
            namespace: "sales",
            row_filter: [{ column: "no", operator: "is null" }],
          },
        ],
      },
      "validation_failed",
      "streams.0.row_filter.0",
    ],
    [
      {
        streams: [
          {
            name: "orders",
            namespace: "sales",
            row_filter: [
              { column: "note", operator: "=", value: "a" },
              { column: "id", operator: "in", value: 1 },
            ],
          },
        ],
      },
      "validation_failed",
      "streams.0.row_filter.1",
    ],
    [
      { remove: tables.map(({ name, namespace }) => ({ name, namespace })) },
      "validation_failed",
      "remove",
    ],
  ])("are refused as they cannot be, by the place: %j", async (body, reason, path) => {
    const before = await streams();
    const { status, body: refusal } = await patch(body);
    expect([status, refusal.details.reason, refusal.details.errors[0].path]).toEqual([
      422,
      reason,
      path,
    ]);
    expect(await streams()).toEqual(before);
  });

  test("are changed without asking the source, whatever it has become; adding asks it", async () => {
    later += 31 * 60_000;
    const change = {
      streams: [{ name: "customers", namespace: "sales", sync_mode: "full_refresh" }],
    };
    expect((await patch(change)).status).toBe(200);
    const added = await patch({ streams: [{ name: "notes", namespace: "sales" }] });
    // The source of this test cannot be reached.
    expect([added.status, added.body.details.reason]).not.toEqual([200, undefined]);
    expect(named(await streams())).not.toContain("sales.notes");
  });

  test("are changed once per version", async () => {
    const change = {
      streams: [{ name: "customers", namespace: "sales", selected_fields: ["id"] }],
    };
    const headers = { "if-match": '"v1"' };
    const answers = await Promise.all([1, 2, 3].map(() => patch(change, { headers })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    expect(statuses.slice(1).every((status) => status === 409 || status === 412)).toBe(true);
  });

  test("two changes of different streams at once are both there, or one is told to look again", async () => {
    const change = (name: string) =>
      patch({
        streams: [{ name, namespace: "sales", selected_fields: ["id", "updated_at", "note"] }],
      });
    const answers = [await Promise.all([change("orders"), change("customers")])].flat();
    const done = answers.filter(({ status }) => status === 200).length;
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const changed = (await api.call("GET", `/pipelines/${id}/streams`)).body.data.items.filter(
      (one: { selected_fields: string[] | null }) => one.selected_fields?.length === 3,
    );
    expect(changed).toHaveLength(done);
  });

  test("belong to those who may change the pipeline", async () => {
    const change = { streams: [{ name: "customers", namespace: "sales" }] };
    for (const [token, status] of [
      [api.first.tokens.runner, 403],
      [api.second.tokens.admin, 404],
      [api.first.tokens.agent, 202],
    ] as const)
      expect((await patch(change, { token })).status).toBe(status);
  });
});
