import { ConnectorError, createScaledClock } from "svc-connectors/host";
import { expect, test } from "vitest";
import type { Row } from "../../../fixtures/connector-run.ts";
import { createTaskappRun, keyed } from "../../../fixtures/taskapp/run.ts";
import {
  startTaskapp,
  type TaskappOptions,
  type TaskappSimulator,
} from "../../../simulators/taskapp/taskapp.ts";
import type { Truth, TruthOptions } from "../../../simulators/taskapp/truth.ts";
import { choose } from "../../../tests/effort.ts";
import { createMemorySink } from "../../../tests/memory-sink.ts";
import { streams } from "./streams.ts";

const names = streams.map((stream) => stream.name as keyof Truth);
/** The account's present is 2026-06-01; its time entries begin five days before. */
const may = { start_date: "2026-05-01", end_date: "2026-06-02" };

async function start(options: TaskappOptions = {}) {
  const app = await startTaskapp(options);
  const run = createTaskappRun(app);
  return {
    app,
    run,
    async [Symbol.asyncDispose]() {
      await run[Symbol.asyncDispose]();
      await app.close();
    },
  };
}

const streamOf = (name: string) => {
  const stream = streams.find((one) => one.name === name);
  if (!stream) throw new RangeError("no such stream");
  return stream;
};

function expectTruth(
  app: TaskappSimulator,
  name: keyof Truth,
  rows: readonly Row[],
  options?: TruthOptions,
): void {
  expect(keyed(streamOf(name), rows)).toEqual(keyed(streamOf(name), app.truth[name](options)));
}

/** The state of an account with one workspace whose rows were read up to a moment. */
const upTo = ({ truth }: TaskappSimulator, moment: unknown) => ({
  cursors: Object.fromEntries(ids(truth.workspaces()).map((id) => [id, moment as string])),
});
const code = (expected: string) => expect.objectContaining({ code: expected });
const ids = (rows: readonly Row[]) => rows.map((row) => String(row.id));
const paths = (app: TaskappSimulator) =>
  app.requests.map((request) => decodeURIComponent(request.path).replace("/api/v2", ""));
const requestsTo = (app: TaskappSimulator, part: string) =>
  paths(app).filter((path) => path.includes(part));
/** Changes the account once the server has made its nth answer to such a path. */
function changeAfter(app: TaskappSimulator, nth: number, path: RegExp, change: () => void): void {
  let count = 0;
  app.observe((request) => {
    if (path.test(request.path) && ++count === nth) change();
  });
}

test.each(
  names,
)("%s holds exactly the account's rows, each once, and none that its schema refuses", async (name) => {
  await using at = await start({ workspaces: 2 });
  const { rows, nulledCount } = await at.run.read(name, {
    config: name === "time_entries" ? may : {},
  });
  expectTruth(at.app, name, rows);
  expect(rows).toHaveLength(at.app.truth[name]().length);
  expect(rows.length).toBeGreaterThan(0);
  expect(nulledCount).toBe(0);
});

const withArchived = [
  "folders",
  "lists",
  "tasks",
  "task_custom_fields",
  "custom_fields",
  "comments",
  "list_comments",
  "time_in_status",
] as const;
test.each(withArchived)("%s holds archived rows too when they are asked for", async (name) => {
  await using at = await start({ foldersPerSpace: 4 });
  for (const fetch_strategy of ["workspace", "list"]) {
    const { rows } = await at.run.read(name, {
      config: { include_archived: true, fetch_strategy },
    });
    expectTruth(at.app, name, rows, { archived: true });
    expect(rows).toHaveLength(at.app.truth[name]({ archived: true }).length);
  }
  expect(at.app.truth[name]({ archived: true }).length).toBeGreaterThan(
    at.app.truth[name]().length,
  );
});

test.each([
  "tasks",
  "task_custom_fields",
  "comments",
  "time_in_status",
] as const)("%s are the same list by list", async (name) => {
  await using at = await start({ workspaces: 2, pageSize: 4 });
  const { rows } = await at.run.read(name, { config: { fetch_strategy: "list" } });
  expectTruth(at.app, name, rows);
  expect(requestsTo(at.app, "/team/").filter((path) => path.includes("/task"))).toEqual([]);
});

