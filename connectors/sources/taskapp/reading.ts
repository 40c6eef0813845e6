/**
 * How each stream's rows are fetched from one place: its rows as the API gave them, completed by
 * what the place says.
 */
import { ConnectorError } from "svc-connectors";
import {
  type ApiRow,
  children,
  getRows,
  ifThere,
  inOrder,
  isWanted,
  listComments,
  listListParents,
  listLists,
  listSpaces,
  listTemplates,
  listWorkspaces,
  type Place,
  requireChosenPlaces,
  rowsOf,
  toId,
  walkTasks,
} from "./api.ts";
import type { TaskappContext } from "./spec.ts";
import type { TaskappStream } from "./streams.ts";

/** Where in a place a read stands. */
export interface Spot {
  /** Everything before this moment (ms) has been read; of the archived tasks where `isArchived`. */
  readonly sinceMs: number;
  readonly isArchived?: boolean | undefined;
}

/** The options of a read besides the place. */
export interface Range {
  /** Rows before this moment (ms) are not wanted. */
  readonly fromMs: number;
  /** Nor are rows from this moment on. */
  readonly untilMs: number;
}

/** Rows, and the spot behind them if a later read may start there. */
export interface Step {
  readonly rows: readonly ApiRow[];
  readonly spot?: Spot;
}

const monthMs = 30 * 86_400_000;
/** People per request for time entries: their ids travel in the query. */
const assigneesPerRequest = 100;
/** The most tasks that one request for time in status may name. */
const tasksPerBulk = 100;
/** Tasks between two spots when each of them costs a request. */
const tasksPerStep = 10;

/**
 * The places below which the stream's rows lie, in an order that stays.
 * @throws RESOURCE_NOT_FOUND when a chosen one is not there: its rows would be missing in silence
 */
export async function listPlaces(
  ctx: TaskappContext,
  { name, source }: TaskappStream,
): Promise<Place[]> {
  if (source === "workspace" && name !== "spaces") return await listWorkspaces(ctx);
  await requireChosenPlaces(ctx);
  if (source === "space") return await listSpaces(ctx);
  if (source === "lists-of") return await listListParents(ctx);
  if (source === "list") return await listLists(ctx);
  if (source === "tasks" && ctx.config.fetch_strategy === "list") return await listLists(ctx);
  return await listWorkspaces(ctx);
}

export async function* readPlace(
  ctx: TaskappContext,
  { name }: TaskappStream,
  place: Place,
  range: Range,
  from?: Spot,
): AsyncGenerator<Step> {
  const { id, workspaceId, row } = place;
  const workspace = { workspace_id: workspaceId };
  const { space_ids, folder_ids, list_ids } = ctx.config;
  switch (name) {
    case "workspaces":
      return yield { rows: [row] };
    case "users":
      return yield {
        rows: rowsOf(row, "members").map((member) => ({ ...toUser(member), ...workspace })),
      };
    case "spaces":
      return yield {
        rows: chosen(await children(ctx, place, "space"), space_ids).map((one) => ({
          ...one,
          ...workspace,
        })),
      };
    case "folders":
      return yield {
        rows: chosen(await children(ctx, place, "folder"), folder_ids).map((one) => ({
          ...one,
          ...workspace,
          space_id: id,
        })),
      };
    case "lists":
      return yield {
        rows: chosen(await children(ctx, place, "list"), list_ids).map((one) => toList(one, place)),
      };
    case "custom_fields":
      return yield {
        rows: (await getRows(ctx, ["list", id, "field"], "fields")).map((one) => ({
          ...one,
          list_id: id,
        })),
      };
    case "list_comments":
      return yield {
        rows: (await listComments(ctx, ["list", id, "comment"])).map((one) => ({
          ...toComment(one),
          list_id: id,
        })),
      };
    case "tags":
      return yield {
        rows: (await getRows(ctx, ["space", id, "tag"], "tags")).map((one) => ({
          ...one,
          space_id: id,
        })),
      };
    case "templates":
      return yield {
        rows: (await listTemplates(ctx, place)).map((one) => ({ ...one, ...workspace })),
      };
    case "goals":
      return yield { rows: (await listGoals(ctx, id)).map((one) => ({ ...one, ...workspace })) };
    case "time_entries":
      return yield* readTimeEntries(ctx, place, range, from);
    case "tasks":
    case "task_custom_fields":
    case "comments":
    case "time_in_status":
      return yield* readTasks(ctx, name, place, range, from);
    default:
      throw new ConnectorError("STREAM_UNKNOWN", { stream: name });
  }
}

