/**
 * __TITLE__: reads notes and folders of an imaginary notebook service. Replace it by yours, then
 * record it: README.md says how.
 */
import {
  bearer,
  ConnectorError,
  checkpoint,
  defineSource,
  http,
  Nullable,
  pagesByCursor,
  perSecond,
  records,
  secret,
  Timestamp,
  Type,
  withDefault,
} from "svc-connectors";

const spec = Type.Object({
  api_token: secret(
    Type.String({
      title: "API token",
      description: "Settings → API → New token, with read access.",
      minLength: 8,
    }),
  ),
  page_size: withDefault(
    Type.Integer({
      title: "Page size",
      description: "Rows per request.",
      minimum: 1,
      maximum: 100,
    }),
    50,
  ),
});

type Note = { readonly updated_at: string };
interface Page {
  readonly data: readonly Note[];
  readonly next: string | null;
}

export default defineSource({
  id: "conn___ID__",
  version: "0.1.0",
  title: "__TITLE__",
  spec,
  // The token is named here and never seen by this code: the host adds it to every request.
  egress: http({
    baseUrl: "https://api.notes.example.com/v1",
    auth: bearer("api_token"),
    rateLimit: perSecond(10),
    errors: [
      { status: 200, pointer: "/error", code: "REQUEST_REJECTED" },
      { status: 410, code: "SYNC_STATE_EXPIRED" },
    ],
  }),
  streams: [
    {
      name: "notes",
      description: "Notes with their text.",
      schema: Type.Object({
        id: Type.String(),
        number: Type.Integer(),
        weight: Type.Number(),
        title: Type.String(),
        body: Nullable(Type.String()),
        updated_at: Timestamp(),
        folder_id: Type.String(),
      }),
      primaryKey: ["id"],
      cursorField: "updated_at",
      syncModes: ["full_refresh", "incremental"],
    },
    {
      name: "folders",
      description: "Where notes lie.",
      schema: Type.Object({ id: Type.String(), name: Type.String() }),
      primaryKey: ["id"],
    },
  ],
  // A checkpoint says where the last whole pass ended, and where one under way goes on.
  state: Type.Object({
    since: Type.Optional(Timestamp()),
    pass: Type.Optional(
      Type.Object({ next: Type.String(), bound: Timestamp(), newest: Type.Optional(Timestamp()) }),
    ),
  }),

  async check(ctx) {
    // Rows: who the token is tells nothing of what it may read.
    const body = (await ctx.http.get(["folders"])).json<{ folders?: unknown } | null>();
    listOf(body?.folders);
  },

  async *read(ctx, stream, state) {
    if (stream.name === "folders") {
      const body = (await ctx.http.get(["folders"])).json<{ folders?: readonly Note[] } | null>();
      yield records(listOf(body?.folders));
      return;
    }

    const since = state?.since;
    // Changes while this runs are left to the next run.
    const bound = state?.pass?.bound ?? new Date(ctx.clock.now()).toISOString();
    let newest = state?.pass?.newest ?? since;
    const fetchPage = async (cursor: string | undefined) => {
      const query = { limit: ctx.config.page_size, cursor, since };
      return (await ctx.http.get(["notes"], { query })).json<Page>();
    };
    for await (const page of pagesByCursor(fetchPage, ({ next }) => next, {
      start: state?.pass?.next,
    })) {
      yield records(listOf(page.data));
      for (const { updated_at } of page.data) newest = laterOf(newest, updated_at);
      // After the rows that it covers, never before.
      if (page.next !== null) yield checkpoint({ since, pass: { next: page.next, bound, newest } });
    }
    const reached = newest === undefined ? since : laterOf(since, earlierOf(newest, bound));
    yield checkpoint(reached === undefined ? {} : { since: reached });
  },
});

/** The rows. @throws RESPONSE_INVALID when there are none: less data must not look like success */
function listOf(rows: unknown): readonly Note[] {
  if (!Array.isArray(rows))
    throw new ConnectorError("RESPONSE_INVALID", { reason: "the listing has no rows" });
  return rows;
}

/** By time, not by text: offsets differ. */
const laterOf = (one: string | undefined, other: string) =>
  one === undefined || Date.parse(other) >= Date.parse(one) ? other : one;
const earlierOf = (one: string, other: string) =>
  Date.parse(other) < Date.parse(one) ? other : one;
