import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ReverseEtl, startReverseEtl } from "../../tests/reverse-etl.ts";

describe("a run", () => {
  let etl: ReverseEtl;
  let hook: string;
  /** Answers of the receiver, by the key of the first row. */
  const answers = new Map<string, { readonly status: number; readonly body?: object }>();

  beforeAll(async () => {
    etl = await startReverseEtl({
      webhook: {
        answer: ({ rows }) =>
          rows.map(({ key }) => answers.get(key)).find((one) => one) ?? { status: 204 },
      },
    });
    hook = await etl.webhookDestination();
  });
  afterAll(() => etl?.[Symbol.asyncDispose]());

  const mappings = [
    { from: "id", to: "customer", isPrimaryIdentifier: true },
    { from: "name", to: "name" },
  ];
  /** A table of its own, and an activation of it. */
  const arrange = async (table: string, operation = "mirror") => {
    await etl.sql(`CREATE TABLE ${table} (id VARCHAR, name VARCHAR)`);
    const modelId = await etl.model(`SELECT id, name FROM ${table}`);
    const isIdentifying = !["insert", "append"].includes(operation);
    return etl.activation({
      modelId,
      destinationId: hook,
      object: "rows",
      operation,
      mappings: isIdentifying ? mappings : mappings.map(({ from, to }) => ({ from, to })),
    });
  };
  const received = (table: string) =>
    [...etl.webhook.rows].filter(([key]) => key.startsWith(table)).sort();

  test("sends what is new, changed and gone since the last one, and nothing twice", async () => {
    const activation = await arrange("a");
    await etl.sql("INSERT INTO a VALUES ('a1', 'Ada'), ('a2', 'Bea'), ('a3', 'Cem')");
    expect(await etl.run(activation)).toMatchObject({
      status: "succeeded",
      querySize: 3,
      completionRatio: 1,
      error: null,
      plannedRows: { addedCount: 3, changedCount: 0, removedCount: 0 },
      successfulRows: { addedCount: 3, changedCount: 0, removedCount: 0 },
    });
    expect(received("a")).toEqual([
      ["a1", { customer: "a1", name: "Ada" }],
      ["a2", { customer: "a2", name: "Bea" }],
      ["a3", { customer: "a3", name: "Cem" }],
    ]);
    await etl.sql(
      "UPDATE a SET name = 'Bee' WHERE id = 'a2'; DELETE FROM a WHERE id = 'a1'; INSERT INTO a VALUES ('a4', 'Dua')",
    );
    const count = etl.webhook.deliveries.length;
    expect(await etl.run(activation)).toMatchObject({
      successfulRows: { addedCount: 1, changedCount: 1, removedCount: 1 },
    });
    expect(
      etl.webhook.deliveries
        .slice(count)
        .flatMap(({ rows }) => rows.map(({ key, change }) => [key, change])),
    ).toEqual([
      ["a1", "removed"],
      ["a4", "added"],
      ["a2", "changed"],
    ]);
    expect(received("a").map(([key]) => key)).toEqual(["a2", "a3", "a4"]);
    expect(await etl.run(activation)).toMatchObject({
      status: "succeeded",
      plannedRows: { addedCount: 0, changedCount: 0, removedCount: 0 },
    });
    expect(etl.webhook.deliveries).toHaveLength(count + 1);
  });

  test("keeps rows that the receiver refuses, with the reason, and tries them again the next time", async () => {
    const activation = await arrange("b");
    await etl.sql("INSERT INTO b VALUES ('b1', 'Ada'), ('b2', 'Bea'), ('b3', 'Cem')");
    const failed = [
      { key: "b2", reason: "blocked" },
      { key: "b3", reason: "Nobody knows whether this ist a <secret>" },
      { key: "other", reason: "x" },
    ];
    answers.set("b1", { status: 200, body: { failed } });
    const run = await etl.run(activation);
    expect(run).toMatchObject({
      status: "warning",
      successfulRows: { addedCount: 1 },
      failedRows: { addedCount: 2 },
    });
    const rows = await etl.must("GET", `/reverse-etl/runs/${run.runId}/failed-rows?limit=1`);
    expect(rows).toMatchObject({
      items: [
        {
          key: "b2",
          change: "added",
          reason: "rejected",
          message: "The destination refused the row (blocked).",
        },
      ],
      has_more: true,
    });
    const rest = await etl.must(
      "GET",
      `/reverse-etl/runs/${run.runId}/failed-rows?limit=1&cursor=${rows.next_cursor}`,
    );
    expect(rest.items).toMatchObject([{ key: "b3", message: "The destination refused the row." }]);
    answers.clear();
    expect(await etl.run(activation)).toMatchObject({
      status: "succeeded",
      plannedRows: { addedCount: 2 },
      successfulRows: { addedCount: 2 },
    });
  });

  test("has failed when no row was taken", async () => {
    const activation = await arrange("c");
    await etl.sql("INSERT INTO c VALUES ('c1', 'Ada')");
    answers.set("c1", { status: 422, body: { message: "a text that nobody must see" } });
    const run = await etl.run(activation);
    expect(run).toMatchObject({
      status: "failed",
      error: { reason: "rows_failed" },
      failedRows: { addedCount: 1 },
    });
    answers.clear();
    expect(await etl.must("GET", `/reverse-etl/activations/${activation}`)).toMatchObject({
      status: "active",
      lastRunStatus: "failed",
      lastRunError: { reason: "rows_failed" },
    });
    const jobsOf = async (id: string) => (await etl.must("GET", `/jobs?activation_id=${id}`)).items;
    expect(await jobsOf(activation)).toMatchObject([
      { job_id: run.jobId, activation_id: activation, pipeline_id: null },
    ]);
    expect(await jobsOf("act_none")).toEqual([]);
  });

  test("names rows without a key, with a key that others have too, and without an identifier; the others go", async () => {
    const activation = await arrange("d");
    await etl.sql(
      "INSERT INTO d VALUES ('d1', 'Ada'), ('d2', 'Bea'), ('d2', 'Bee'), (NULL, 'Nobody'), ('d3', 'Cem')",
    );
    const run = await etl.run(activation);
    expect(run).toMatchObject({
      status: "warning",
      successfulRows: { addedCount: 2 },
      failedRows: { addedCount: 3 },
    });
    const { items } = await etl.must("GET", `/reverse-etl/runs/${run.runId}/failed-rows`);
    expect(items.map(({ key, reason }: { key: string; reason: string }) => [key, reason])).toEqual([
      ["d2", "key_duplicate"],
      ["row 4", "key_missing"],
    ]);
    expect(received("d").map(([key]) => key)).toEqual(["d1", "d3"]);
  });

  test("that is dry compares and sends nothing; with fullResync everything goes again", async () => {
    const activation = await arrange("e", "upsert");
    await etl.sql("INSERT INTO e VALUES ('e1', 'Ada'), ('e2', 'Bea')");
    expect(await etl.run(activation, { dry_run: true })).toMatchObject({
      dryRun: true,
      status: "succeeded",
      plannedRows: { addedCount: 2 },
      successfulRows: { addedCount: 0 },
    });
    expect(received("e")).toEqual([]);
    await etl.run(activation);
    const count = etl.webhook.deliveries.length;
    expect(await etl.run(activation, { fullResync: true })).toMatchObject({
      fullSync: true,
      successfulRows: { addedCount: 0, changedCount: 2 },
    });
    expect(etl.webhook.deliveries).toHaveLength(count + 1);
  });

  test("fails with a reason when the query no longer works, and the destination stays as it is", async () => {
    const activation = await arrange("f");
    await etl.sql("INSERT INTO f VALUES ('f1', 'Ada')");
    await etl.run(activation);
    await etl.sql("ALTER TABLE f RENAME TO f_gone");
    expect(await etl.run(activation)).toMatchObject({
      status: "failed",
      error: { reason: "query_failed" },
    });
    await etl.sql("CREATE TABLE f (id VARCHAR, title VARCHAR)");
    expect((await etl.run(activation)).status).toBe("failed");
    expect(received("f").map(([key]) => key)).toEqual(["f1"]);
  });

  test("is one at a time, whoever asks, and only of an active activation", async () => {
    const activation = await arrange("g");
    const started = await Promise.all(
      [1, 2, 3].map(() =>
        etl.api.call("POST", `/reverse-etl/activations/${activation}/run`, { body: {} }),
      ),
    );
    const [first] = started.filter(({ status }) => status === 202);
    expect(started.filter(({ status }) => status === 202)).toHaveLength(1);
    for (const { body } of started.filter(({ status }) => status === 409))
      expect(body.details).toEqual({ reason: "run_in_progress", runId: first?.body.data.runId });
    expect(first?.body.data).toMatchObject({ activationId: activation, status: "queued" });
    await etl.must("PATCH", `/reverse-etl/activations/${activation}`, { status: "paused" });
    const paused = await etl.api.call("POST", `/reverse-etl/activations/${activation}/run`, {
      body: {},
    });
    expect([paused.status, paused.body.details.reason]).toEqual([409, "activation_not_active"]);
  });

  test("that is cancelled while the receiver hangs stops, and the next one sends what is left", async () => {
    const activation = await arrange("k");
    await etl.sql("INSERT INTO k SELECT 'k' || i, 'name' FROM range(150) t(i)");
    etl.webhook.faults.inject({ type: "hang" }, { path: "/svc/rows/", after: 1 });
    const started = await etl.must("POST", `/reverse-etl/activations/${activation}/run`, {});
    const { runId } = started;
    // The second batch is on its way.
    const isSent = async () =>
      (await etl.must("GET", `/reverse-etl/runs/${runId}`)).successfulRows.addedCount === 100;
    while (!(await isSent())) await new Promise((resolve) => setTimeout(resolve, 20));
    await etl.must("POST", `/reverse-etl/runs/${runId}/cancel`, {});
    const statusOf = async () => (await etl.must("GET", `/reverse-etl/runs/${runId}`)).status;
    while ((await statusOf()) !== "cancelled")
      await new Promise((resolve) => setTimeout(resolve, 50));
    const idle = async () => (await etl.must("GET", `/jobs?status=running`)).items.length === 0;
    while (!(await idle())) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await etl.run(activation)).toMatchObject({
      status: "succeeded",
      successfulRows: { addedCount: 50 },
    });
    expect(received("k")).toHaveLength(150);
  });

  test("of another workspace does not exist", async () => {
    const activation = await arrange("h");
    const { runId } = await etl.run(activation);
    const token = etl.api.second.tokens.admin;
    for (const path of [
      `/runs/${runId}`,
      `/runs/${runId}/failed-rows`,
      `/activations/${activation}`,
    ])
      expect((await etl.api.call("GET", `/reverse-etl${path}`, { token })).status).toBe(404);
    expect(
      (await etl.api.call("POST", `/reverse-etl/runs/${runId}/cancel`, { token, body: {} })).status,
    ).toBe(404);
    const list = await etl.api.call("GET", "/reverse-etl/runs", { token });
    expect(list.body.data.items).toEqual([]);
  });

  test("reaches subscribers of a mailing list: attributes and tags, and gone is gone", async () => {
    await etl.sql(
      "CREATE TABLE people (mail VARCHAR, first VARCHAR, plan VARCHAR, tags VARCHAR[])",
    );
    await etl.sql(
      "INSERT INTO people VALUES ('ada@example.org', 'Ada', 'pro', ['vip','eu']), ('bea@example.org', 'Bea', 'free', []), ('not-an-address', 'X', 'free', [])",
    );
    const [list, other] = etl.mailer.truth.email_lists();
    const modelId = await etl.model("SELECT * FROM people", "mail");
    const activation = await etl.activation({
      modelId,
      destinationId: await etl.mailerDestination(),
      object: list?.name,
      operation: "mirror",
      mappings: [
        { from: "mail", to: "email", isPrimaryIdentifier: true },
        { from: "first", to: "first_name" },
        { from: "plan", to: "plan" },
        { from: "tags", to: "tags" },
      ],
    });
    const subscribers = () =>
      etl.mailer.truth.subscribers().filter(({ email }) => String(email).endsWith("@example.org"));
    expect(await etl.run(activation)).toMatchObject({
      status: "warning",
      successfulRows: { addedCount: 2 },
      failedRows: { addedCount: 1 },
    });
    expect(subscribers()).toMatchObject([
      {
        email: "ada@example.org",
        first_name: "Ada",
        extra_attributes: { plan: "pro" },
        tags: ["vip", "eu"],
        email_list_uuid: list?.uuid,
      },
      { email: "bea@example.org", first_name: "Bea", tags: [] },
    ]);
    await etl.sql(
      "DELETE FROM people WHERE mail <> 'ada@example.org'; UPDATE people SET plan = 'team'",
    );
    expect(await etl.run(activation)).toMatchObject({
      status: "succeeded",
      successfulRows: { changedCount: 1, removedCount: 1 },
    });
    expect(subscribers()).toMatchObject([
      { email: "ada@example.org", extra_attributes: { plan: "team" } },
    ]);
    expect(other?.uuid).not.toBe(list?.uuid);
  });
});