test.each([
  [{ pageSize: 1, tasksPerMoment: 3 }],
  [{ pageSize: 3, tasksPerMoment: 3 }],
  [{ pageSize: 4, tasksPerMoment: 9 }],
  [{ pageSize: 5, tasksPerMoment: 1 }],
  [{ pageSize: 7, tasksPerMoment: 60 }],
  [{ tasks: 0 }],
  [{ tasks: 1, pageSize: 1 }],
  [{ tasks: 100, sendsLastPage: false, tasksPerMoment: 1 }],
  [{ tasks: 101, sendsLastPage: false }],
  [{ tasks: 330, sendsLastPage: false, tasksPerMoment: 330 }],
])("tasks in pages that end amid those of one moment are all read, none twice: %o", async (options) => {
  await using at = await start(options);
  const { rows } = await at.run.read("tasks");
  expect(ids(rows).sort()).toEqual(ids(at.app.truth.tasks()).sort());
});

test("tasks that are edited while pages are read hide no other task", async () => {
  for (const tasksPerMoment of [1, 3, 20]) {
    await using at = await start({ pageSize: 4, tasksPerMoment });
    let minute = 0;
    const edited = ids(at.app.truth.tasks());
    at.app.observe(({ path }) => {
      const id = path.endsWith("/task") ? edited[minute] : undefined;
      if (id !== undefined && minute < 12)
        at.app.mutate.updateTask(id, { updatedAt: `2026-06-01T00:${10 + minute++}:00Z` });
    });
    const { rows } = await at.run.read("tasks");
    expectTruth(at.app, "tasks", rows);
  }
});

test("a task deleted while pages are read hides no other, also among those of one moment", async () => {
  await using at = await start({ pageSize: 4, tasksPerMoment: 60 });
  const [gone = ""] = ids(at.app.truth.tasks());
  changeAfter(at.app, 2, /\/task$/, () => at.app.mutate.removeTask(gone));
  const { rows } = await at.run.read("tasks");
  expect(ids(rows)).toEqual(expect.arrayContaining(ids(at.app.truth.tasks())));
});

test("a server that never comes to an end is an error", async () => {
  await using at = await start({ tasks: 3 });
  const [task] = at.app.truth.tasks();
  const body = JSON.stringify({
    tasks: [{ ...task, date_updated: "1780272000000" }],
    last_page: false,
  });
  at.app.faults.inject({ type: "status", status: 200, body }, { path: "/task", times: 1_000 });
  await expect(at.run.read("tasks")).rejects.toEqual(code("PAGING_LOOP"));
});

test("filters and switches narrow what is read", async () => {
  await using at = await start({ workspaces: 2, tasks: 120 });
  const { truth } = at.app;
  const tasks = truth.tasks();
  const [space] = truth.spaces();
  const [folder] = truth.folders();
  const [list] = truth.lists();
  const [, person] = truth.users();
  const cases: [Record<string, unknown>, (task: Row) => boolean][] = [
    [{ workspace_ids: [space?.workspace_id] }, (task) => task.workspace_id === space?.workspace_id],
    [{ space_ids: [space?.id] }, (task) => task.space_id === space?.id],
    [{ folder_ids: [folder?.id] }, (task) => task.folder_id === folder?.id],
    [{ list_ids: [list?.id] }, (task) => task.list_id === list?.id],
    [
      { assignee_ids: [person?.id] },
      (task) => (task.assignee_ids as string[]).includes(String(person?.id)),
    ],
    [{ include_closed: false }, (task) => task.date_closed === null],
    [{ include_subtasks: false }, (task) => task.parent === null],
    [
      { start_date: "2026-05-31T21:00:00Z" },
      (task) => String(task.date_updated) >= "2026-05-31T21",
    ],
    [{ end_date: "2026-05-31T21:00:00Z" }, (task) => String(task.date_updated) < "2026-05-31T21"],
  ];
  for (const [config, isWanted] of cases) {
    for (const fetch_strategy of ["workspace", "list"]) {
      const { rows } = await at.run.read("tasks", {
        config: JSON.parse(JSON.stringify({ ...config, fetch_strategy })),
      });
      const wanted = ids(tasks.filter(isWanted));
      expect(ids(rows).sort(), JSON.stringify(config)).toEqual(wanted.sort());
      expect(wanted.length).toBeGreaterThan(0);
      expect(wanted.length).toBeLessThan(tasks.length);
    }
  }
  const lists = await at.run.read("lists", { config: { folder_ids: [String(folder?.id)] } });
  expect(lists.rows.map((row) => row.folder_id)).toEqual(lists.rows.map(() => folder?.id));
});

