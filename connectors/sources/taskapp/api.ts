import { ConnectorError, type PathSegment, pagesByCursor, type Query } from "svc-connectors";
import type { TaskappContext } from "./spec.ts";

export type ApiRow = Readonly<Record<string, unknown>>;

/** Ids come as text or as numbers. @throws RESPONSE_INVALID when there is none */
export function toId(value: unknown): string {
  if (
    (typeof value === "string" && value !== "") ||
    typeof value === "number" ||
    typeof value === "bigint"
  )
    return String(value);
  throw new ConnectorError("RESPONSE_INVALID", { reason: "a row lacks an id" });
}

/** Something that rows lie in, with its own row. */
export interface Place {
  readonly kind: "team" | "space" | "folder" | "list";
  readonly id: string;
  readonly workspaceId: string;
  readonly row: ApiRow;
}

/** Sizes of the provider's pages. */
const tasksPerPage = 100;
const commentsPerPage = 25;
/**
 * Requests begun ahead of the rows that are being written. As many as the host lets through at
 * once.
 */
const requestsAhead = 4;

/** @throws RESPONSE_INVALID when the answer has no such listing */
export async function getRows(
  ctx: TaskappContext,
  path: readonly PathSegment[],
  name: string,
  query: Query = {},
): Promise<readonly ApiRow[]> {
  return rowsOf((await ctx.http.get(path, { query })).json<ApiRow | null>(), name);
}

export function rowsOf(body: ApiRow | null, name: string): readonly ApiRow[] {
  const rows = body?.[name];
  const isListing =
    Array.isArray(rows) && rows.every((row) => typeof row === "object" && row !== null);
  if (!isListing)
    throw new ConnectorError("RESPONSE_INVALID", { reason: `a listing lacks its ${name}` });
  return rows as ApiRow[];
}

/**
 * The workspaces to read, in order of id, as all places below.
 * @throws ACCESS_MISSING when the token has none, or not all that were asked for
 */
export async function listWorkspaces(ctx: TaskappContext): Promise<Place[]> {
  const { workspace_ids: wanted } = ctx.config;
  const rows = await getRows(ctx, ["team"], "teams");
  const teams = rows.map((row) => placeOf("team", row, toId(row.id)));
  const chosen = teams.filter(({ id }) => isWanted(wanted, id));
  if (chosen.length === 0 || wanted.some((id) => !teams.some((team) => team.id === id))) {
    const reason =
      teams.length === 0
        ? "the token may read no workspace"
        : "the token may not read a workspace of workspace_ids";
    throw new ConnectorError("ACCESS_MISSING", { reason });
  }
  return chosen.sort(byKey);
}

/** Chosen places that `check` looks for at most, so that it takes a moment. */
const placesChecked = 8;

/** @throws RESOURCE_NOT_FOUND when a space, folder or list of the settings is not there */
export const checkChosenPlaces = (ctx: TaskappContext) =>
  requireAll(ctx, chosenPlaces(ctx).slice(0, placesChecked));

/** In which runs the chosen places were looked for, each of them once for all streams. */
const lookedFor = new WeakMap<TaskappContext, Promise<void>>();

/** @throws RESOURCE_NOT_FOUND when a space, folder or list of the settings is not there */
export function requireChosenPlaces(ctx: TaskappContext): Promise<void> {
  const underWay = lookedFor.get(ctx);
  if (underWay) return underWay;
  const found = requireAll(ctx, chosenPlaces(ctx));
  lookedFor.set(ctx, found);
  // Another stream may have more luck than one that met an outage.
  found.catch(() => lookedFor.delete(ctx));
  return found;
}

/** The first one of each kind, then the second … */
function chosenPlaces({ config: { space_ids, folder_ids, list_ids } }: TaskappContext) {
  return Object.entries({ space: space_ids, folder: folder_ids, list: list_ids })
    .flatMap(([kind, ids]) => ids.map((id, at) => ({ kind, id, at })))
    .sort((one, other) => one.at - other.at);
}

async function requireAll(ctx: TaskappContext, places: ReturnType<typeof chosenPlaces>) {
  const ask = ({ kind, id }: { kind: string; id: string }) =>
    ctx.http.get([kind, id], { accept: [404, 410] });
  for await (const { item, value } of inOrder(places, ask)) {
    if (value.status >= 400)
      throw new ConnectorError("RESOURCE_NOT_FOUND", {
        reason: `a ${item.kind} of ${item.kind}_ids is not there`,
      });
  }
}

