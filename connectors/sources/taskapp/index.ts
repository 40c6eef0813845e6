import {
  bearer,
  ConnectorError,
  checkpoint,
  defineSource,
  http,
  perMinute,
  records,
  type Static,
  type SyncMode,
  Timestamp,
  Type,
} from "svc-connectors";
import {
  checkChosenPlaces,
  getRows,
  ifThere,
  keyOf,
  listWorkspaces,
  type Place,
  updatedMs,
} from "./api.ts";
import { listPlaces, type Range, readPlace, type Spot } from "./reading.ts";
import { authorization, type Config, spec, type TaskappContext } from "./spec.ts";
import { createRowMapper, describe, streams, type TaskappStream } from "./streams.ts";

/** Of each workspace, by its id. */
const moments = Type.Record(Type.String(), Timestamp());

/**
 * `cursors`: an earlier pass read everything of a workspace up to here; one that comes later is
 * read from its beginning. `pass`: one that is under way: what becomes the cursors at its end, the
 * moment up to which it reads, and the place it is in (those before it are done) with everything
 * there before `since`.
 */
const state = Type.Object(
  {
    cursors: Type.Optional(moments),
    pass: Type.Optional(
      Type.Object(
        {
          bounds: Type.Optional(moments),
          until: Type.Optional(Timestamp()),
          place: Type.String(),
          since: Type.Optional(Timestamp()),
          isArchived: Type.Optional(Type.Literal(true)),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
type Moments = Static<typeof moments>;
type State = Static<typeof state>;

/**
 * The provider's own codes: tokens that were revoked or never existed, and workspaces that a token
 * was not given.
 */
const lostAuthorizations = [
  "OAUTH_019",
  "OAUTH_021",
  "OAUTH_023",
  "OAUTH_025",
  "OAUTH_026",
  "OAUTH_027",
  "OAUTH_029",
  "OAUTH_030",
  "OAUTH_031",
  "OAUTH_032",
  "OAUTH_033",
  "OAUTH_034",
  "OAUTH_035",
  "OAUTH_036",
  "OAUTH_037",
  "OAUTH_038",
  "OAUTH_039",
  "OAUTH_040",
  "OAUTH_041",
  "OAUTH_042",
  "OAUTH_043",
  "OAUTH_044",
  "OAUTH_045",
  "OAUTH_077",
];

export default defineSource({
  id: "conn_taskapp",
  version: "1.0.0",
  title: "Task app",
  spec,
  egress: http({
    baseUrl: "https://api.clickup.com/api/v2",
    auth: bearer("access_token", { bareIfStartsWith: "pk_", authorization }),
    rateLimit: perMinute(100),
    errors: [
      { pointer: "/ECODE", equals: lostAuthorizations, code: "REAUTHORIZATION_NEEDED" },
      { pointer: "/ECODE", equals: ["OAUTH_017"], code: "CREDENTIALS_REJECTED" },
      { pointer: "/ECODE", equals: ["TIMEENTRY_059"], code: "PERMISSION_DENIED" },
      { pointer: "/ECODE", equals: ["APP_002"], code: "RATE_LIMITED" },
      { status: 200, pointer: "/ECODE", code: "REQUEST_REJECTED" },
    ],
  }),
  state,
  streams: streams.map(describe),
  async check(ctx) {
    const body = (await ctx.http.get(["user"])).json<{ user?: { id?: unknown } } | null>();
    if (body?.user?.id === undefined)
      throw new ConnectorError("RESPONSE_INVALID", { reason: "the user has no id" });
    await listWorkspaces(ctx);
    await checkChosenPlaces(ctx);
  },
  async *read(ctx, { name, syncMode }, saved) {
    const stream = streams.find((one) => one.name === name);
    if (!stream) throw new ConnectorError("STREAM_UNKNOWN", { stream: name });
    yield* readStream(ctx, stream, syncMode, saved ?? {});
  },
});

/** At 100 requests a minute a crash then costs some six seconds of reading. */
const stepsPerCheckpoint = 10;
const dayMs = 86_400_000;

async function* readStream(
  ctx: TaskappContext,
  stream: TaskappStream,
  syncMode: SyncMode,
  given: State,
) {
  const isIncremental = syncMode === "incremental";
  const places = await listPlaces(ctx, stream);
  const isTimeEntries = stream.name === "time_entries";
  const saved = withFittingPass(given, places);
  let bounds: Moments = saved.pass?.bounds ?? {};
  if (isIncremental && !isTimeEntries && !saved.pass) bounds = await newestUpdates(ctx);
  const until = saved.pass?.until ?? (isTimeEntries ? toText(endOf(ctx)) : undefined);

  const toRow = createRowMapper(stream);
  const resumeAt = saved.pass?.place;
  const remaining = places.filter((place) => resumeAt === undefined || keyOf(place) >= resumeAt);
  const stateAt = (place: Place, spot?: Spot): State => ({
    ...filled("cursors", saved.cursors),
    pass: {
      ...filled("bounds", bounds),
      ...(until ? { until } : {}),
      place: keyOf(place),
      ...(spot ? { since: toText(spot.sinceMs) } : {}),
      ...(spot?.isArchived ? { isArchived: true as const } : {}),
    },
  });
  let steps = 0;
  for (const [at, place] of remaining.entries()) {
    const { workspaceId } = place;
    const cursor = isIncremental ? saved.cursors?.[workspaceId] : undefined;
    const range = rangeOf(ctx, stream, cursor, until);
    const from = keyOf(place) === resumeAt ? spotOf(saved) : undefined;
    const reading = readPlace(ctx, stream, place, range, from);
    for (;;) {
      const step = await ifThere(ctx, place, () => reading.next());
      // undefined: the place was deleted since it was listed, and its rows with it
      if (step === undefined || step.done) break;
      const { rows, spot } = step.value;
      const mapped = rows.map(toRow);
      yield records(mapped);
      if (isTimeEntries) bounds = reached(bounds, workspaceId, mapped);
      if (++steps % stepsPerCheckpoint === 0 && spot) yield checkpoint<State>(stateAt(place, spot));
    }
    const following = remaining[at + 1];
    if (following && steps >= stepsPerCheckpoint) {
      steps = 0;
      yield checkpoint<State>(stateAt(following));
    }
  }
  if (!isIncremental) return; // the next full refresh starts anew
  yield checkpoint<State>(filled("cursors", cursorsOf(places, saved.cursors, bounds)));
}

/** Nothing where there is no moment. */
const filled = <Name extends string>(name: Name, given: Moments = {}) =>
  (Object.keys(given).length > 0 ? { [name]: given } : {}) as { [K in Name]?: Moments };

/** The bounds of time entries: the latest that was read of a workspace. */
function reached(
  bounds: Moments,
  workspaceId: string,
  rows: readonly Readonly<Record<string, unknown>>[],
): Moments {
  const latest = rows.reduce<string | undefined>(
    (newest, row) => later(newest, row.start),
    bounds[workspaceId],
  );
  return latest === undefined ? bounds : { ...bounds, [workspaceId]: latest };
}

/** Of the workspaces that are there. */
function cursorsOf(places: readonly Place[], cursors: Moments = {}, bounds: Moments): Moments {
  const ids = [...new Set(places.map(({ workspaceId }) => workspaceId))];
  return Object.fromEntries(
    ids.flatMap((id) => {
      const cursor = later(cursors[id], bounds[id]);
      return cursor === undefined ? [] : [[id, cursor] as const];
    }),
  );
}

/**
 * A pass through places of another kind (the fetch strategy was changed meanwhile) is begun anew:
 * its place says nothing here.
 */
function withFittingPass({ cursors, pass }: State, places: readonly Place[]): State {
  const isFitting =
    pass !== undefined && places.some(({ kind }) => pass.place.startsWith(`${kind}/`));
  return { ...filled("cursors", cursors), ...(isFitting ? { pass } : {}) };
}

/**
 * The next cursors of tasks: the latest update of each workspace before the pass begins. Whatever
 * happens from now on is later, however long the pass takes and wherever it is by then. Archived
 * tasks have no say.
 */
async function newestUpdates(ctx: TaskappContext): Promise<Moments> {
  const query = {
    order_by: "updated",
    subtasks: true,
    include_closed: true,
    archived: false,
    page: 0,
  };
  const endMs = dateOf(ctx.config, "end_date") ?? Number.POSITIVE_INFINITY;
  const newest: Record<string, string> = {};
  for (const { id } of await listWorkspaces(ctx)) {
    const times = (await getRows(ctx, ["team", id, "task"], "tasks", query)).map(updatedMs);
    if (times.length > 0) newest[id] = toText(Math.min(Math.max(...times), endMs));
  }
  return newest;
}

function rangeOf(
  ctx: TaskappContext,
  { name }: TaskappStream,
  cursor: string | undefined,
  until: string | undefined,
): Range {
  const isTimeEntries = name === "time_entries";
  const untilMs = until
    ? Date.parse(until)
    : (dateOf(ctx.config, "end_date") ?? Number.POSITIVE_INFINITY);
  const firstMs = dateOf(ctx.config, "start_date") ?? (isTimeEntries ? untilMs - 30 * dayMs : 0);
  if (cursor === undefined) return { fromMs: firstMs, untilMs };
  const sinceMs = Date.parse(cursor) - (isTimeEntries ? ctx.config.lookback_days * dayMs : 0);
  const isOpen = isTimeEntries && ctx.config.start_date === undefined;
  return { fromMs: isOpen ? sinceMs : Math.max(firstMs, sinceMs), untilMs };
}

const endOf = (ctx: TaskappContext) => dateOf(ctx.config, "end_date") ?? ctx.clock.now();

/** @throws CONFIG_INVALID for a day that no month has */
function dateOf(config: Config, field: "start_date" | "end_date"): number | undefined {
  const given = config[field];
  if (given === undefined) return undefined;
  const ms = Date.parse(given);
  if (Number.isNaN(ms))
    throw new ConnectorError("CONFIG_INVALID", { path: field, problem: "is not a date" });
  return ms;
}

function spotOf({ pass }: State): Spot | undefined {
  if (pass?.since === undefined) return undefined;
  return { sinceMs: Date.parse(pass.since), isArchived: pass.isArchived };
}

const toText = (ms: number) => new Date(ms).toISOString();

function later(one: string | undefined, other: unknown): string | undefined {
  if (typeof other !== "string" || Number.isNaN(Date.parse(other))) return one;
  return one === undefined || Date.parse(other) > Date.parse(one) ? other : one;
}