test("a crash amid the tasks or the archived ones loses neither", async () => {
  await using at = await start({ pageSize: 3, tasks: 120, foldersPerSpace: 4 });
  const read = { config: { include_archived: true } };
  const { outputCount } = await at.run.read("tasks", read);
  const step = choose({ quick: 21, whole: 7 });
  for (let stopAfter = 0; stopAfter < outputCount; stopAfter += step) {
    const crashed = await at.run.read("tasks", { ...read, stopAfter });
    expect(crashed.outputCount).toBe(stopAfter);
    const state = crashed.states.at(-1);
    const resumed = await at.run.read("tasks", {
      ...read,
      ...(state === undefined ? {} : { state }),
    });
    expectTruth(at.app, "tasks", [...crashed.coveredRows, ...resumed.rows], { archived: true });
  }
});

test.each([
  "workspace",
  "list",
])("a pass that crashed (by %s) and goes on by the other strategy loses nothing", async (fetch_strategy) => {
  await using at = await start({ pageSize: 3, tasks: 120 });
  const syncMode = "incremental";
  const crashed = await at.run.read("tasks", {
    syncMode,
    config: { fetch_strategy },
    stopAfter: 30,
  });
  const [state] = crashed.states.slice(-1);
  expect(state).toMatchObject({ pass: {} });
  const other = fetch_strategy === "list" ? "workspace" : "list";
  const resumed = await at.run.read("tasks", {
    syncMode,
    config: { fetch_strategy: other },
    state: state ?? {},
  });
  expectTruth(at.app, "tasks", [...crashed.coveredRows, ...resumed.rows]);
});

test("a server that does not keep the order costs time but no task, after a crash either", async () => {
  await using at = await start({ pageSize: 4, keepsOrder: false, tasksPerMoment: 2, tasks: 200 });
  const { rows, outputCount } = await at.run.read("tasks");
  expectTruth(at.app, "tasks", rows);
  for (const stopAfter of [outputCount - 1, Math.round(outputCount * 0.6)]) {
    const crashed = await at.run.read("tasks", { stopAfter });
    const state = crashed.states.at(-1);
    expect(state).toBeDefined();
    const resumed = await at.run.read("tasks", { state: state ?? {} });
    expectTruth(at.app, "tasks", [...crashed.coveredRows, ...resumed.rows]);
  }
});

test("a resumed read does not start over", async () => {
  await using at = await start({ pageSize: 2, tasks: 200 });
  const whole = await at.run.read("tasks");
  const requestCount = at.app.requests.length;
  const crashed = await at.run.read("tasks", { stopAfter: Math.round(whole.outputCount * 0.8) });
  const before = at.app.requests.length;
  await at.run.read("tasks", { state: crashed.states.at(-1) ?? {} });
  expect(crashed.coveredRows.length).toBeGreaterThan(50);
  expect(at.app.requests.length - before).toBeLessThan(requestCount / 2);
});