const chosen = (rows: readonly ApiRow[], wanted: readonly string[]) =>
  rows.filter((row) => isWanted(wanted, toId(row.id)));

/**
 * Tasks of a place and then, if asked for, its archived ones. Rows made from a task come with its
 * step.
 */
async function* readTasks(
  ctx: TaskappContext,
  name: string,
  place: Place,
  range: Range,
  from?: Spot,
): AsyncGenerator<Step> {
  const { include_archived } = ctx.config;
  for (const isArchived of include_archived ? [false, true] : [false]) {
    if (from?.isArchived && !isArchived) continue;
    const sinceMs = from && (from.isArchived ?? false) === isArchived ? from.sinceMs : range.fromMs;
    const query = taskQuery(ctx, place, isArchived, range);
    for await (const step of walkTasks(ctx, [place.kind, place.id, "task"], query, sinceMs)) {
      const tasks = step.tasks.filter((task) => Number(task.date_updated) < range.untilMs);
      const spotAt = (ms: number) => ({ sinceMs: ms, isArchived });
      const batches = name === "comments" ? inBatches(tasks, tasksPerStep) : [tasks];
      for (const batch of batches) {
        const last = batch.at(-1);
        const doneMs = batch.length < tasks.length && last ? step.doneAfter(last) : step.doneMs;
        yield { rows: await rowsOfTasks(ctx, name, batch), spot: spotAt(doneMs) };
      }
    }
  }
}

function taskQuery(ctx: TaskappContext, place: Place, isArchived: boolean, { untilMs }: Range) {
  const { include_closed, include_subtasks, assignee_ids, space_ids, folder_ids, list_ids } =
    ctx.config;
  const ofWorkspace = {
    "space_ids[]": space_ids,
    "project_ids[]": folder_ids,
    "list_ids[]": list_ids,
  };
  return {
    ...(place.kind === "team" ? ofWorkspace : {}),
    "assignees[]": assignee_ids,
    subtasks: include_subtasks,
    include_closed,
    archived: isArchived,
    date_updated_lt: Number.isFinite(untilMs) ? untilMs : undefined,
  };
}

async function rowsOfTasks(
  ctx: TaskappContext,
  name: string,
  tasks: readonly ApiRow[],
): Promise<ApiRow[]> {
  if (name === "tasks") return tasks.map(toTask);
  if (name === "task_custom_fields") return tasks.flatMap(toFieldValues);
  const rows: ApiRow[] = [];
  if (name === "time_in_status") {
    for (const batch of inBatches(tasks, tasksPerBulk))
      rows.push(...(await listTimesInStatus(ctx, batch)));
    return rows;
  }
  const ask = ({ id }: ApiRow) =>
    ifThere(ctx, toThing(id), () => listComments(ctx, ["task", toId(id), "comment"]));
  for await (const { item, value } of inOrder(tasks, ask)) {
    for (const comment of value ?? []) rows.push({ ...toComment(comment), task_id: item.id });
  }
  return rows;
}

const toThing = (id: unknown) => ({ kind: "task", id: toId(id) });

/** Many tasks at once; one alone, and one that is missing in the answer, is asked for by itself. */
async function listTimesInStatus(ctx: TaskappContext, tasks: readonly ApiRow[]): Promise<ApiRow[]> {
  const ids = tasks.map(({ id }) => toId(id));
  const bulk = ["task", "bulk_time_in_status", "task_ids"];
  const found =
    ids.length < 2
      ? {}
      : (await ctx.http.get(bulk, { query: { task_ids: ids } })).json<Record<
          string,
          ApiRow | undefined
        > | null>();
  const rows: ApiRow[] = [];
  for (const id of ids) {
    const alone = () => ctx.http.get(["task", id, "time_in_status"]);
    const times = found?.[id] ?? (await ifThere(ctx, toThing(id), alone))?.json<ApiRow | null>();
    if (times === undefined) continue;
    if (typeof times?.current_status !== "object" || times.current_status === null)
      throw new ConnectorError("RESPONSE_INVALID", {
        reason: "a task's times lack the current status",
      });
    if (!Array.isArray(times.status_history))
      throw new ConnectorError("RESPONSE_INVALID", {
        reason: "a task's times lack the statuses before",
      });
    const current = times.current_status as ApiRow;
    const total = (current.total_time ?? {}) as ApiRow;
    rows.push({
      task_id: id,
      current_status: current.status,
      current_status_minutes: total.by_minute,
      current_status_since: total.since,
      status_history: times.status_history,
    });
  }
  return rows;
}

