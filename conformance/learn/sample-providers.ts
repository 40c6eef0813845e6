/** Providers that really page over rows, with a client for each: the truth against which the tests hold what was learned. */
import type { Answer } from "../contract/network.ts";
import type { Interaction, RecordedOutcome, Recording } from "../contract/recording.ts";
import { toText } from "./json.ts";

export type SampleRow = { readonly [field: string]: unknown };

export interface SampleRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly body?: string;
}

export interface Sample {
  readonly name: string;
  readonly style: string;
  /** Tokens differ from the true provider's, so that only rows and the number of requests can be compared. */
  readonly hasTokens?: boolean;
  /** Rows of the recording; 5 unless told, which ends with a page that is not full. */
  readonly recordedCount?: number;
  /** The page size cannot be asked for. */
  readonly fixedSize?: number;
  answer(request: SampleRequest, rows: readonly SampleRow[]): SampleAnswer;
  /** The request for the first page. */
  first(size: number): SampleRequest;
  /** Undefined after the last page. */
  next(answer: SampleAnswer, request: SampleRequest, size: number): SampleRequest | undefined;
  /** The rows of an answer. */
  rows(answer: SampleAnswer): readonly SampleRow[];
}

export interface SampleAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly tree: unknown;
}

const base = "https://api.example.com";
type Tree = { readonly [name: string]: unknown };
const json = (tree: unknown, headers: Readonly<Record<string, string>> = {}): SampleAnswer => ({
  status: 200,
  headers: { "content-type": "application/json", ...headers },
  tree,
});
const treeOf = (answer: SampleAnswer) => answer.tree as Tree;
const listOf = (answer: SampleAnswer, name: string) => treeOf(answer)[name] as readonly SampleRow[];
const query = (request: SampleRequest) => new URL(request.url).searchParams;
const get = (path: string, parameters: Readonly<Record<string, string | number>>): SampleRequest => ({
  method: "GET",
  url: `${base}${path}?${new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]))}`,
});
const moved = (request: SampleRequest, parameters: Readonly<Record<string, string | number>>): SampleRequest => {
  const url = new URL(request.url);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
  return { ...request, url: url.href };
};
const number = (request: SampleRequest, name: string, absent: number) => Number(query(request).get(name) ?? absent);

const opaque = (position: number) => Buffer.from(`?>${position}~~`).toString("base64");
const positionOf = (token: string | null) =>
  token === null ? 0 : Number(/>(\d+)~/.exec(Buffer.from(token, "base64").toString())?.[1]);

