import {
  approvedUrl,
  bearer,
  checkpoint,
  defineSource,
  http,
  Nullable,
  pagesByNumber,
  perMinute,
  records,
  type Stream,
  secret,
  Type,
  withDefault,
} from "../runtime/author.ts";
import {
  activationHttp,
  defineActivation,
  defineDestination,
  localFile,
} from "../runtime/destination-author.ts";

const spec = Type.Object({
  base_url: Type.String({ title: "x", description: "y" }),
  api_token: secret(Type.String({ title: "x", description: "y" })),
  nested: Type.Object({ a: Type.Number(), s: secret(Type.String()) }),
  page_size: withDefault(Type.Integer(), 100),
  start_date: Type.Optional(Type.String()),
  region: withDefault(Type.Enum(["eu", "us"]), "eu"),
});
interface MyStream extends Stream {
  readonly path: string;
}
const streams: MyStream[] = [
  { name: "a", schema: Type.Object({ id: Type.String(), n: Nullable(Type.Number()) }), path: "x" },
];
export default defineSource({
  id: "conn_x",
  version: "1.0.0",
  title: "X",
  spec,
  egress: http({
    baseUrl: approvedUrl("base_url", { pathEnd: "/api" }),
    auth: bearer("api_token"),
    rateLimit: perMinute(60),
  }),
  streams,
  state: Type.Object({ cursor: Type.String() }),
  async check(ctx) {
    await ctx.http.get(["user"]);
    const s: string = ctx.config.base_url;
    const n: number = ctx.config.nested.a;
    const size: number = ctx.config.page_size;
    const region: "eu" | "us" = ctx.config.region;
    // @ts-expect-error a setting without a default may be missing
    const start: string = ctx.config.start_date;
    void s;
    void n;
    void size;
    void region;
    void start;
    // @ts-expect-error secret is not there
    ctx.config.api_token;
    // @ts-expect-error nested secret
    ctx.config.nested.s;
    // @ts-expect-error http connector has no connect
    ctx.connect;
  },
  async *read(ctx, stream, state) {
    const c: string | undefined = state?.cursor;
    void c;
    for await (const page of pagesByNumber(
      (n) =>
        ctx.http
          .get([stream.path], { query: { page: n } })
          .then((r) => r.json<{ data: { id: string }[]; meta: { last_page: number } }>()),
      (p) => p.meta.last_page,
    )) {
      yield records(page.data);
      yield checkpoint({ cursor: "x" });
    }
  },
});
defineSource({
  id: "conn_x",
  version: "1.0.0",
  title: "X",
  spec,
  // @ts-expect-error unknown field
  egress: http({ baseUrl: "https://{base_url}", auth: bearer("api_tokn") }),
  streams,
  async check() {},
  async *read() {},
});
interface Ticket {
  readonly id: number;
  readonly subject: string;
}
const tickets: readonly Ticket[] = [];
const ticketSchema = Type.Object({ id: Type.Integer(), subject: Type.String() });
const noteSchema = Type.Object({ note_id: Type.Integer(), at: Type.String() });
const tracker = {
  id: "conn_x",
  version: "1.0.0",
  title: "X",
  spec,
  egress: http({ baseUrl: "https://example.com", auth: bearer("api_token") }),
  async check() {},
} as const;
defineSource({
  ...tracker,
  streams: [
    { name: "tickets", schema: ticketSchema, primaryKey: ["id"] },
    { name: "notes", schema: noteSchema, primaryKey: ["note_id"], cursorField: "at" },
  ],
  state: Type.Object({ since: Type.String() }),
  async *read(_ctx, stream) {
    const name: "tickets" | "notes" = stream.name;
    void name;
    // rows of an interface, which has no index signature
    yield records(tickets);
    yield checkpoint({ since: "2026-01-01" });
  },
});
defineSource({
  ...tracker,
  streams: [
    { name: "notes", schema: noteSchema, primaryKey: ["note_id"] },
    // @ts-expect-error a key is a property of its own stream's schema
    { name: "tickets", schema: ticketSchema, primaryKey: ["note_id"] },
  ],
  async *read() {},
});
defineSource({
  ...tracker,
  // @ts-expect-error so is a cursor
  streams: [{ name: "tickets", schema: ticketSchema, cursorField: "updated" }],
  async *read() {},
});
defineSource({
  ...tracker,
  streams: [
    {
      name: "tickets",
      schema: ticketSchema,
      primaryKey: ["id"],
      // @ts-expect-error and it is the only part of its stream that is refused
      cursorField: "updated",
      syncModes: ["full_refresh", "incremental"],
    },
  ],
  async *read() {},
});
defineSource({
  ...tracker,
  streams: [{ name: "tickets", schema: ticketSchema }],
  state: Type.Object({ since: Type.String() }),
  // @ts-expect-error a checkpoint has the shape that was declared
  async *read() {
    yield checkpoint({ sinc: "2026-01-01" });
  },
});
// @ts-expect-error a row is an object
records(["x"]);
// @ts-expect-error a default has the type of its setting
withDefault(Type.Integer(), "100");
// @ts-expect-error a default is one of the choices
withDefault(Type.Enum(["eu", "us"]), "uk");
export const destination = defineDestination({
  id: "conn_x",
  version: "1.0.0",
  title: "X",
  spec,
  egress: localFile({ name: "base_url", ending: ".x" }),
  syncModes: ["append"],
  async check(ctx) {
    const size: number = ctx.config.page_size;
    void size;
    // @ts-expect-error secret is not there
    ctx.config.api_token;
  },
  async write(ctx) {
    throw new Error(ctx.path);
  },
});
export const activation = defineActivation({
  id: "conn_x",
  version: "1.0.0",
  title: "X",
  spec,
  egress: activationHttp({
    baseUrl: approvedUrl("base_url", { pathEnd: "/api" }),
    auth: bearer("api_token"),
  }),
  maxBatchRows: 1,
  async objects(ctx) {
    const size: number = ctx.config.page_size;
    void size;
    // @ts-expect-error secret is not there
    ctx.config.api_token;
    return [];
  },
  async *write() {},
});

/** A provider that asks for no credentials, with settings and without. */
export const open = [
  defineSource({
    id: "conn_open",
    version: "1.0.0",
    title: "Open",
    spec: Type.Object({}),
    egress: http({ baseUrl: "https://api.example.com", auth: [] }),
    streams: [{ name: "a", schema: Type.Object({ id: Type.String() }) }],
    async check(ctx) {
      await ctx.http.get(["a"]);
    },
    async *read() {
      yield records([{ id: "x" }]);
    },
  }),
  defineSource({
    id: "conn_open_too",
    version: "1.0.0",
    title: "Open too",
    spec,
    egress: http({ baseUrl: "https://api.example.com", auth: [] }),
    streams,
    async check() {},
    async *read() {},
  }),
];
