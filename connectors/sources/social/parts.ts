/** The parts that a stream is read by (brands, networks of a brand, channels) and their pages. */
import { ConnectorError } from "svc-connectors";
import { selectedAccount } from "./account.ts";
import {
  type ApiRow,
  type Brand,
  type Channel,
  findPost,
  listActivities,
  listByOffset,
  listPosts,
  listReport,
  toId,
} from "./api.ts";
import { dayIn, isTimeZone, shiftDay } from "./days.ts";
import type { SocialContext } from "./spec.ts";
import type { StreamName } from "./streams.ts";

export interface Part {
  /**
   * Parts are read in this order, which new ones do not disturb: "those before x are done" stays
   * true.
   */
  readonly key: string;
  readonly brand: Brand;
  readonly channels: readonly Channel[];
}

export interface PartPage {
  readonly rows: readonly ApiRow[];
  /** Where the part goes on; undefined when nothing follows, or when it can only start over. */
  readonly after?: string | undefined;
  /** The latest cursor value that was seen. */
  readonly reached?: string | undefined;
}

/** One pass over a stream. */
export interface Pass {
  readonly stream: StreamName;
  /** The saved cursor of a channel; undefined = from the beginning. */
  cursorOf(channel: Channel): string | undefined;
  /** When this run began. */
  readonly nowMs: number;
  /** Posts that were asked for, and those that were gone by then. */
  readonly asked: { foundCount: number; goneCount: number; readonly posts: Set<string> };
}

const dayMs = 86_400_000;

/** @throws as {@link selectedAccount} */
export async function listParts(ctx: SocialContext, stream: StreamName): Promise<Part[]> {
  const account = await selectedAccount(ctx);
  const parts = account.flatMap(({ brand, channels }): Part[] => {
    const { brand_id } = brand;
    if (stream === "scheduled_posts" || stream === "drafts")
      return [{ key: brand_id, brand, channels }];
    if (stream === "channel_metrics_daily")
      return channels.map((channel) => ({
        key: `${brand_id} ${channel.channel_id}`,
        brand,
        channels: [channel],
      }));
    const networks = Map.groupBy(channels, ({ network }) => network);
    return [...networks].map(([network, ofNetwork]) => ({
      key: `${brand_id} ${network}`,
      brand,
      channels: ofNetwork,
    }));
  });
  return parts.sort((one, other) => (one.key < other.key ? -1 : 1));
}

export function readPart(
  ctx: SocialContext,
  pass: Pass,
  part: Part,
  after: string | undefined,
): AsyncIterable<PartPage> {
  if (pass.stream === "scheduled_posts") return readPlanned(ctx, part, "scheduled");
  if (pass.stream === "drafts") return readPlanned(ctx, part, "drafts");
  if (pass.stream === "channel_metrics_daily") return readReport(ctx, pass, part, after);
  if (pass.stream === "post_metrics") return readMetrics(ctx, pass, part, after);
  if (pass.stream === "post_activities") return readActivities(ctx, pass, part, after);
  return readPosts(ctx, pass, part, after);
}

const placeOf = ({ brand: { portal_id, brand_id } }: Part) => ({ portal_id, brand_id });

/** Posts of the part's channels that are not older than what was read before, less the lookback. */
async function* readPosts(
  ctx: SocialContext,
  pass: Pass,
  part: Part,
  after: string | undefined,
): AsyncGenerator<PartPage> {
  const { config } = ctx;
  const lookbackDays =
    pass.stream === "post_metrics" ? config.post_metrics_lookback_days : config.posts_lookback_days;
  const startMs =
    config.start_date === undefined ? Number.NEGATIVE_INFINITY : Date.parse(config.start_date);
  const sinceMs = new Map(
    part.channels.map((channel) => {
      const cursor = pass.cursorOf(channel);
      const ms =
        cursor === undefined
          ? startMs
          : Math.max(startMs, Date.parse(cursor) - lookbackDays * dayMs);
      return [channel.channel_id, ms] as const;
    }),
  );
  const earliestMs = Math.min(...sinceMs.values());
  const isOld = (row: ApiRow, ms: number | undefined) =>
    ms === undefined || Date.parse(String(row.published_time)) < ms;
  const isLast = (rows: readonly ApiRow[]) => rows.every((row) => isOld(row, earliestMs));
  const network = part.channels[0]?.network ?? "";
  for await (const page of listPosts(ctx, placeOf(part), network, { after, isLast })) {
    const rows = page.rows.filter((row) => !isOld(row, sinceMs.get(toId(row.channel_id))));
    const reached = notAfter(latest(page.rows, "published_time"), pass.nowMs);
    yield { rows, after: page.after, reached };
  }
}