export const samples: readonly Sample[] = [
  {
    name: "numbers from 1 with links, totals and bounds",
    style: "number",
    answer(request, rows) {
      const [page, size] = [number(request, "page", 1), number(request, "per_page", 15)];
      const last = Math.max(1, Math.ceil(rows.length / size));
      const data = rows.slice((page - 1) * size, page * size);
      const link = (one: number) => `${base}/items?page=${one}`;
      const bounds = data.length > 0 ? [(page - 1) * size + 1, (page - 1) * size + data.length] : [null, null];
      return json({
        data,
        links: {
          first: link(1),
          last: link(last),
          prev: page > 1 ? link(page - 1) : null,
          next: page < last ? link(page + 1) : null,
        },
        meta: {
          current_page: page,
          from: bounds[0],
          last_page: last,
          path: `${base}/items`,
          per_page: size,
          to: bounds[1],
          total: rows.length,
        },
      });
    },
    first: (size) => get("/items", { page: 1, per_page: size }),
    next(answer, request) {
      const { current_page: page, last_page: last } = treeOf(answer).meta as {
        current_page: number;
        last_page: number;
      };
      return page < last ? moved(request, { page: page + 1 }) : undefined;
    },
    rows: (answer) => listOf(answer, "data"),
  },
  {
    name: "numbers from 0 with a flag for the last page",
    style: "number",
    answer(request, rows) {
      const [page, size] = [number(request, "page", 0), number(request, "limit", 100)];
      return json({ tasks: rows.slice(page * size, (page + 1) * size), last_page: (page + 1) * size >= rows.length });
    },
    first: (size) => get("/tasks", { page: 0, limit: size, archived: "false" }),
    next: (answer, request) =>
      treeOf(answer).last_page === true ? undefined : moved(request, { page: number(request, "page", 0) + 1 }),
    rows: (answer) => listOf(answer, "tasks"),
  },
  {
    name: "numbers of bare arrays that end with an empty one",
    style: "number",
    answer(request, rows) {
      const [page, size] = [number(request, "p", 1), number(request, "take", 100)];
      return json(rows.slice((page - 1) * size, page * size));
    },
    first: (size) => get("/bare", { take: size }),
    next: (answer, request) =>
      (answer.tree as unknown[]).length === 0 ? undefined : moved(request, { p: number(request, "p", 1) + 1 }),
    rows: (answer) => answer.tree as SampleRow[],
  },
  {
    name: "offsets with a total",
    style: "offset",
    answer(request, rows) {
      const [offset, limit] = [number(request, "offset", 0), number(request, "limit", 20)];
      return json({ data: rows.slice(offset, offset + limit), paging: { offset, limit, total: rows.length } });
    },
    first: (size) => get("/posts", { offset: 0, limit: size }),
    next(answer, request) {
      const { offset, total } = treeOf(answer).paging as { offset: number; total: number };
      const reached = offset + listOf(answer, "data").length;
      return reached < total ? moved(request, { offset: reached }) : undefined;
    },
    rows: (answer) => listOf(answer, "data"),
  },
  {
    name: "offsets in a body, with things that the rows name",
    style: "offset",
    answer(request, rows) {
      const { options } = JSON.parse(request.body ?? "") as { options: { count: number; offset: number } };
      const trades = rows.slice(options.offset, options.offset + options.count);
      const kinds = [...new Set(trades.map(({ id }) => Number(id) % 3))];
      return json({
        accounts: [{ account_id: "a" }],
        trades,
        securities: kinds.map((kind) => ({ kind, name: `Security ${kind}` })),
        total_trades: rows.length,
      });
    },
    first: (size) => ({
      method: "POST",
      url: `${base}/trades/get`,
      body: toText({ start_date: "2026-01-01", options: { count: size, offset: 0 } }),
    }),
    next(answer, request) {
      const body = JSON.parse(request.body ?? "") as { options: { offset: number } };
      const offset = body.options.offset + listOf(answer, "trades").length;
      return offset < Number(treeOf(answer).total_trades)
        ? { ...request, body: toText({ ...body, options: { ...body.options, offset } }) }
        : undefined;
    },
    rows: (answer) => listOf(answer, "trades"),
  },
  {
    name: "cursors that are null at the end",
    style: "cursor",
    hasTokens: true,
    answer(request, rows) {
      const [start, size] = [positionOf(query(request).get("cursor")), number(request, "limit", 20)];
      const isLast = start + size >= rows.length;
      return json({
        results: rows.slice(start, start + size),
        next_cursor: isLast ? null : opaque(start + size),
        has_more: !isLast,
      });
    },
    first: (size) => get("/pages", { limit: size }),
    next: (answer, request) =>
      treeOf(answer).next_cursor === null ? undefined : moved(request, { cursor: String(treeOf(answer).next_cursor) }),
    rows: (answer) => listOf(answer, "results"),
  },
  {
    name: "cursors whose place is absent at the end",
    style: "cursor",
    hasTokens: true,
    answer(request, rows) {
      const [start, size] = [positionOf(query(request).get("cursor")), number(request, "limit", 20)];
      const after = start + size < rows.length ? { after: opaque(start + size) } : {};
      return json({ data: rows.slice(start, start + size), paging: { cursor: after } });
    },
    first: (size) => get("/published", { network: "x", limit: size }),
    next(answer, request) {
      const { after } = (treeOf(answer).paging as { cursor: { after?: string } }).cursor;
      return after === undefined ? undefined : moved(request, { cursor: after });
    },
    rows: (answer) => listOf(answer, "data"),
  },
  {
    name: "cursors that are integers, and given after every full page",
    style: "cursor",
    recordedCount: 4,
    hasTokens: true,
    answer(request, rows) {
      const [start, size] = [number(request, "cursor", 7000) - 7000, number(request, "count", 20)];
      const page = rows.slice(start, start + size);
      return json({ items: page, next_cursor: page.length === size ? 7000 + start + size : 0 });
    },
    first: (size) => get("/ints", { count: size }),
    next: (answer, request) =>
      treeOf(answer).next_cursor === 0 ? undefined : moved(request, { cursor: String(treeOf(answer).next_cursor) }),
    rows: (answer) => listOf(answer, "items"),
  },
  {
    name: "cursors in a body that are given after the last page too",
    style: "cursor",
    hasTokens: true,
    answer(request, rows) {
      const { cursor = null, count } = JSON.parse(request.body ?? "") as { cursor?: string; count: number };
      const start = positionOf(cursor);
      const end = Math.min(rows.length, start + count);
      return json({
        added: rows.slice(start, end),
        modified: [],
        removed: [],
        next_cursor: opaque(end),
        has_more: end < rows.length,
      });
    },
    first: (size) => ({ method: "POST", url: `${base}/sync`, body: toText({ count: size }) }),
    next: (answer, request, size) =>
      treeOf(answer).has_more === true
        ? { ...request, body: toText({ count: size, cursor: treeOf(answer).next_cursor }) }
        : undefined,
    rows: (answer) => listOf(answer, "added"),
  },
  {
    name: "the id of the last row",
    style: "cursor",
    answer(request, rows) {
      const after = query(request).get("starting_after");
      const start = after === null ? 0 : rows.findIndex(({ id }) => String(id) === after) + 1;
      const size = number(request, "limit", 10);
      return json({
        object: "list",
        data: rows.slice(start, start + size),
        has_more: start + size < rows.length,
        url: "/v1/charges",
      });
    },
    first: (size) => get("/v1/charges", { limit: size }),
    next: (answer, request) =>
      treeOf(answer).has_more === true
        ? moved(request, { starting_after: String(listOf(answer, "data").at(-1)?.id) })
        : undefined,
    rows: (answer) => listOf(answer, "data"),
  },
  {
    name: "the date and id of the last row, without a size",
    style: "cursor",
    fixedSize: 2,
    answer(request, rows) {
      const [date, id] = [query(request).get("start"), query(request).get("start_id")];
      const start = date === null ? 0 : rows.findIndex((row) => String(row.date) === date && String(row.id) === id) + 1;
      return json({ comments: rows.slice(start, start + 2) });
    },
    first: () => ({ method: "GET", url: `${base}/comments` }),
    next(answer, request) {
      const last = listOf(answer, "comments").at(-1);
      return listOf(answer, "comments").length < 2 || !last
        ? undefined
        : moved(request, { start: String(last.date), start_id: String(last.id) });
    },
    rows: (answer) => listOf(answer, "comments"),
  },
  {
    name: "URLs in the body",
    style: "link",
    hasTokens: true,
    answer(request, rows) {
      const [start, size] = [positionOf(query(request).get("after")), number(request, "limit", 20)];
      const url = new URL(request.url);
      url.searchParams.set("after", opaque(start + size));
      return json({
        value: rows.slice(start, start + size),
        ...(start + size < rows.length ? { "@odata.nextLink": url.href } : {}),
      });
    },
    first: (size) => get("/users", { sort: "name", limit: size }),
    next(answer) {
      const url = treeOf(answer)["@odata.nextLink"];
      return typeof url === "string" ? { method: "GET", url } : undefined;
    },
    rows: (answer) => listOf(answer, "value"),
  },
  {
    name: "URLs in the body that leave out what was asked",
    style: "link",
    hasTokens: true,
    answer(request, rows) {
      const [start, size] = [positionOf(query(request).get("page_info")), number(request, "limit", 20)];
      const next = `${base}/orders?limit=${size}&page_info=${encodeURIComponent(opaque(start + size))}`;
      return json({ orders: rows.slice(start, start + size), next: start + size < rows.length ? next : null });
    },
    first: (size) => get("/orders", { status: "any", limit: size }),
    next: (answer) =>
      typeof treeOf(answer).next === "string" ? { method: "GET", url: String(treeOf(answer).next) } : undefined,
    rows: (answer) => listOf(answer, "orders"),
  },
  {
    name: "URLs in a header, with a total",
    style: "link",
    answer(request, rows) {
      const [page, size] = [number(request, "page", 1), number(request, "per_page", 30)];
      const last = Math.max(1, Math.ceil(rows.length / size));
      const link = (one: number, rel: string) => `<${base}/repos?per_page=${size}&page=${one}>; rel="${rel}"`;
      const links = [
        ...(page > 1 ? [link(page - 1, "prev")] : []),
        ...(page < last ? [link(page + 1, "next"), link(last, "last")] : []),
        ...(page > 1 ? [link(1, "first")] : []),
      ];
      const header = links.length > 0 ? { link: links.join(", ") } : {};
      return json(rows.slice((page - 1) * size, page * size), { "x-total-count": String(rows.length), ...header });
    },
    first: (size) => get("/repos", { per_page: size }),
    next(answer) {
      const url = /<([^>]*)>; rel="next"/.exec(answer.headers.link ?? "")?.[1];
      return url === undefined ? undefined : { method: "GET", url };
    },
    rows: (answer) => answer.tree as SampleRow[],
  },
];

