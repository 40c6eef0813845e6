import {
  bearer,
  defineSource,
  http,
  Nullable,
  pagesByNumber,
  records,
  secret,
  Timestamp,
  Type,
} from "svc-connectors";

const spec = Type.Object({
  api_token: secret(Type.String({ title: "API token", description: "Any." })),
  pages: Type.Integer({ title: "Pages", description: "How many pages of 1,000 rows to read." }),
});

const Row = Type.Object({
  id: Type.Integer(),
  email: Type.String(),
  name: Type.String(),
  status: Type.String(),
  score: Type.Number(),
  opens: Type.Integer(),
  created_at: Timestamp(),
  note: Nullable(Type.String()),
});

interface Page {
  readonly data: Record<string, unknown>[];
}

/** Reads the pages of rows-server.ts; each of its streams has all of them. */
export default defineSource({
  id: "conn_bench_rows",
  version: "1.0.0",
  title: "Benchmark rows",
  spec,
  egress: http({ baseUrl: "https://bench.example.com/v1", auth: bearer("api_token") }),
  streams: ["rows", "b", "c", "d", "e", "f", "g", "h"].map((name) => ({ name, schema: Row })),
  async check() {},
  async *read(ctx) {
    const fetchPage = async (page: number) =>
      (await ctx.http.get(["rows"], { query: { page } })).json<Page>();
    for await (const page of pagesByNumber(fetchPage, () => ctx.config.pages))
      yield records(page.data);
  },
});