export const listSpaces = (ctx: TaskappContext) =>
  below(ctx, listWorkspaces(ctx), "space", ctx.config.space_ids);

/** The places in which lists lie: folders, and unless folders were chosen, spaces. */
export async function listListParents(ctx: TaskappContext): Promise<Place[]> {
  const spaces = await listSpaces(ctx);
  const folders = await below(ctx, spaces, "folder", ctx.config.folder_ids);
  return [...folders, ...(ctx.config.folder_ids.length === 0 ? spaces : [])].sort(byKey);
}

export const listLists = (ctx: TaskappContext) =>
  below(ctx, listListParents(ctx), "list", ctx.config.list_ids);

async function below(
  ctx: TaskappContext,
  parents: readonly Place[] | Promise<readonly Place[]>,
  kind: "space" | "folder" | "list",
  wanted: readonly string[],
): Promise<Place[]> {
  const found: Place[] = [];
  for await (const { item, value } of inOrder(await parents, (parent) =>
    ifThere(ctx, parent, () => children(ctx, parent, kind)),
  )) {
    for (const row of value ?? []) found.push(placeOf(kind, row, item.workspaceId));
  }
  return found.filter(({ id }) => isWanted(wanted, id)).sort(byKey);
}

/** Rows of a place's spaces, folders or lists; archived ones come by a request of their own. */
export async function children(
  ctx: TaskappContext,
  parent: Place,
  kind: "space" | "folder" | "list",
): Promise<ApiRow[]> {
  const rows: ApiRow[] = [];
  for (const archived of ctx.config.include_archived ? [false, true] : [false]) {
    rows.push(...(await getRows(ctx, [parent.kind, parent.id, kind], `${kind}s`, { archived })));
  }
  return rows;
}

export const isWanted = (wanted: readonly string[], id: string) =>
  wanted.length === 0 || wanted.includes(id);

const placeOf = (kind: Place["kind"], row: ApiRow, workspaceId: string): Place => ({
  kind,
  id: toId(row.id),
  workspaceId,
  row,
});

/**
 * Orders places of one listing for good: "those before x are done" stays true whatever comes and
 * goes.
 */
export const keyOf = ({ kind, id }: Pick<Place, "kind" | "id">) => `${kind}/${id}`;
const byKey = (one: Place, other: Place) => (keyOf(one) < keyOf(other) ? -1 : 1);

/**
 * The result of `ask`, or undefined when it fails because the thing itself was deleted since it was
 * listed.
 */
export async function ifThere<T>(
  ctx: TaskappContext,
  thing: { kind: string; id: string },
  ask: () => Promise<T>,
) {
  try {
    return await ask();
  } catch (error) {
    if (
      !(error instanceof ConnectorError && error.code === "RESOURCE_NOT_FOUND") ||
      thing.kind === "team"
    )
      throw error;
    const answer = await ctx.http.get([thing.kind, thing.id], { accept: [404, 410] });
    if (answer.status < 400) throw error;
    return undefined;
  }
}

/** Results in the order of the items, some requests ahead of the one that is waited for. */
export async function* inOrder<Item, T>(items: readonly Item[], ask: (item: Item) => Promise<T>) {
  const begin = (item: Item) =>
    ask(item).then(
      (value) => ({ item, value }),
      (error: unknown) => ({ item, error }),
    );
  const ahead = items.slice(0, requestsAhead).map(begin);
  for (let next = requestsAhead; ; next++) {
    const settled = await ahead.shift();
    if (settled === undefined) return;
    if ("error" in settled) throw settled.error;
    const following = items[next];
    if (following !== undefined) ahead.push(begin(following));
    yield settled;
  }
}

/** Part of a walk through the tasks of a place, oldest update first. */
export interface TaskStep {
  readonly tasks: readonly ApiRow[];
  /** All tasks updated before this moment (ms) have been given, those of this step included. */
  readonly doneMs: number;
  /** Once this task of the step has been dealt with, all updated before this moment have been. */
  doneAfter(task: ApiRow): number;
}

/**
 * An honest server has no empty page but the last; after so many in a row there is no end to be
 * hoped for.
 */
const maxIdlePages = 100;

/**
 * Tasks of a place updated at `sinceMs` or later. Each request asks for what was updated since the
 * last task of the page before, not for the next page number: tasks that are edited meanwhile move
 * to the end, and would drag others onto pages already read. Page numbers serve only where more
 * than a page was updated in one millisecond, or where the server does not keep the order; such a
 * stretch is read again until nothing new turns up.
 */
