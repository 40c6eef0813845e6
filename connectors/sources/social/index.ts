import {
  ConnectorError,
  checkpoint,
  defineSource,
  http,
  oauth2,
  perMinute,
  records,
  type Static,
  type SyncMode,
  Timestamp,
  Type,
} from "svc-connectors";
import {
  selectedAccount,
  selectedBrands,
  selectedChannelsOf,
  selectedPortal,
  selectedPortalId,
} from "./account.ts";
import { errorRules, listPosts, listUsers } from "./api.ts";
import { listEntities } from "./entities.ts";
import { later, listParts, type Part, type Pass, readPart, refuseAllGone } from "./parts.ts";
import { authorization, type SocialContext, spec } from "./spec.ts";
import {
  accountStreams,
  createRowMapper,
  describe,
  type SocialStream,
  streams,
} from "./streams.ts";

/** The position of a cursor: of posts a time, of daily metrics a day. */
const position = Type.Union([Timestamp(), Type.String({ format: "date" })]);

/**
 * `cursors`: what an earlier pass has read of each channel. `pass`: one that is under way: the part
 * that it is in (those before are done), and in it the next page and the latest cursor value so
 * far.
 */
const state = Type.Object(
  {
    cursors: Type.Optional(Type.Record(Type.String(), position)),
    pass: Type.Optional(
      Type.Object(
        {
          part: Type.String(),
          after: Type.Optional(Type.String()),
          reached: Type.Optional(position),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
type State = Static<typeof state>;

export default defineSource({
  id: "conn_social",
  version: "1.0.0",
  title: "Social",
  spec,
  egress: http({
    baseUrl: "https://social.zoho.{region}/social/v2",
    auth: oauth2({
      tokenUrl: "https://accounts.zoho.{region}/oauth/v2/token",
      clientId: "client_id",
      clientSecret: "client_secret",
      refreshToken: "refresh_token",
      scheme: "Zoho-oauthtoken",
      authorization,
    }),
    // The provider publishes no limit for this API; its others allow 100 a minute and user.
    rateLimit: perMinute(100),
    errors: errorRules,
  }),
  state,
  async *discover(ctx) {
    for (const stream of streams) yield describe(stream, ctx.config);
  },
  check,
  entities: listEntities,
  async *read(ctx, { name, syncMode }, saved) {
    const stream = streams.find((one) => one.name === name);
    if (!stream) throw new ConnectorError("STREAM_UNKNOWN", { stream: name });
    if (accountStreams.includes(stream.name)) yield* readAccount(ctx, stream);
    else yield* readParts(ctx, stream, syncMode, saved ?? {});
  },
});

/** A check may not page through an account: channels of so many brands are looked at. */
const checkedBrands = 4;

async function check(ctx: SocialContext): Promise<void> {
  await selectedPortal(ctx);
  const brands = await selectedBrands(ctx);
  if (brands.length <= checkedBrands) await selectedAccount(ctx);
  const first = (
    await Promise.all(brands.slice(0, checkedBrands).map((brand) => selectedChannelsOf(ctx, brand)))
  ).flat()[0];
  if (!first) return;
  const { portal_id, brand_id, network } = first;
  await listPosts(ctx, { portal_id, brand_id }, network, { isLast: () => true }).next();
}

async function* readAccount(ctx: SocialContext, stream: SocialStream) {
  const toRow = createRowMapper(stream, ctx.config);
  const portal_id = selectedPortalId(ctx);
  if (stream.name === "portals") yield records([toRow((await selectedPortal(ctx)).row)]);
  else if (stream.name === "users")
    yield records((await listUsers(ctx, portal_id)).map((row) => toRow(row, { portal_id })));
  else if (stream.name === "brands")
    yield records((await selectedBrands(ctx)).map(({ row }) => toRow(row, { portal_id })));
  else {
    for (const { channels } of await selectedAccount(ctx)) {
      yield records(
        channels.map(({ row, portal_id, brand_id }) => toRow(row, { portal_id, brand_id })),
      );
    }
  }
}

/** At 100 requests a minute a crash then costs a few seconds of reading. */
const pagesPerCheckpoint = 10;

async function* readParts(
  ctx: SocialContext,
  stream: SocialStream,
  syncMode: SyncMode,
  saved: State,
) {
  const toRow = createRowMapper(stream, ctx.config);
  const isIncremental = syncMode === "incremental";
  const before = isIncremental ? (saved.cursors ?? {}) : {};
  const cursors = { ...before };
  const pass: Pass = {
    stream: stream.name,
    cursorOf: ({ channel_id }) => before[channel_id],
    nowMs: ctx.clock.now(),
    asked: { foundCount: 0, goneCount: 0, posts: new Set() },
  };
  const from = saved.pass;
  const all = await listParts(ctx, stream.name);
  const parts = all.filter(({ key }) => from === undefined || key >= from.part);
  warnOfChannels(ctx, parts);

  let pageCount = 0;
  for (const [index, part] of parts.entries()) {
    const { portal_id, brand_id } = part.brand;
    const start = part.key === from?.part ? from : undefined;
    let reached = start?.reached;
    let isDue = false;
    for await (const page of readPart(ctx, pass, part, start?.after)) {
      yield records(page.rows.map((row) => toRow(row, { portal_id, brand_id })));
      reached = later(reached, page.reached);
      isDue ||= ++pageCount % pagesPerCheckpoint === 0;
      if (!isDue || page.after === undefined) continue;
      yield checkpoint<State>(
        stateOf(cursors, { part: part.key, after: page.after, ...(reached ? { reached } : {}) }),
      );
      isDue = false;
    }
    for (const { channel_id } of isIncremental ? part.channels : []) {
      const cursor = later(cursors[channel_id], reached);
      if (cursor !== undefined) cursors[channel_id] = cursor;
    }
    const next = parts[index + 1];
    if (isDue && next) yield checkpoint<State>(stateOf(cursors, { part: next.key }));
  }
  refuseAllGone(pass);
  // a finished full refresh starts anew
  if (isIncremental) yield checkpoint<State>(stateOf(ofThose(cursors, all)));
}

/** Of the channels that there are. That there is none at all may be a fault of the provider. */
function ofThose(cursors: Readonly<Record<string, string>>, parts: readonly Part[]) {
  const ids = new Set(parts.flatMap(({ channels }) => channels.map((one) => one.channel_id)));
  return ids.size === 0
    ? cursors
    : Object.fromEntries(Object.entries(cursors).filter(([id]) => ids.has(id)));
}

/** A copy: the cursors go on moving. */
function stateOf(cursors: Readonly<Record<string, string>>, pass?: State["pass"]): State {
  return {
    ...(Object.keys(cursors).length > 0 ? { cursors: { ...cursors } } : {}),
    ...(pass ? { pass } : {}),
  };
}

function warnOfChannels(ctx: SocialContext, parts: readonly Part[]): void {
  const channels = new Map(
    parts.flatMap((part) => part.channels.map((channel) => [channel.channel_id, channel.status])),
  );
  const count = [...channels.values()].filter((status) => status === "reconnect").length;
  if (count > 0)
    ctx.log.warn(
      "Channels have to be connected again at the provider; until then nothing new comes from them.",
      {
        count,
      },
    );
}