/**
 * Posts come a page at a time, and so do their details; the host limits how many are asked for at
 * once.
 */
async function* readMetrics(
  ctx: SocialContext,
  pass: Pass,
  part: Part,
  after: string | undefined,
): AsyncGenerator<PartPage> {
  const captured_at = new Date(pass.nowMs).toISOString();
  for await (const page of readPosts(ctx, pass, part, after)) {
    const details = await Promise.all(page.rows.map((post) => findPost(ctx, placeOf(part), post)));
    const rows = page.rows.flatMap((post, index) => {
      const metrics = details[index]?.metrics;
      return details[index] ? [{ ...post, captured_at, metrics }] : [];
    });
    pass.asked.foundCount += rows.length;
    pass.asked.goneCount += details.length - rows.length;
    yield { rows, after: page.after, reached: rows.length > 0 ? captured_at : undefined };
  }
}

/** The same post may be on many channels; its activities are asked for once. */
async function* readActivities(
  ctx: SocialContext,
  pass: Pass,
  part: Part,
  after: string | undefined,
): AsyncGenerator<PartPage> {
  const { asked } = pass;
  for await (const page of readPosts(ctx, pass, part, after)) {
    const posts = [...new Set(page.rows.map(({ post_id }) => toId(post_id)))].filter(
      (post) => !asked.posts.has(post),
    );
    for (const post of posts) asked.posts.add(post);
    const found = await Promise.all(posts.map((post) => listActivities(ctx, placeOf(part), post)));
    asked.foundCount += found.filter((activities) => activities !== undefined).length;
    asked.goneCount += found.filter((activities) => activities === undefined).length;
    const rows = found.flatMap((activities, index) =>
      (activities ?? []).map((row) => ({ ...row, post_id: posts[index] })),
    );
    yield { rows, after: page.after };
  }
}

/** @throws RESOURCE_NOT_FOUND when the provider knows not one of the posts that it lists */
export function refuseAllGone({ asked: { foundCount, goneCount } }: Pass): void {
  if (foundCount > 0 || goneCount === 0) return;
  throw new ConnectorError("RESOURCE_NOT_FOUND", {
    reason: "the provider knows none of the posts that it lists",
  });
}

/** Reads posts of the selected channels, and posts without a channel yet. */
async function* readPlanned(
  ctx: SocialContext,
  part: Part,
  kind: "scheduled" | "drafts",
): AsyncGenerator<PartPage> {
  const ids = part.channels.map(({ channel_id }) => channel_id);
  const isWanted = ({ channel_ids }: ApiRow) => {
    if (
      ctx.config.channel_ids.length === 0 ||
      !Array.isArray(channel_ids) ||
      channel_ids.length === 0
    )
      return true;
    return channel_ids.some((id) => ids.includes(toId(id)));
  };
  for await (const rows of listByOffset(ctx, ["posts", kind], placeOf(part)))
    yield { rows: rows.filter(isWanted) };
}

/** Days per request, and days that a first read without a start date goes back. */
const reportDays = 90;

async function* readReport(
  ctx: SocialContext,
  pass: Pass,
  { brand, channels }: Part,
  after: string | undefined,
): AsyncGenerator<PartPage> {
  const [channel] = channels;
  if (!channel) return;
  const today = dayIn(isTimeZone(brand.timezone) ? brand.timezone : "UTC", pass.nowMs);
  const { start_date, channel_metrics_lookback_days: lookbackDays } = ctx.config;
  const cursor = pass.cursorOf(channel);
  const since =
    cursor === undefined
      ? (start_date ?? shiftDay(today, 1 - reportDays))
      : shiftDay(cursor, -lookbackDays);
  const first = start_date !== undefined && start_date > since ? start_date : since;
  for (let from = after ?? first; from <= today; ) {
    const end = shiftDay(from, reportDays - 1);
    const to = end < today ? end : today;
    const rows = await listReport(ctx, channel, from, to);
    from = shiftDay(to, 1);
    yield { rows, after: from <= today ? from : undefined, reached: latest(rows, "date") };
  }
}

/** The latest moment or day in a field, as the API wrote it. */
function latest(rows: readonly ApiRow[], field: string): string | undefined {
  let found: string | undefined;
  for (const row of rows) found = later(found, row[field]);
  return found;
}

/** A post that is dated ahead of time moves no cursor there: what comes meanwhile is still read. */
const notAfter = (moment: string | undefined, nowMs: number): string | undefined =>
  moment !== undefined && Date.parse(moment) > nowMs ? new Date(nowMs).toISOString() : moment;

export function later(one: string | undefined, other: unknown): string | undefined {
  if (typeof other !== "string" || Number.isNaN(Date.parse(other))) return one;
  return one === undefined || Date.parse(other) > Date.parse(one) ? other : one;
}