test.each([
  "workspace",
  "list",
])("an incremental read (by %s) gets what changed since, and those of the same moment again", async (fetch_strategy) => {
  await using at = await start({ pageSize: 5, tasksPerMoment: 3 });
  const read = { syncMode: "incremental", config: { fetch_strategy } } as const;
  const first = await at.run.read("tasks", read);
  const newest = at.app.truth.tasks().at(-1)?.date_updated;
  expect(first.states.at(-1)).toEqual(upTo(at.app, newest));

  const [changed = ""] = ids(at.app.truth.tasks());
  at.app.mutate.updateTask(changed, {
    updatedAt: "2026-06-02T00:00:00.001Z",
    name: "Changed",
    isClosed: true,
  });
  const added = at.app.mutate.addTask({ updatedAt: "2026-06-02T00:00:00.001Z" });
  const tied = at.app.mutate.addTask({ updatedAt: String(newest), list: 1 });
  const before = at.app.requests.length;
  const second = await at.run.read("tasks", { ...read, state: first.states.at(-1) ?? {} });
  expect(ids(second.rows)).toEqual(expect.arrayContaining([changed, added, tied]));
  expect(second.rows.every((row) => String(row.date_updated) >= String(newest))).toBe(true);
  expect(second.states.at(-1)).toEqual(upTo(at.app, "2026-06-02T00:00:00.001Z"));
  expectTruth(at.app, "tasks", [...first.rows, ...second.rows]);
  if (fetch_strategy === "workspace")
    expect(at.app.requests.length - before).toBeLessThanOrEqual(6);

  const third = await at.run.read("tasks", { ...read, state: second.states.at(-1) ?? {} });
  expect(ids(third.rows).sort()).toEqual([added, changed].sort());
  expect(third.states.at(-1)).toEqual(second.states.at(-1));
});

test.each([
  "workspace",
  "list",
])("edits in places already read come at the latest with the next read (by %s)", async (fetch_strategy) => {
  await using at = await start({ workspaces: 2, pageSize: 4, tasks: 80 });
  const read = { syncMode: "incremental", config: { fetch_strategy } } as const;
  const tasks = at.app.truth.tasks();
  changeAfter(at.app, 14, /\/task$/, () => {
    for (const [minute, task] of tasks.entries()) {
      if (minute % 7 === 0)
        at.app.mutate.updateTask(String(task.id), {
          updatedAt: `2026-06-01T01:${10 + (minute % 50)}:00Z`,
          name: "Edited",
        });
    }
  });
  const first = await at.run.read("tasks", read);
  const second = await at.run.read("tasks", { ...read, state: first.states.at(-1) ?? {} });
  expectTruth(at.app, "tasks", [...first.rows, ...second.rows]);
});

test("a pass that crashed and went on after many edits leaves no gap behind", async () => {
  await using at = await start({ pageSize: 3, tasks: 90 });
  const read = { syncMode: "incremental", config: { fetch_strategy: "list" } } as const;
  const crashed = await at.run.read("tasks", { ...read, stopAfter: 20 });
  expect(crashed.states.at(-1)).toMatchObject({ pass: {} });
  for (const id of ids(crashed.coveredRows).slice(0, 4))
    at.app.mutate.updateTask(id, { updatedAt: "2026-07-01T00:00:00Z", name: "Edited" });
  at.app.mutate.addTask({ updatedAt: "2026-07-02T00:00:00Z", list: 5 });
  const resumed = await at.run.read("tasks", { ...read, state: crashed.states.at(-1) ?? {} });
  const next = await at.run.read("tasks", { ...read, state: resumed.states.at(-1) ?? {} });
  expectTruth(at.app, "tasks", [...crashed.coveredRows, ...resumed.rows, ...next.rows]);
});

test("archived tasks never move the saved position", async () => {
  await using at = await start({ pageSize: 5 });
  const late = at.app.mutate.addTask({ updatedAt: "2026-06-20T00:00:00Z" });
  at.app.mutate.archiveTask(late);
  const read = { syncMode: "incremental", config: { include_archived: true } } as const;
  const first = await at.run.read("tasks", read);
  expect(ids(first.rows)).toContain(late);
  expect(first.states.at(-1)).toEqual(upTo(at.app, at.app.truth.tasks().at(-1)?.date_updated));
  const added = at.app.mutate.addTask({ updatedAt: "2026-06-10T00:00:00Z" });
  const second = await at.run.read("tasks", { ...read, state: first.states.at(-1) ?? {} });
  expect(ids(second.rows)).toContain(added);
});

