/**
 * The connector through one host: a crash at checkpoints, in its sandboxed worker and, of every
 * stream, in this process; a second run after changes, a token that is withdrawn.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ConnectorRun, Row } from "../../../fixtures/connector-run.ts";
import { createTaskappRun, keyed } from "../../../fixtures/taskapp/run.ts";
import { startTaskapp, type TaskappSimulator } from "../../../simulators/taskapp/taskapp.ts";
import type { Truth } from "../../../simulators/taskapp/truth.ts";
import { choose } from "../../../tests/effort.ts";
import { streams } from "./streams.ts";

let app: TaskappSimulator;
let run: ConnectorRun;
/** A run without a worker. */
let plain: ConnectorRun;
beforeAll(async () => {
  app = await startTaskapp({
    workspaces: 2,
    spacesPerWorkspace: 3,
    foldersPerSpace: 4,
    pageSize: 3,
    tasks: 120,
  });
  run = createTaskappRun(app, { sandbox: "process", keepWarm: 1 });
  plain = createTaskappRun(app);
});
afterAll(async () => {
  await run[Symbol.asyncDispose]();
  await plain[Symbol.asyncDispose]();
  await app.close();
});

const names = streams.map((stream) => stream.name as keyof Truth);
const ages = { start_date: "2024-01-01", end_date: "2026-08-01" };
const configOf = (name: string, fetch_strategy = "workspace") => ({
  fetch_strategy,
  include_archived: true,
  ...(name === "time_entries" ? ages : {}),
});

function expectTruth(name: keyof Truth, rows: readonly Row[]): void {
  const stream = streams.find((one) => one.name === name);
  if (!stream) throw new RangeError("no such stream");
  expect(keyed(stream, rows)).toEqual(keyed(stream, app.truth[name]({ archived: true })));
}

type Read = readonly [
  name: keyof Truth,
  syncMode: "full_refresh" | "incremental",
  strategy: "workspace" | "list",
];
const inWorker: Read = ["tasks", "incremental", "workspace"];
const incrementalReads: readonly Read[] = [
  inWorker,
  ["tasks", "incremental", "list"],
  ["task_custom_fields", "incremental", "workspace"],
  ["time_entries", "incremental", "workspace"],
];
const fullReads: readonly Read[] = [
  ...names.map((name): Read => [name, "full_refresh", "workspace"]),
  ["tasks", "full_refresh", "list"],
];
const reads = choose({
  quick: [inWorker],
  whole: [...fullReads, ...incrementalReads],
});

test.each(
  reads,
)("a crash at any checkpoint of reading %s (%s, by %s) loses nothing", async (...what) => {
  const [name, syncMode, strategy] = what;
  const reader = what.every((word, index) => word === inWorker[index]) ? run : plain;
  const read = { config: configOf(name, strategy), syncMode };
  const whole = await reader.read(name, read);
  expectTruth(name, whole.rows);
  const points = Math.min(whole.states.length + 1, 4);
  for (let point = 0; point < points; point++) {
    const crashed = await reader.read(name, {
      ...read,
      stopAfter: Math.round((point * whole.outputCount) / points),
    });
    const state = crashed.states.at(-1);
    const resumed = await reader.read(name, { ...read, ...(state === undefined ? {} : { state }) });
    expectTruth(name, [...crashed.coveredRows, ...resumed.rows]);
  }
});

test("a second run after changes brings the table to the account's truth, and a third brings nothing new", async () => {
  for (const [name, strategy] of [
    ["tasks", "workspace"],
    ["tasks", "list"],
    ["time_entries", "workspace"],
  ] as const) {
    const read = { config: configOf(name, strategy), syncMode: "incremental" } as const;
    const first = await run.read(name, read);
    const [task] = app.truth.tasks();
    const updatedAt = new Date(
      Date.parse(String(app.truth.tasks().at(-1)?.date_updated)) + 60_000,
    ).toISOString();
    app.mutate.updateTask(String(task?.id), { updatedAt, name: `Changed for ${name} ${strategy}` });
    app.mutate.addTask({ updatedAt });
    app.mutate.addTimeEntry({ startAt: updatedAt, member: 1 });
    const second = await run.read(name, { ...read, state: first.states.at(-1) ?? {} });
    expectTruth(name, [...first.rows, ...second.rows]);
    const third = await run.read(name, { ...read, state: second.states.at(-1) ?? {} });
    expect(third.states.at(-1)).toEqual(second.states.at(-1));
    expectTruth(name, [...first.rows, ...second.rows, ...third.rows]);
  }
});

test("a token that is withdrawn amid a read fails it with one request", async () => {
  const read = { config: configOf("tasks", "list"), syncMode: "incremental" } as const;
  await using other = await startTaskapp({ pageSize: 3, tasks: 120 });
  await using reader = createTaskappRun(other, { sandbox: "process", keepWarm: 1 });
  let answers = 0;
  other.observe(({ path }) => {
    if (path.endsWith("/task") && ++answers === 30) other.mutate.revokeToken();
  });
  const failure = await reader.read("tasks", read).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: "REAUTHORIZATION_NEEDED" });
  expect(other.requests.filter(({ status }) => status === 401)).toHaveLength(1);
  expect(JSON.stringify(failure)).not.toMatch(/Token invalid|SIMULATED/);
});