/**
 * Month by month, because the API gives a range as a whole. Without assignees it would give only
 * the token's own person's.
 */
async function* readTimeEntries(
  ctx: TaskappContext,
  { id, workspaceId, row }: Place,
  { fromMs, untilMs }: Range,
  from?: Spot,
): AsyncGenerator<Step> {
  const members = rowsOf(row, "members").map((member) =>
    toId((member.user as ApiRow | undefined)?.id),
  );
  const assignees = ctx.config.assignee_ids.length > 0 ? ctx.config.assignee_ids : members;
  for (let startMs = from?.sinceMs ?? fromMs; startMs < untilMs; startMs += monthMs) {
    const endMs = Math.min(startMs + monthMs, untilMs);
    const rows: ApiRow[] = [];
    for (const people of inBatches(assignees, assigneesPerRequest)) {
      const query = {
        start_date: startMs,
        end_date: endMs,
        assignee: people.join(","),
        include_task_tags: true,
      };
      for (const entry of await getRows(ctx, ["team", id, "time_entries"], "data", query)) {
        const entryMs = Number(entry.start ?? Number.NaN);
        // One whose start cannot be read is of no window, and is not left out of all of them.
        if (!(entryMs < startMs || entryMs >= endMs)) rows.push(toTimeEntry(entry, workspaceId));
      }
    }
    yield { rows, spot: { sinceMs: endMs } };
  }
}

async function listGoals(ctx: TaskappContext, teamId: string): Promise<ApiRow[]> {
  const body = (
    await ctx.http.get(["team", teamId, "goal"], { query: { include_completed: true } })
  ).json<ApiRow | null>();
  const folders = body?.folders === undefined ? [] : rowsOf(body, "folders");
  const goals = [...rowsOf(body, "goals"), ...folders.flatMap((folder) => rowsOf(folder, "goals"))];
  return [...new Map(goals.map((goal) => [goal.id, goal])).values()];
}

function inBatches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  );
}

/** The id of a nested object; null where there is none. */
const idOf = (nested: unknown) =>
  typeof nested === "object" && nested !== null ? (nested as ApiRow).id : null;

const toUser = ({ user, invited_by }: ApiRow): ApiRow => ({
  ...(user as ApiRow),
  invited_by_id: idOf(invited_by),
});
const toComment = (comment: ApiRow): ApiRow => ({ ...comment, user_id: idOf(comment.user) });

const toList = (list: ApiRow, parent: Place): ApiRow => ({
  ...list,
  workspace_id: parent.workspaceId,
  space_id: idOf(list.space) ?? (parent.kind === "space" ? parent.id : null),
  folder_id: parent.kind === "folder" ? parent.id : null,
});

const toTask = (task: ApiRow): ApiRow => ({
  ...task,
  creator_id: idOf(task.creator),
  assignee_ids: Array.isArray(task.assignees)
    ? task.assignees.map((person) => String(idOf(person)))
    : null,
  workspace_id: task.team_id,
  space_id: idOf(task.space),
  folder_id: idOf(task.folder),
  list_id: idOf(task.list),
});

const toFieldValues = (task: ApiRow): ApiRow[] =>
  (Array.isArray(task.custom_fields) ? (task.custom_fields as ApiRow[]) : [])
    .filter(({ value }) => value !== undefined && value !== null)
    .map((field) => ({
      ...field,
      task_id: task.id,
      task_date_updated: task.date_updated,
      list_id: idOf(task.list),
      workspace_id: task.team_id,
    }));

/** An entry without a task has "0" in its place. */
const toTimeEntry = (entry: ApiRow, workspaceId: string): ApiRow => ({
  ...entry,
  workspace_id: workspaceId,
  task: idOf(entry.task) === null ? null : entry.task,
  task_id: idOf(entry.task),
  user_id: idOf(entry.user),
});