/** All exchanges of a client with a provider; at most 200. */
export function crawl(sample: Sample, size: number, ask: (request: SampleRequest) => SampleAnswer) {
  const exchanges: { readonly request: SampleRequest; readonly answer: SampleAnswer }[] = [];
  let request: SampleRequest | undefined = sample.first(size);
  while (request !== undefined && exchanges.length < 200) {
    const answer = ask(request);
    exchanges.push({ request, answer });
    request = sample.next(answer, request, size);
  }
  return { exchanges, rows: exchanges.flatMap(({ answer }) => sample.rows(answer)) };
}

export const toAnswer = ({ status, headers, tree }: SampleAnswer): Answer => ({
  status,
  headers,
  body: Buffer.from(toText(tree)),
});

export const toInteraction = (request: SampleRequest, { status, headers, tree }: SampleAnswer): Interaction => ({
  request: { method: request.method, url: request.url, ...(request.body === undefined ? {} : { body: request.body }) },
  response: { status, headers, body: toText(tree) },
});

export function toRecording(
  name: string,
  interactions: readonly Interaction[],
  options: {
    readonly outcome?: RecordedOutcome["status"];
    readonly state?: boolean;
    readonly verb?: "check" | "read";
  } = {},
): Recording {
  const { outcome = "succeeded", state = false, verb = "read" } = options;
  return {
    name,
    metadata: {
      ...{ kit: 1, matcher: 1, provider: "sample", provider_api_version: "1", seed: 1, redactions: [] },
      ...{ recorded_at: "2026-06-01T00:00:00Z", clock_origin: "2026-06-01T00:00:00Z" },
    },
    run: { verb, ...(state ? { state: [{ stream: { name: "items" }, state: {} }] } : {}) },
    interactions,
    outcome: { status: outcome },
  };
}