test.each([
  ["tasks", "workspace"],
  ["tasks", "list"],
  ["task_custom_fields", "workspace"],
  ["time_entries", "workspace"],
] as const)("%s (by %s): a workspace that comes later is read from its beginning, though another is further", async (name, fetch_strategy) => {
  await using at = await start({ workspaces: 2, pageSize: 3, tasks: 60 });
  const [first = "", second = ""] = ids(at.app.truth.workspaces());
  const options = { syncMode: "incremental" } as const;
  const config = { ...may, fetch_strategy, lookback_days: 0 };
  for (const [one, stopAfterCheckpoints] of [
    [first, undefined],
    [second, undefined],
    [second, 1],
  ] as const) {
    const before = await at.run.read(name, {
      ...options,
      config: { ...config, workspace_ids: [one] },
      ...(stopAfterCheckpoints === undefined ? {} : { stopAfterCheckpoints }),
    });
    const state = before.states.at(-1) ?? {};
    const both = await at.run.read(name, { ...options, config, state });
    // A workspace in front of the place of a pass is read by the next one.
    const next = await at.run.read(name, {
      ...options,
      config,
      state: both.states.at(-1) ?? {},
    });
    expectTruth(at.app, name, [...before.coveredRows, ...both.rows, ...next.rows]);
  }
});

test("the saved position never lies behind an end date that cut the read off", async () => {
  await using at = await start();
  const end_date = "2026-05-31T22:00:00Z";
  const first = await at.run.read("tasks", { syncMode: "incremental", config: { end_date } });
  expect(first.states.at(-1)).toEqual(upTo(at.app, "2026-05-31T22:00:00.000Z"));
  const second = await at.run.read("tasks", {
    syncMode: "incremental",
    state: first.states.at(-1) ?? {},
  });
  expectTruth(at.app, "tasks", [...first.rows, ...second.rows]);
});

test("time entries are those of all members or of the chosen ones, month by month", async () => {
  await using at = await start({ timeEntriesPerWorkspace: 600 });
  const config = { start_date: "2026-02-01", end_date: "2026-06-02" };
  const { rows } = await at.run.read("time_entries", { config });
  expectTruth(at.app, "time_entries", rows);
  expect(rows).toHaveLength(600);
  expect(requestsTo(at.app, "/time_entries")).toHaveLength(5);
  const person = String(at.app.truth.users()[2]?.id);
  const chosen = await at.run.read("time_entries", {
    config: { ...config, assignee_ids: [person] },
  });
  expect(ids(chosen.rows).sort()).toEqual(
    ids(at.app.truth.time_entries().filter((row) => row.user_id === person)).sort(),
  );
});

test("time entries without a start date are those of the last 30 days", async () => {
  await using at = await start({ now: new Date().toISOString(), timeEntriesPerWorkspace: 300 });
  const { rows } = await at.run.read("time_entries");
  const [first, last] = [
    ids(at.app.truth.time_entries()).at(-1),
    ids(at.app.truth.time_entries()).at(-175),
  ];
  expect(ids(rows)).toEqual(expect.arrayContaining([first, last]));
  expect(rows.length).toBeGreaterThan(170);
  expect(rows.length).toBeLessThan(190);
});

test("an incremental read of time entries sees again what lies within the lookback, late additions included", async () => {
  await using at = await start();
  const config = { ...may, end_date: "2026-07-01", lookback_days: 3 };
  const first = await at.run.read("time_entries", { syncMode: "incremental", config });
  const newest = at.app.truth.time_entries().at(-1);
  expect(first.states.at(-1)).toEqual(upTo(at.app, newest?.start));
  at.app.mutate.updateTimeEntry(String(newest?.id), { durationMs: 60_000 });
  const backfilled = at.app.mutate.addTimeEntry({ startAt: "2026-05-30T01:00:00Z", member: 1 });
  const added = at.app.mutate.addTimeEntry({ startAt: "2026-06-03T01:00:00Z" });
  const second = await at.run.read("time_entries", {
    syncMode: "incremental",
    config,
    state: first.states.at(-1) ?? {},
  });
  expect(ids(second.rows)).toEqual(expect.arrayContaining([String(newest?.id), backfilled, added]));
  expect(second.rows.every((row) => String(row.start) >= "2026-05-28T20")).toBe(true);
  expect(second.states.at(-1)).toEqual(upTo(at.app, "2026-06-03T01:00:00.000Z"));
  expectTruth(at.app, "time_entries", [...first.rows, ...second.rows]);
});

