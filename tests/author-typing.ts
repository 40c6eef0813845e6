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
} from "../runtime/author.ts";

const spec = Type.Object({
  base_url: Type.String({ title: "x", description: "y" }),
  api_token: secret(Type.String({ title: "x", description: "y" })),
  nested: Type.Object({ a: Type.Number(), s: secret(Type.String()) }),
  page_size: Type.Optional(Type.Integer()),
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
    void s;
    void n;
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