export async function* walkTasks(
  ctx: TaskappContext,
  path: readonly PathSegment[],
  query: Query,
  sinceMs: number,
): AsyncGenerator<TaskStep> {
  let since = sinceMs;
  let isSorted = true;
  let round = 0;
  let isRepeat = false;
  let mustRepeat = false;
  let lastUseful = 0;
  let seen = new Map<string, number>();

  const fetchPage = async (token = `${since} 0 0`) => {
    const page = Number(token.split(" ")[1]);
    // Servers take "greater than" as "at or after"; asking for a millisecond earlier is right
    // either way.
    const from = since > 0 ? { date_updated_gt: since - 1 } : {};
    const response = await ctx.http.get(path, {
      query: { ...query, ...from, order_by: "updated", reverse: true, page },
    });
    const body = response.json<ApiRow | null>();
    const tasks = rowsOf(body, "tasks");
    const isLast =
      typeof body?.last_page === "boolean" ? body.last_page : tasks.length < tasksPerPage;
    return take(tasks, isLast, page);
  };

  const take = (tasks: readonly ApiRow[], isLast: boolean, page: number) => {
    const times = tasks.map(updatedMs);
    isSorted &&= times.every((ms, at) => at === 0 || ms >= (times[at - 1] ?? 0));
    const fresh = tasks.filter(
      (task, at) => (times[at] ?? 0) >= since && seen.get(toId(task.id)) !== times[at],
    );
    for (const task of fresh) seen.set(toId(task.id), updatedMs(task));
    const last = times.at(-1) ?? since;
    const isPast = isLast || (isSorted && last > since);
    mustRepeat ||=
      (page > 0 || isRepeat) && fresh.some((task) => !isSorted || updatedMs(task) === since);
    if (fresh.length > 0) lastUseful = Math.max(lastUseful, page);
    if (page > lastUseful + maxIdlePages) throw new ConnectorError("PAGING_LOOP");

    const doneBefore = since;
    const isDone = isPast && !mustRepeat;
    if (isDone && isSorted) {
      since = Math.max(since, last);
      seen = new Map([...seen].filter(([, ms]) => ms >= since));
      lastUseful = 0;
    }
    if (isPast) {
      round++;
      isRepeat = mustRepeat;
      mustRepeat = false;
    }
    const next = isDone && isLast ? undefined : `${since} ${isPast ? 0 : page + 1} ${round}`;
    const doneAfter = (task: ApiRow) => (isDone && isSorted ? updatedMs(task) : doneBefore);
    return { tasks: fresh, doneMs: since, doneAfter, next };
  };

  yield* pagesByCursor(fetchPage, (step) => step.next);
}

/** @throws RESPONSE_INVALID */
export function updatedMs({ date_updated }: ApiRow): number {
  const ms = Number(date_updated);
  if (date_updated === null || !Number.isSafeInteger(ms)) {
    throw new ConnectorError("RESPONSE_INVALID", {
      reason: "a task does not say when it was updated",
    });
  }
  return ms;
}

/**
 * Comments of a task or list, newest first. Each page is asked for by the last comment of the one
 * before.
 */
export async function listComments(
  ctx: TaskappContext,
  path: readonly PathSegment[],
): Promise<ApiRow[]> {
  const comments = new Map<unknown, ApiRow>();
  const fetchPage = (last?: string) => {
    const [start, start_id] = last === undefined ? [] : (JSON.parse(last) as [string, string]);
    return getRows(ctx, path, "comments", { start, start_id });
  };
  const next = (page: readonly ApiRow[]) => {
    const last = page.at(-1);
    return last === undefined || page.length < commentsPerPage
      ? undefined
      : JSON.stringify([last.date, last.id]);
  };
  for await (const page of pagesByCursor(fetchPage, next))
    for (const row of page) comments.set(row.id, row);
  return [...comments.values()];
}

/**
 * Numbered pages that end with one that has nothing new: the API says neither how many there are
 * nor how long they are.
 */
export async function listTemplates(ctx: TaskappContext, { id }: Place): Promise<ApiRow[]> {
  const templates = new Map<unknown, ApiRow>();
  for (let page = 0, before = -1; templates.size > before; page++) {
    before = templates.size;
    for (const row of await getRows(ctx, ["team", id, "taskTemplate"], "templates", { page }))
      templates.set(row.id, row);
  }
  return [...templates.values()];
}