test("others' time entries that the token may not see fail the stream; one's own may be chosen", async () => {
  await using at = await start({ isAdmin: false });
  await expect(at.run.read("time_entries", { config: may })).rejects.toEqual(
    code("PERMISSION_DENIED"),
  );
  const own = String(at.app.truth.users()[0]?.id);
  const { rows } = await at.run.read("time_entries", { config: { ...may, assignee_ids: [own] } });
  expect(rows.every((row) => row.user_id === own)).toBe(true);
});

test.each([
  0, 1, 24, 25, 26, 50, 51,
])("%i comments of a task are all read, in pages of 25", async (commentsPerTask) => {
  await using at = await start({ tasks: 4, commentsPerTask });
  const { rows } = await at.run.read("comments");
  expectTruth(at.app, "comments", rows);
  expect(rows).toHaveLength(at.app.truth.comments().length);
});

test.each([
  "comments",
  "time_in_status",
] as const)("%s: a task deleted since it was listed is passed over", async (name) => {
  await using at = await start();
  const [gone = ""] = ids(at.app.truth.tasks()).slice(4);
  changeAfter(at.app, 1, /\/task$/, () => at.app.mutate.removeTask(gone));
  const { rows } = await at.run.read(name);
  expectTruth(at.app, name, rows);
});

test.each([
  "tasks",
  "custom_fields",
  "list_comments",
] as const)("%s: a list deleted since it was listed is passed over", async (name) => {
  await using at = await start();
  const gone = String(at.app.truth.lists()[1]?.id);
  changeAfter(at.app, 2, /\/(task|field|comment)$/, () => at.app.mutate.removeList(gone));
  const { rows } = await at.run.read(name, { config: { fetch_strategy: "list" } });
  expect(keyed(streamOf(name), rows)).toMatchObject(keyed(streamOf(name), at.app.truth[name]()));
});

test("a 404 for something that is still there fails the stream", async () => {
  await using at = await start();
  at.app.faults.inject({ type: "status", status: 404 }, { path: /\/comment/, after: 3, times: 9 });
  await expect(at.run.read("comments")).rejects.toEqual(code("RESOURCE_NOT_FOUND"));
});

test("no state goes backwards, and an empty account keeps it", async () => {
  await using at = await start({ tasks: 0, timeEntriesPerWorkspace: 0 });
  for (const name of ["tasks", "time_entries"]) {
    for (const cursor of ["2026-05-20T00:00:00.000Z", "2099-01-01T00:00:00.000Z"]) {
      const { rows, states } = await at.run.read(name, {
        syncMode: "incremental",
        state: upTo(at.app, cursor),
      });
      expect(rows).toEqual([]);
      expect(states.at(-1)).toEqual(upTo(at.app, cursor));
    }
  }
});

test("a cursor of the far future stays, with tasks and time entries before it", async () => {
  await using at = await start();
  const state = upTo(at.app, "2099-01-01T00:00:00.000Z");
  for (const name of ["tasks", "time_entries"]) {
    const { rows, states } = await at.run.read(name, {
      syncMode: "incremental",
      state,
      config: name === "tasks" ? {} : may,
    });
    expect(rows).toEqual([]);
    expect(states.at(-1)).toEqual(state);
  }
});

test("a personal token goes as it is, an OAuth token after Bearer, and both pass the check", async () => {
  await using at = await start();
  await at.run.check();
  await at.run.check({ config: { access_token: at.app.oauthToken } });
  expect(paths(at.app)).toEqual(["/user", "/team", "/user", "/team"]);
});

