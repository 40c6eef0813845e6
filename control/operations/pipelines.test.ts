import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import {
  addCatalog,
  addCredential,
  addDestination,
  addSource,
  tableStream,
} from "../../tests/control-rows.ts";
import { databaseRows } from "../../tests/database-text.ts";
import { namespacePlaceholder } from "../pipelines/table-names.ts";

describe("pipelines", () => {
  let api: TestControl;
  let ends: { source_id: string; destination_id: string };
  /** Added to the time. */
  let later = 0;

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
  });

  const tables = [
    tableStream("orders", "sales"),
    tableStream("customers", "sales"),
    tableStream("orders", "archive"),
  ];
  const create = (changes: object = {}, options: object = {}) =>
    api.call("POST", "/pipelines", {
      body: { ...ends, streams: [{ name: "orders", namespace: "sales" }], ...changes },
      ...options,
    });
  const make = async (changes: object = {}) => {
    await addCatalog(api, ends.source_id, tables);
    const { status, body } = await create(changes);
    expect([status, body.details]).toEqual([201, undefined]);
    return body.data;
  };
  const prepare = (changes: object = {}) =>
    api.call("POST", "/pipelines/prepare", { body: { ...ends, ...changes } });
  const patch = (id: string, body: object) => api.call("PATCH", `/pipelines/${id}`, { body });
  const act = (id: string, verb: string, body: object = {}) =>
    api.call("POST", `/pipelines/${id}/${verb}`, { body });
  const refused = ({ status, body }: { status: number; body: { details: object } }) =>
    [status, body.details] as const;

  describe("are prepared", () => {
    test("from what the source has, with a configuration that can be sent as it is", async () => {
      const { status, body } = await prepare();
      expect([status, body.details]).toEqual([200, undefined]);
      const { data } = body;
      expect(data).toMatchObject({ table_limit: 6000, has_more: false, next_cursor: null });
      expect(data.table_count).toBe(data.catalog.streams.length);
      const campaigns = data.catalog.streams.find(
        (one: { name: string }) => one.name === "campaigns",
      );
      expect(campaigns).toMatchObject({
        namespace: null,
        supported_sync_modes: ["full_refresh", "incremental"],
        source_defined_primary_key: [["uuid"]],
        selected: false,
        suggested: true,
      });
      const { suggested_configuration: suggested, prepare_id } = data;
      expect(suggested.streams).toContainEqual({
        name: "campaigns",
        namespace: null,
        sync_mode: "incremental",
        destination_sync_mode: "append_dedup",
        cursor_field: ["sent_at"],
        primary_key: [["uuid"]],
      });
      const made = await api.call("POST", "/pipelines", {
        body: { ...ends, ...suggested, prepare_id },
      });
      expect([made.status, made.body.details]).toEqual([201, undefined]);
      expect(made.body.data.stream_count).toBe(data.table_count);
      expect(
        (await prepare()).body.data.catalog.streams.every(
          (one: { selected: boolean }) => one.selected,
        ),
      ).toBe(true);
    });

    test("in pages of one catalog, which is kept for half an hour", async () => {
      const first = (await prepare({ limit: 5 })).body.data;
      expect(first.catalog.streams).toHaveLength(5);
      expect([first.has_more, first.suggested_configuration.streams.length]).toEqual([true, 5]);
      const names: string[] = first.catalog.streams.map((one: { name: string }) => one.name);
      for (let cursor = first.next_cursor; cursor !== null; ) {
        const { data } = (await prepare({ limit: 5, cursor })).body;
        expect(data.prepare_id).toBe(first.prepare_id);
        names.push(...data.catalog.streams.map((one: { name: string }) => one.name));
        cursor = data.next_cursor;
      }
      expect(new Set(names).size).toBe(first.table_count);
      expect((await prepare()).body.data.prepare_id).toBe(first.prepare_id);
      expect((await prepare({ refresh: true })).body.data.prepare_id).not.toBe(first.prepare_id);
      const foreign = await api.call("POST", "/pipelines/prepare", {
        body: { ...ends, destination_id: await addDestination(api), cursor: first.next_cursor },
      });
      expect(refused(foreign)).toMatchObject([400, { reason: "invalid_cursor" }]);
      const [before, ended] = [first.next_cursor, first.prepare_id];
      later += 31 * 60_000;
      expect(refused(await prepare({ cursor: before }))).toMatchObject([
        410,
        { reason: "prepare_expired" },
      ]);
      expect((await prepare()).body.data.prepare_id).not.toBe(ended);
    });

    test("anew when the source was changed", async () => {
      const { prepare_id } = (await prepare()).body.data;
      await api.db
        .updateTable("sources")
        .set({ version: 2 })
        .where("id", "=", ends.source_id)
        .execute();
      expect((await prepare()).body.data.prepare_id).not.toBe(prepare_id);
    });

    test("with a warning where rows cannot be told apart, and a schema for each namespace where names repeat", async () => {
      const keyless = { ...tableStream("log", "sales"), source_defined_primary_key: [] };
      await addCatalog(api, ends.source_id, [...tables, keyless]);
      const { data } = (await prepare()).body;
      expect(data.warnings).toMatchObject([
        { reason: "streams_without_key", stream_count: 1, sample: ["sales.log"] },
      ]);
      expect(data.suggested_configuration.namespace_definition).toBe("source");
    });

    test("by whoever may run things, and for things of the own workspace", async () => {
      const body = ends;
      expect(
        (await api.call("POST", "/pipelines/prepare", { body, token: api.first.tokens.viewer }))
          .status,
      ).toBe(403);
      expect(
        (await api.call("POST", "/pipelines/prepare", { body, token: api.first.tokens.runner }))
          .status,
      ).toBe(200);
      expect(
        (await api.call("POST", "/pipelines/prepare", { body, token: api.second.tokens.admin }))
          .status,
      ).toBe(404);
      for (const limit of [0, 1_001, "5"])
        expect((await prepare({ limit })).body.details.reason).toBe("validation_failed");
      expect((await prepare({ cursor: "x" })).status).toBe(400);
    });
  });

  describe("are created", () => {
    test("with a connection, and streams as they are suggested", async () => {
      const made = await make();
      expect(made).toMatchObject({
        ...ends,
        name: "Our mailer → Warehouse",
        status: "active",
        sync_state: "pending",
        schedule: { type: "manual" },
        next_run_at: null,
        prefix: "",
        namespace_definition: "destination",
        schema_change_policy: "propagate_columns",
        parallel_streams: 1,
        stream_count: 1,
        last_job: null,
        version: 1,
        streams: [
          {
            name: "orders",
            namespace: "sales",
            sync_mode: "full_refresh",
            destination_sync_mode: "overwrite",
            primary_key: [["id"]],
            cursor_field: [],
            selected_fields: null,
            detect_deletes: "none",
            hashed_fields: null,
            row_filter: null,
            table: { schema: null, name: "_svc_orders" },
          },
        ],
      });
      expect((await api.call("GET", `/pipelines/${made.pipeline_id}`)).body.data).toEqual(made);
      const { streams, left_at_source, ...listed } = made;
      expect(
        (await api.call("GET", `/pipelines?source_id=${ends.source_id}`)).body.data.items,
      ).toEqual([listed]);
      expect(
        (await api.call("GET", `/connections?pipeline_id=${made.pipeline_id}`)).body.data.items,
      ).toMatchObject([{ connection_id: made.connection_id, ...ends, status: "active" }]);
    });

    test("with everything that the user has chosen", async () => {
      const stream = {
        name: "orders",
        namespace: "archive",
        sync_mode: "incremental",
        destination_sync_mode: "append_dedup",
        cursor_field: ["updated_at"],
        selected_fields: ["note"],
        hashed_fields: ["note"],
        row_filter: [{ column: "note", operator: "!=", value: "" }],
        detect_deletes: "soft",
      };
      const made = await make({
        name: "Old orders",
        streams: [stream],
        prefix: "old_",
        namespace_definition: "custom_format",
        namespace_format: `raw_${namespacePlaceholder}`,
        schema_change_policy: "pause",
        parallel_streams: 4,
        schedule: { type: "basic", units: 6, time_unit: "hours" },
      });
      expect(made).toMatchObject({
        name: "Old orders",
        schema_change_policy: "pause",
        parallel_streams: 4,
      });
      expect(made.streams).toEqual([
        {
          ...stream,
          primary_key: [["id"]],
          table: { schema: "raw_archive", name: "_svc_old_orders" },
        },
      ]);
      const wait = Date.parse(made.next_run_at) - Date.parse(made.created_at);
      expect(wait).toBe(6 * 3_600_000);
    });

    test("of 6,000 tables by one word; more are refused before anything is saved", async () => {
      const many = Array.from({ length: 6_000 }, (_, index) => tableStream(`table_${index}`));
      await addCatalog(api, ends.source_id, many);
      const own = { name: "table_7", sync_mode: "full_refresh", destination_sync_mode: "append" };
      const { body } = await create({ streams: [own], select_all: true });
      expect(body.data).toMatchObject({ stream_count: 6_000 });
      expect(body.data.streams).toHaveLength(200);
      expect(body.data.streams[7]).toMatchObject(own);
      const { data } = (
        await api.call("GET", `/pipelines/${body.data.pipeline_id}/streams?limit=200`)
      ).body;
      const next = await api.call(
        "GET",
        `/pipelines/${body.data.pipeline_id}/streams?limit=200&cursor=${data.next_cursor}`,
      );
      expect(next.body.data.items.map((one: { name: string }) => one.name).slice(0, 2)).toEqual([
        "table_200",
        "table_201",
      ]);
      const named = Array.from({ length: 6_001 }, (_, index) => ({ name: `t${index}` }));
      const before = (await databaseRows(api.db)).pipelines;
      expect(refused(await create({ streams: named }))).toMatchObject([
        422,
        {
          reason: "table_limit_exceeded",
          limit: 6_000,
          count: 6_001,
          sample: expect.arrayContaining(["t0"]),
        },
      ]);
      expect((await databaseRows(api.db)).pipelines).toEqual(before);
    });

    test.each<[string, object, string, string]>([
      ["no streams", { streams: undefined }, "validation_failed", "streams"],
      ["an empty list", { streams: [] }, "validation_failed", "streams"],
      [
        "a stream twice",
        {
          streams: [
            { name: "customers", namespace: "sales" },
            { name: "customers", namespace: "sales" },
          ],
        },
        "validation_failed",
        "streams.1",
      ],
      ["a stream that is none", { streams: [{ name: "nothing" }] }, "stream_unknown", "streams.0"],
      [
        "a stream of another namespace",
        { streams: [{ name: "orders" }] },
        "stream_unknown",
        "streams.0.namespace",
      ],
      [
        "incremental without a cursor",
        { streams: [{ name: "customers", namespace: "sales", sync_mode: "incremental" }] },
        "sync_mode_unsupported",
        "streams.0",
      ],
      [
        "a cursor that is no column",
        { streams: [{ name: "customers", namespace: "sales", cursor_field: ["nothing"] }] },
        "sync_mode_unsupported",
        "streams.0",
      ],
      [
        "overwrite of an increment",
        {
          streams: [
            {
              name: "customers",
              namespace: "sales",
              cursor_field: ["id"],
              destination_sync_mode: "overwrite",
            },
          ],
        },
        "sync_mode_unsupported",
        "streams.0",
      ],
      [
        "another key than the source's",
        { streams: [{ name: "customers", namespace: "sales", primary_key: [["note"]] }] },
        "sync_mode_unsupported",
        "streams.0",
      ],
      [
        "a column that is none",
        {
          streams: [{ name: "customers", namespace: "sales", selected_fields: ["id", "nothing"] }],
        },
        "validation_failed",
        "streams.0.selected_fields.1",
      ],
      [
        "a mode that is none",
        { streams: [{ name: "customers", sync_mode: "sometimes" }] },
        "validation_failed",
        "streams.0.sync_mode",
      ],
      [
        "a field of a stream that is none",
        { streams: [{ name: "customers", mode: "x" }] },
        "validation_failed",
        "streams.0.mode",
      ],
      [
        "deleted rows of a table that each job replaces",
        { streams: [{ name: "customers", namespace: "sales", detect_deletes: "hard" }] },
        "validation_failed",
        "streams.0.detect_deletes",
      ],
      [
        "deleted rows of a table that keeps all that came",
        {
          streams: [
            {
              name: "customers",
              namespace: "sales",
              destination_sync_mode: "append",
              detect_deletes: "soft",
            },
          ],
        },
        "validation_failed",
        "streams.0.detect_deletes",
      ],
      ["a prefix with a dash", { prefix: "a-b" }, "validation_failed", "prefix"],
      ["a prefix that is too long", { prefix: "a".repeat(41) }, "validation_failed", "prefix"],
      [
        "a format without its definition",
        { namespace_format: "x" },
        "validation_failed",
        "namespace_format",
      ],
      [
        "a definition without its format",
        { namespace_definition: "custom_format" },
        "validation_failed",
        "namespace_format",
      ],
      [
        "a definition that is none",
        { namespace_definition: "x" },
        "validation_failed",
        "namespace_definition",
      ],
      [
        "a policy that is none",
        { schema_change_policy: "x" },
        "validation_failed",
        "schema_change_policy",
      ],
      [
        "more streams at the same time than may be",
        { parallel_streams: 5 },
        "validation_failed",
        "parallel_streams",
      ],
      [
        "a schedule of every minute",
        { schedule: { type: "basic", units: 1, time_unit: "minutes" } },
        "invalid_schedule",
        "schedule.units",
      ],
      [
        "a schedule without units",
        { schedule: { type: "basic", time_unit: "hours" } },
        "invalid_schedule",
        "schedule.units",
      ],
      [
        "a schedule of a zone that is none",
        { schedule: { type: "cron", cron_expression: "0 9 * * *", cron_timezone: "Mars/North" } },
        "invalid_schedule",
        "schedule.cron_timezone",
      ],
      [
        "a schedule of a type that is none",
        { schedule: { type: "hourly" } },
        "validation_failed",
        "schedule.type",
      ],
      ["a name of two lines", { name: "a\nb" }, "validation_failed", "name"],
      ["a field that is none", { sync: true }, "validation_failed", "sync"],
    ])("not with %s", async (_, changes, reason, path) => {
      await addCatalog(api, ends.source_id, tables);
      const answer = await create(changes);
      expect(refused(answer)).toMatchObject([422, { reason }]);
      expect(answer.body.details.errors.map((fault: { path: string }) => fault.path)).toContain(
        path,
      );
      expect(
        (await api.call("GET", `/pipelines?source_id=${ends.source_id}`)).body.data.items,
      ).toEqual([]);
    });

    test("not with two streams of one table", async () => {
      await addCatalog(api, ends.source_id, tables);
      expect(refused(await create({ streams: undefined, select_all: true }))).toMatchObject([
        422,
        {
          reason: "table_name_conflict",
          conflict_count: 1,
          conflicts: [{ table: "_svc_orders", streams: ["sales.orders", "archive.orders"] }],
        },
      ]);
      expect((await create({ select_all: true, namespace_definition: "source" })).status).toBe(201);
    });

    test("not with dedup where there is no key, and with one that the user names", async () => {
      await addCatalog(api, ends.source_id, [
        { ...tableStream("log"), source_defined_primary_key: [] },
      ]);
      const stream = { name: "log", destination_sync_mode: "append_dedup" };
      expect(refused(await create({ streams: [stream] }))).toMatchObject([
        422,
        { reason: "sync_mode_unsupported" },
      ]);
      expect((await create({ streams: [{ ...stream, primary_key: [["id"]] }] })).status).toBe(201);
    });

    test("not of ends that do not exist, or belong to others, or are disabled", async () => {
      await addCatalog(api, ends.source_id, tables);
      expect((await create({ source_id: "src_nothing" })).status).toBe(404);
      expect((await create({ destination_id: "dst_nothing" })).status).toBe(404);
      expect((await create({ prepare_id: "prp_nothing" })).status).toBe(404);
      expect((await create({}, { token: api.second.tokens.admin })).status).toBe(404);
      expect((await create({}, { token: api.first.tokens.runner })).status).toBe(403);
      const disabled = { connector_id: "conn_duckdb", enabled: false, updated_at: new Date(0) };
      await api.db.insertInto("connector_settings").values(disabled).execute();
      const answer = await create();
      await api.db.deleteFrom("connector_settings").execute();
      expect(refused(answer)).toMatchObject([409, { reason: "connector_disabled" }]);
    });

    test("from an expired preparation only when what it had is still so", async () => {
      const { prepare_id } = (await prepare()).body.data;
      const other = await addCatalog(api, ends.source_id, [tableStream("campaigns")]);
      later += 31 * 60_000;
      const campaigns = { streams: [{ name: "campaigns" }] };
      expect(refused(await create({ ...campaigns, prepare_id: other }))).toMatchObject([
        410,
        { reason: "prepare_expired" },
      ]);
      expect((await create({ ...campaigns, prepare_id })).status).toBe(201);
    });
  });

  describe("are changed", () => {
    test("for what is given, and keep the rest", async () => {
      const made = await make({ schedule: { type: "basic", units: 1, time_unit: "days" } });
      const { body } = await patch(made.pipeline_id, {
        name: "Other",
        schema_change_policy: "ignore",
        parallel_streams: 2,
      });
      expect(body.data).toEqual({
        ...made,
        name: "Other",
        schema_change_policy: "ignore",
        parallel_streams: 2,
        version: 2,
        updated_at: body.data.updated_at,
      });
      const manual = await patch(made.pipeline_id, { schedule: { type: "manual" } });
      expect(manual.body.data).toMatchObject({
        schedule: { type: "manual" },
        next_run_at: null,
        version: 3,
      });
      expect((await patch(made.pipeline_id, {})).body.data.version).toBe(3);
      for (const field of ["source_id", "destination_id"])
        expect(refused(await patch(made.pipeline_id, { [field]: "x" }))).toMatchObject([
          422,
          { reason: "immutable_field", errors: [{ path: field }] },
        ]);
    });

    test("in their streams; those whose state fits no more begin anew", async () => {
      const sales = (name: string, more: object = {}) => ({ name, namespace: "sales", ...more });
      const incremental = { cursor_field: ["updated_at"] };
      const made = await make({
        streams: [sales("orders", incremental), sales("customers", incremental)],
      });
      const streams = [sales("orders", { cursor_field: ["id"] }), sales("customers", incremental)];
      const { body } = await patch(made.pipeline_id, { streams });
      expect(body.data.streams).toMatchObject([
        { cursor_field: ["id"] },
        { cursor_field: ["updated_at"] },
      ]);
      const restarts = () =>
        api.db
          .selectFrom("pipeline_streams")
          .select(["name", "is_restart"])
          .where("pipeline_id", "=", made.pipeline_id)
          .orderBy("position")
          .execute();
      expect(await restarts()).toEqual([
        { name: "orders", is_restart: true },
        { name: "customers", is_restart: false },
      ]);
      const renamed = await patch(made.pipeline_id, { prefix: "new_" });
      expect(renamed.body.data.streams[1].table.name).toBe("_svc_new_customers");
      expect((await restarts()).every(({ is_restart }) => is_restart)).toBe(true);
      expect(refused(await patch(made.pipeline_id, { streams: [sales("nothing")] }))).toMatchObject(
        [422, { reason: "stream_unknown" }],
      );
      const two = [sales("orders"), { name: "orders", namespace: "archive" }];
      expect(refused(await patch(made.pipeline_id, { streams: two }))).toMatchObject([
        422,
        { reason: "table_name_conflict" },
      ]);
    });
  });

  describe("are paused, resumed and run", () => {
    const every6Hours = { schedule: { type: "basic", units: 6, time_unit: "hours" } };

    test("as often as one likes; a pause has no next run", async () => {
      const { pipeline_id: id } = await make(every6Hours);
      const paused = (await act(id, "pause")).body.data;
      expect(paused).toMatchObject({
        status: "paused",
        sync_state: "paused",
        next_run_at: null,
        changed: true,
        version: 2,
      });
      expect((await act(id, "pause")).body.data).toMatchObject({ changed: false, version: 2 });
      const scheduled = await patch(id, {
        schedule: { type: "basic", units: 1, time_unit: "days" },
      });
      expect(scheduled.body.data.next_run_at).toBe(null);
      expect(refused(await act(id, "sync"))).toMatchObject([409, { reason: "pipeline_paused" }]);
      const resumed = (await act(id, "resume")).body.data;
      expect(resumed).toMatchObject({ status: "active", sync_state: "pending", changed: true });
      expect(Date.parse(resumed.next_run_at)).toBeGreaterThan(Date.parse(resumed.updated_at));
      expect((await act(id, "resume")).body.data.changed).toBe(false);
    });

    test("one job at a time; a pause lets it go on, unless it is told not to", async () => {
      const { pipeline_id: id } = await make();
      const { status, body, headers } = await act(id, "sync");
      expect([status, body.data.job.status]).toEqual([202, "pending"]);
      const { job_id } = body.data.job;
      expect(headers.location).toBe(`/control/v1/jobs/${job_id}`);
      const again = await act(id, "sync");
      expect(refused(again)).toMatchObject([409, { reason: "sync_already_running", job_id }]);
      expect((await act(id, "pause")).body.data).toMatchObject({
        sync_state: "queued",
        cancelled_job_id: null,
      });
      const cancelled = (await act(id, "pause", { cancel_running: true })).body.data;
      expect(cancelled).toMatchObject({
        changed: false,
        cancelled_job_id: job_id,
        sync_state: "paused",
      });
      expect((await act(id, "resume")).body.data).toMatchObject({
        sync_state: "incomplete",
        last_job: { job_id, status: "cancelled" },
      });
    });

    test("with what the job is to do", async () => {
      const { pipeline_id: id } = await make();
      const streams = [{ name: "orders", namespace: "sales" }];
      const { body } = await act(id, "sync", { streams, full_refresh: true });
      const job = await api.db
        .selectFrom("jobs")
        .selectAll()
        .where("id", "=", body.data.job.job_id)
        .executeTakeFirstOrThrow();
      expect(job).toMatchObject({
        options: { streams, full_refresh: true },
        trigger: "api",
        kind: "sync",
        subject_id: id,
      });
      expect(job.limits).toContain("provider:conn_mailer_product_edm");
    });

    test("not for streams that they do not have, or with connectors that are disabled, or by viewers", async () => {
      const { pipeline_id: id } = await make();
      const streams = [
        { name: "orders", namespace: "sales" },
        { name: "customers", namespace: "sales" },
      ];
      expect(refused(await act(id, "sync", { streams }))).toMatchObject([
        422,
        { reason: "stream_unknown", errors: [{ path: "streams.1" }] },
      ]);
      expect((await act(id, "sync", { streams: [] })).body.details.reason).toBe(
        "validation_failed",
      );
      expect((await act(id, "sync", { full_refresh: "yes" })).body.details.reason).toBe(
        "validation_failed",
      );
      expect((await act(id, "pause", { cancel_running: 1 })).body.details.reason).toBe(
        "validation_failed",
      );
      for (const verb of ["pause", "resume", "sync"]) {
        const answer = (token: string) => api.call("POST", `/pipelines/${id}/${verb}`, { token });
        expect((await answer(api.first.tokens.viewer)).status).toBe(403);
        expect((await answer(api.second.tokens.admin)).status).toBe(404);
      }
      const disabled = {
        connector_id: "conn_mailer_product_edm",
        enabled: false,
        updated_at: new Date(0),
      };
      await api.db.insertInto("connector_settings").values(disabled).execute();
      const answer = await act(id, "sync");
      await api.db.deleteFrom("connector_settings").execute();
      expect(refused(answer)).toMatchObject([409, { reason: "connector_disabled" }]);
    });

    test("not while they are locked", async () => {
      const { pipeline_id: id } = await make();
      await api.db
        .updateTable("pipelines")
        .set({ status: "locked" })
        .where("id", "=", id)
        .execute();
      for (const verb of ["pause", "resume", "sync"])
        expect(refused(await act(id, verb))).toMatchObject([409, { reason: "pipeline_locked" }]);
      expect(refused(await patch(id, { name: "x" }))).toMatchObject([
        409,
        { reason: "pipeline_locked" },
      ]);
    });
  });

  describe("end with their connection", () => {
    const remove = (id: string, options: object = {}) =>
      api.call("DELETE", `/connections/${id}`, options);

    test("which cancels the job that is under way, and frees source and destination", async () => {
      const made = await make();
      const { job_id } = (await act(made.pipeline_id, "sync")).body.data.job;
      expect(refused(await api.call("DELETE", `/sources/${ends.source_id}`))).toMatchObject([
        409,
        { connection_ids: [made.connection_id] },
      ]);
      expect(
        refused(await api.call("DELETE", `/destinations/${ends.destination_id}`)),
      ).toMatchObject([409, { connection_ids: [made.connection_id] }]);
      const { status, body } = await remove(made.connection_id);
      expect([status, body.data]).toMatchObject([
        200,
        { pipeline_id: made.pipeline_id, deleted: true, cancelled_job_id: job_id },
      ]);
      expect((await remove(made.connection_id)).status).toBe(404);
      expect((await api.call("GET", `/pipelines/${made.pipeline_id}`)).status).toBe(404);
      for (const verb of ["pause", "resume", "sync"])
        expect((await act(made.pipeline_id, verb)).status).toBe(404);
      expect(
        (await api.call("GET", `/pipelines?source_id=${ends.source_id}`)).body.data.items,
      ).toEqual([]);
      const deleted = await api.call(
        "GET",
        `/pipelines?source_id=${ends.source_id}&status=deleted`,
      );
      expect(deleted.body.data.items).toMatchObject([
        { pipeline_id: made.pipeline_id, status: "deleted" },
      ]);
      expect((await api.call("DELETE", `/sources/${ends.source_id}`)).status).toBe(200);
      expect((await api.call("DELETE", `/destinations/${ends.destination_id}`)).status).toBe(200);
    });

    test("not for others, and not for those who may only run things", async () => {
      const { connection_id } = await make();
      expect((await remove(connection_id, { token: api.second.tokens.admin })).status).toBe(404);
      expect((await remove(connection_id, { token: api.first.tokens.runner })).status).toBe(403);
    });
  });
});
