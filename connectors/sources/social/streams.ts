import { Nullable, type Stream, Timestamp, Type } from "svc-connectors";
import { type ApiRow, toId } from "./api.ts";
import type { Config } from "./spec.ts";

const id = Type.String({ minLength: 1 });
const day = Type.String({ format: "date" });
const moment = Timestamp();
const text = Nullable(Type.String());
const time = Nullable(Timestamp());
const ids = Nullable(Type.Array(Type.String()));
const count = Nullable(Type.Integer({ minimum: 0 }));
const rate = Nullable(Type.Number({ minimum: 0, description: "As a ratio: 0.025 is 2.5 %." }));
type Fields = Readonly<Record<string, Parameters<typeof Type.Object>[0][string]>>;

/** Null: the network does not count it, or did not say. 0: it was counted. */
const metrics = {
  impressions: count,
  reach: count,
  likes: count,
  reactions: count,
  comments: count,
  shares: count,
  retweets: count,
  clicks: count,
  saves: count,
  video_views: count,
  engagement_rate: rate,
} as const;
const ofBrand = { portal_id: id, brand_id: id } as const;

export interface SocialStream {
  readonly name: StreamName;
  readonly description: string;
  readonly primaryKey: readonly string[];
  /** Makes the stream incremental. */
  readonly cursorField?: string;
  readonly fields: Fields;
  /** Metrics, which the API nests. */
  readonly metrics?: Fields;
  /** Only with include_personal_data. */
  readonly personal?: Fields;
}

export type StreamName =
  | "portals"
  | "brands"
  | "channels"
  | "users"
  | "posts"
  | "post_metrics"
  | "channel_metrics_daily"
  | "scheduled_posts"
  | "drafts"
  | "post_activities";

export const streams: readonly SocialStream[] = [
  {
    name: "portals",
    description: "The selected portal.",
    primaryKey: ["portal_id"],
    fields: { portal_id: id, portal_name: text, status: text },
  },
  {
    name: "brands",
    description: "Brands with their time zone, in which their days begin and end.",
    primaryKey: ["brand_id"],
    fields: { ...ofBrand, brand_name: text, timezone: text, channel_count: count },
  },
  {
    name: "channels",
    description:
      "Connected channels; status reconnect means that the network no longer lets the provider in.",
    primaryKey: ["portal_id", "brand_id", "channel_id"],
    fields: {
      ...ofBrand,
      channel_id: id,
      network: id,
      channel_name: text,
      profile_url: text,
      status: text,
    },
  },
  {
    name: "users",
    description: "Users of the portal.",
    primaryKey: ["user_id"],
    fields: { user_id: id, portal_id: id, role: text, status: text },
    personal: { full_name: text, email: text },
  },
  {
    name: "posts",
    description: "Published posts, one row per channel.",
    primaryKey: ["network", "channel_id", "post_id"],
    cursorField: "published_time",
    fields: {
      ...ofBrand,
      channel_id: id,
      network: id,
      post_id: id,
      post_type: text,
      message: text,
      permalink: text,
      published_time: time,
    },
  },
  {
    name: "post_metrics",
    description:
      "What the network said of a post at a moment. A metric that it does not count is null, never 0.",
    primaryKey: ["post_id", "channel_id", "captured_at"],
    cursorField: "captured_at",
    fields: {
      ...ofBrand,
      channel_id: id,
      network: id,
      post_id: id,
      published_time: time,
      captured_at: moment,
    },
    metrics,
  },
  {
    name: "channel_metrics_daily",
    description: "A channel's day, in the time zone of its brand. The last days keep moving.",
    primaryKey: ["channel_id", "date"],
    cursorField: "date",
    fields: { ...ofBrand, channel_id: id, network: text, date: day },
    metrics: { followers: count, ...metrics },
  },
  {
    name: "scheduled_posts",
    description: "Posts that wait for their time.",
    primaryKey: ["post_id"],
    fields: {
      ...ofBrand,
      post_id: id,
      channel_ids: ids,
      message: text,
      created_time: time,
      modified_time: time,
      scheduled_time: time,
    },
  },
  {
    name: "drafts",
    description: "Posts that nobody has scheduled yet.",
    primaryKey: ["post_id"],
    fields: {
      ...ofBrand,
      post_id: id,
      channel_ids: ids,
      message: text,
      created_time: time,
      modified_time: time,
    },
  },
  {
    name: "post_activities",
    description:
      "What was done to published posts in the portal: created, edited, approved, commented.",
    primaryKey: ["post_id", "activity_id"],
    fields: {
      ...ofBrand,
      post_id: id,
      activity_id: id,
      activity_type: text,
      user_id: text,
      activity_time: time,
    },
    personal: { user_name: text },
  },
];

/** The streams that are read at once; the others part by part, with checkpoints. */
export const accountStreams: readonly StreamName[] = ["portals", "brands", "channels", "users"];

/** The stream as discover lists it under this configuration. */
export function describe(stream: SocialStream, config: Config): Stream {
  const { name, description, primaryKey, cursorField } = stream;
  return {
    name,
    description,
    schema: Type.Object({ ...fieldsOf(stream, config), ...stream.metrics }),
    primaryKey,
    isResumable: !accountStreams.includes(name),
    ...(cursorField ? { cursorField, syncModes: ["full_refresh", "incremental"] } : {}),
  };
}

const fieldsOf = (stream: SocialStream, config: Config): Fields => ({
  ...stream.fields,
  ...(config.include_personal_data ? stream.personal : {}),
});

/** Makes rows of the stream from what the API gives: only its fields, what is missing as null. */
export function createRowMapper(stream: SocialStream, config: Config) {
  const fields = Object.entries(fieldsOf(stream, config));
  const metricNames = Object.keys(stream.metrics ?? {});
  return (given: ApiRow, added: ApiRow = {}): ApiRow => {
    const all = { ...given, ...added };
    const row: Record<string, unknown> = {};
    for (const [name, schema] of fields) {
      const value = all[name] ?? null;
      if (schema === id) row[name] = toId(value);
      else if (schema === ids && Array.isArray(value)) row[name] = value.map(toId);
      else row[name] = value;
    }
    const counted = (given.metrics ?? {}) as ApiRow;
    for (const name of metricNames) row[name] = toNumber(counted[name] ?? null);
    return row;
  };
}

/** Some networks' counts come as text. Anything else stays as it is, for the schema to judge. */
const toNumber = (value: unknown) =>
  typeof value === "string" && /^\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value;