test("tokens and workspaces that the provider refuses fail check and read alike", async () => {
  await using at = await start({ workspaces: 2 });
  const [first, second] = at.app.truth.workspaces().map(({ id }) => String(id));
  const access_token = at.app.badToken;
  await expect(at.run.check({ config: { access_token } })).rejects.toEqual(
    code("REAUTHORIZATION_NEEDED"),
  );
  await expect(at.run.read("tasks", { config: { access_token } })).rejects.toEqual(
    code("REAUTHORIZATION_NEEDED"),
  );
  await expect(at.run.check({ config: { workspace_ids: ["1"] } })).rejects.toEqual(
    code("ACCESS_MISSING"),
  );

  changeAfter(at.app, 1, /\/task$/, () => at.app.mutate.unauthorizeWorkspace(second ?? ""));
  await expect(at.run.read("tasks")).rejects.toEqual(code("REAUTHORIZATION_NEEDED"));
  await at.run.check({ config: { workspace_ids: [first ?? ""] } });
  at.app.mutate.unauthorizeWorkspace(first ?? "");
  await expect(at.run.check()).rejects.toEqual(code("ACCESS_MISSING"));
});

test("check finds the chosen spaces, folders and lists, and names the setting of one that is not there", async () => {
  await using at = await start({ workspaces: 2 });
  const { truth } = at.app;
  const idOf = (rows: readonly Row[]) => String(rows[0]?.id);
  const chosen = {
    space_ids: [idOf(truth.spaces())],
    folder_ids: [idOf(truth.folders())],
    list_ids: [idOf(truth.lists())],
  };
  await at.run.check({ config: chosen });
  for (const kind of ["space", "folder", "list"] as const) {
    const ids = [...chosen[`${kind}_ids`], "987654321"];
    await expect(at.run.check({ config: { ...chosen, [`${kind}_ids`]: ids } })).rejects.toEqual(
      expect.objectContaining({
        code: "RESOURCE_NOT_FOUND",
        message: expect.stringContaining(`a ${kind} of ${kind}_ids is not there`),
      }),
    );
  }
});

test("a read of what lies in chosen places fails when one of them is gone, and names the setting", async () => {
  await using at = await start();
  const gone = { list_ids: [...ids(at.app.truth.lists()), "987654321"] };
  const cases = [
    ...["spaces", "folders", "lists", "custom_fields", "comments"].map((name) => [name, gone]),
    ...["workspace", "list"].map((fetch_strategy) => ["tasks", { ...gone, fetch_strategy }]),
  ] as const;
  for (const [name, config] of cases)
    await expect(at.run.read(String(name), { config: config as typeof gone })).rejects.toEqual(
      expect.objectContaining({
        code: "RESOURCE_NOT_FOUND",
        message: expect.stringContaining("a list of list_ids is not there"),
      }),
    );
  const users = await at.run.read("users", { config: gone });
  expectTruth(at.app, "users", users.rows);
});

test("one run looks for each chosen place once, however many streams lie in it", async () => {
  await using at = await start();
  const list_ids = ids(at.app.truth.lists());
  const config = { access_token: at.app.token, list_ids };
  const catalog = {
    streams: (await at.run.discover()).map((stream) => ({
      stream,
      sync_mode: "full_refresh" as const,
    })),
  };
  const { host, connector } = at.run;
  const summary = await host.read(connector, { config, catalog }, createMemorySink());
  expect(summary.status).toBe("succeeded");
  const looked = paths(at.app).filter((path) => /^\/list\/[0-9]+$/.test(path));
  expect(looked.toSorted()).toEqual(list_ids.map((id) => `/list/${id}`).toSorted());
});

test("check sends ten requests at most, however many places are chosen", async () => {
  await using at = await start({ workspaces: 2 });
  const { truth } = at.app;
  const config = {
    space_ids: ids(truth.spaces()),
    folder_ids: ids(truth.folders()),
    list_ids: ids(truth.lists()),
  };
  expect(Object.values(config).flat().length).toBeGreaterThan(10);
  await at.run.check({ config });
  expect(paths(at.app)).toHaveLength(10);
});

