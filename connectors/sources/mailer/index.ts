import {
  approvedUrl,
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
  type ApiRow,
  exists,
  later,
  listPages,
  listParents,
  newest,
  type Page,
  toPage,
} from "./api.ts";
import { type Config, type MailerContext, spec } from "./spec.ts";
import { createRowMapper, describe, isIncremental, type MailerStream, streams } from "./streams.ts";

/**
 * `cursor`: an earlier pass read everything up to here. `pass`: one that is under way: what becomes
 * the cursor at its end, and the next page (below the parents in order of uuid: those before
 * `parent` are done).
 */
const state = Type.Object(
  {
    cursor: Type.Optional(Timestamp()),
    pass: Type.Optional(
      Type.Object(
        {
          bound: Type.Optional(Timestamp()),
          parent: Type.Optional(Type.String()),
          page: Type.Integer({ minimum: 1 }),
          total: Type.Integer({ minimum: 0 }),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
type State = Static<typeof state>;

export default defineSource({
  id: "conn_mailer_product_edm",
  version: "1.0.0",
  title: "Mailer",
  spec,
  egress: http({
    baseUrl: approvedUrl("base_url", { pathEnd: "/api", approvedHosts: ["*.mailcoach.app"] }),
    auth: bearer("api_token"),
    rateLimit: perMinute(60),
  }),
  state,
  async *discover(ctx) {
    for (const stream of streams) yield describe(stream, ctx.config);
  },
  async check(ctx) {
    const user = (await ctx.http.get(["user"])).json<{ data?: { id?: unknown } } | null>();
    if (user?.data?.id === undefined)
      throw new ConnectorError("RESPONSE_INVALID", { reason: "the user has no id" });
    const lists = await ctx.http
      .get(["email-lists"], { query: { per_page: 1 } })
      .catch(toMissingRight);
    toPage(lists, 1);
  },
  async *read(ctx, { name, syncMode }, saved) {
    const stream = streams.find((one) => one.name === name);
    if (!stream) throw new ConnectorError("STREAM_UNKNOWN", { stream: name });
    if (syncMode === "incremental" && !isIncremental(stream, ctx.config)) {
      throw new ConnectorError("SYNC_MODE_UNSUPPORTED", {
        stream: name,
        syncMode,
        problem: "campaign_status is not sent",
      });
    }
    yield* readStream(ctx, stream, syncMode, saved ?? {});
  },
});

/** At 60 requests a minute a crash then costs ten seconds of reading. */
const pagesPerCheckpoint = 10;
const dayMs = 86_400_000;

/** One pass over a stream: a single listing, or one below each parent. */
interface Pass {
  readonly syncMode: SyncMode;
  readonly saved: State;
  /** Rows before this moment (ms) were read by an earlier pass. */
  readonly sinceMs: number;
  /**
   * The next pass's cursor, captured before the first row is read: pages come newest first, and a
   * row that arrives on a page already read is left to the next pass. It counts only once this pass
   * has ended.
   */
  bound: string | undefined;
  /** When the pass began: a row that is dated ahead of time moves no cursor there. */
  readonly nowMs: number;
  pageCount: number;
}

async function* readStream(
  ctx: MailerContext,
  stream: MailerStream,
  syncMode: SyncMode,
  saved: State,
) {
  const parents = stream.parent ? await listParents(ctx, stream.parent) : undefined;
  const isIncremental = syncMode === "incremental";
  const cursorMs =
    isIncremental && saved.cursor ? Date.parse(saved.cursor) : Number.NEGATIVE_INFINITY;
  const sinceMs = cursorMs - ctx.config.lookback_days * dayMs;
  const nowMs = ctx.clock.now();
  const pass: Pass = {
    syncMode,
    saved,
    sinceMs,
    bound: saved.pass?.bound ?? notAfter(parents?.newest, nowMs),
    nowMs,
    pageCount: 0,
  };

  const resumeAt = saved.pass?.parent;
  const remaining = parents?.uuids.filter((uuid) => resumeAt === undefined || uuid >= resumeAt);
  for (const parent of remaining ?? [undefined]) {
    const path =
      parent === undefined ? [stream.route] : [stream.parent ?? "", parent, stream.route];
    try {
      yield* readListing(ctx, stream, path, parent, pass);
    } catch (error) {
      const missing = await findMissing(ctx, stream, path, pass, error);
      if (missing === "parent") continue; // deleted since it was listed, and its rows with it
      ctx.log.warn("This server has no such route: the stream is unavailable and left empty.", {
        stream: stream.name,
      });
      break;
    }
  }
  if (syncMode === "full_refresh") return; // the next full refresh starts anew
  const cursor = later(saved.cursor, pass.bound);
  yield checkpoint<State>(cursor ? { cursor } : {});
}

async function* readListing(
  ctx: MailerContext,
  stream: MailerStream,
  path: string[],
  parent: string | undefined,
  pass: Pass,
) {
  const { saved, syncMode, sinceMs } = pass;
  const { primaryKey, cursorField = "" } = stream;
  const toRow = createRowMapper(stream, ctx.config);
  const isOld = (row: ApiRow) => Date.parse(String(row[cursorField])) < sinceMs;
  const isLast = (page: Page) => page.rows.length > 0 && page.rows.every(isOld);
  // A campaign that is still being sent has no date yet: an incremental read gets it once it has.
  const isWanted = (row: ApiRow) =>
    syncMode === "full_refresh" || (row[cursorField] !== null && !isOld(row));
  const from = parent === saved.pass?.parent ? saved.pass : undefined;

  let previousKeys = new Set<string>();
  for await (const page of listPages(ctx, path, {
    query: queryOf(stream, ctx.config),
    from,
    isLast,
  })) {
    pass.bound ??= notAfter(newest(page.rows, [cursorField]), pass.nowMs);
    const rows = page.rows.filter(isWanted).map((row) => toRow(row, parent));
    const keys = rows.map((row) => primaryKey.map((field) => row[field]).join("\n"));
    // A row that was inserted meanwhile has pushed the last one of a page onto the next.
    yield records(rows.filter((_, index) => !previousKeys.has(keys[index] ?? "")));
    previousKeys = new Set(keys);
    if (++pass.pageCount % pagesPerCheckpoint > 0) continue;
    const place = { page: page.number + 1, total: page.total, ...(parent ? { parent } : {}) };
    yield checkpoint<State>({
      ...saved,
      pass: { ...place, ...(pass.bound ? { bound: pass.bound } : {}) },
    });
  }
}

const notAfter = (moment: string | undefined, nowMs: number): string | undefined =>
  moment !== undefined && Date.parse(moment) > nowMs ? new Date(nowMs).toISOString() : moment;

function queryOf(stream: MailerStream, { campaign_status }: Config) {
  if (stream.name !== "campaigns") return {};
  return {
    sort: "-sent",
    "filter[status]": campaign_status === "all" ? undefined : campaign_status,
  };
}

/** Whom the provider lets in without the right to read has a token for sending. */
function toMissingRight(error: unknown): never {
  if (error instanceof ConnectorError && error.code === "PERMISSION_DENIED")
    throw new ConnectorError("PERMISSION_DENIED", { reason: "the token may only send" });
  throw error;
}

/**
 * Says which thing a lasting 404 below a parent misses. Every other failure is thrown on: less data
 * must not look like success.
 */
async function findMissing(
  ctx: MailerContext,
  stream: MailerStream,
  path: string[],
  pass: Pass,
  error: unknown,
) {
  if (!(error instanceof ConnectorError && error.code === "RESOURCE_NOT_FOUND" && stream.parent))
    throw error;
  if (!(await exists(ctx, path.slice(0, 2)))) return "parent";
  if (stream.mayBeMissing && pass.pageCount === 0 && !(await exists(ctx, path))) return "route";
  throw error;
}