test.each([
  [400, "OAUTH_017", "CREDENTIALS_REJECTED"],
  [401, "OAUTH_019", "REAUTHORIZATION_NEEDED"],
  [401, "OAUTH_045", "REAUTHORIZATION_NEEDED"],
  [401, "OAUTH_077", "REAUTHORIZATION_NEEDED"],
  [401, "OAUTH_999", "CREDENTIALS_REJECTED"],
  [200, "ITEM_000", "REQUEST_REJECTED"],
  [403, "ACCESS_083", "PERMISSION_DENIED"],
])("HTTP %i with %s means %s, and nothing of the answer gets out", async (status, ECODE, expected) => {
  await using at = await start();
  at.app.faults.inject(
    { type: "status", status, body: JSON.stringify({ err: "the provider's words", ECODE }) },
    { times: 9 },
  );
  const error = await at.run.check().catch((failure: unknown) => failure);
  expect(error).toEqual(code(expected));
  expect(JSON.stringify(error)).not.toMatch(/provider's words/);
});

test.each([
  ["html", "RESPONSE_INVALID"],
  ["malformed_json", "RESPONSE_INVALID"],
  ["redirect", "REDIRECT_REFUSED"],
  ["stack_trace", "PROVIDER_UNAVAILABLE"],
  ["echo_authorization", "CREDENTIALS_REJECTED"],
] as const)("an answer of the kind %s fails whatever is read", async (type, expected) => {
  await using at = await start();
  for (const name of names) {
    at.app.faults.inject({ type }, { times: 1_000, after: 1 });
    const failure = await at.run.read(name, { config: may }).catch((error: unknown) => error);
    if (failure instanceof ConnectorError || !["workspaces", "users"].includes(name))
      expect(failure).toEqual(code(expected));
    at.app.faults.clear();
  }
});

test.each(
  names,
)("a listing of %s in a shape that the API does not have is an error, not an empty one", async (name) => {
  await using at = await start();
  const path =
    name === "workspaces" || name === "users"
      ? "/team"
      : /\/(space|folder|list|task|field|comment|tag|goal|taskTemplate|time_entries)\b[^/]*(\?|$)/;
  at.app.faults.inject(
    { type: "status", status: 200, body: '{"unexpected":[]}' },
    { path, times: 1_000 },
  );
  await expect(at.run.read(name, { config: may })).rejects.toEqual(code("RESPONSE_INVALID"));
});

test.each([
  { type: "reset" },
  { type: "truncated" },
  { type: "stack_trace" },
] as const)("a passing %o costs no row", async (fault) => {
  await using at = await start({ pageSize: 5 });
  at.app.faults.inject(fault, { path: "/task", after: 2, times: 2 });
  expectTruth(at.app, "tasks", (await at.run.read("tasks")).rows);
});

test.each([
  true,
  false,
])("the rate limit is learned from the headers: no request is refused (Retry-After: %s)", async (sendsRetryAfter) => {
  const clock = createScaledClock(2_000);
  const rateLimit = { requests: 40, windowMs: 60_000 };
  await using app = await startTaskapp({
    rateLimit,
    sendsRetryAfter,
    clockNow: clock.now,
    tasks: 260,
  });
  await using run = createTaskappRun(app, { clock });
  const { rows } = await run.read("comments");
  expectTruth(app, "comments", rows);
  expect(app.requests.length).toBeGreaterThan(120);
  expect(app.requests.filter(({ status }) => status === 429).length).toBeLessThanOrEqual(1);
});

test("the token is nowhere in what leaves", async () => {
  await using at = await start();
  const secret = at.app.token;
  for (const name of ["tasks", "comments", "users"]) {
    const { text } = await at.run.read(name);
    expect(text).not.toContain(secret);
    expect(text).not.toContain(Buffer.from(secret).toString("base64").slice(0, 30));
  }
  at.app.faults.inject({ type: "echo_authorization" });
  const error = await at.run.check().catch((failure: unknown) => failure);
  expect(JSON.stringify(error)).not.toContain(secret);
});
