/**
 * Providers whose next page is asked for by what the last answer says: a token, a URL, or its last
 * row.
 */
import { toText } from "../json.ts";
import {
  base,
  get,
  json,
  listOf,
  moved,
  number,
  query,
  type Sample,
  type SampleRow,
  treeOf,
} from "./sample.ts";

const opaque = (position: number) => Buffer.from(`?>${position}~~`).toString("base64");
const positionOf = (token: string | null) =>
  token === null ? 0 : Number(/>(\d+)~/.exec(Buffer.from(token, "base64").toString())?.[1]);

export const linked: readonly Sample[] = [
  {
    name: "cursors that are null at the end",
    style: "cursor",
    hasTokens: true,
    answer(request, rows) {
      const [start, size] = [
        positionOf(query(request).get("cursor")),
        number(request, "limit", 20),
      ];
      const isLast = start + size >= rows.length;
      return json({
        results: rows.slice(start, start + size),
        next_cursor: isLast ? null : opaque(start + size),
        has_more: !isLast,
      });
    },
    first: (size) => get("/pages", { limit: size }),
    next: (answer, request) =>
      treeOf(answer).next_cursor === null
        ? undefined
        : moved(request, { cursor: String(treeOf(answer).next_cursor) }),
    rows: (answer) => listOf(answer, "results"),
  },
  {
    name: "cursors whose place is absent at the end",
    style: "cursor",
    hasTokens: true,
    answer(request, rows) {
      const [start, size] = [
        positionOf(query(request).get("cursor")),
        number(request, "limit", 20),
      ];
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
      treeOf(answer).next_cursor === 0
        ? undefined
        : moved(request, { cursor: String(treeOf(answer).next_cursor) }),
    rows: (answer) => listOf(answer, "items"),
  },
  {
    name: "cursors in a body that are given after the last page too",
    style: "cursor",
    hasTokens: true,
    answer(request, rows) {
      const { cursor = null, count } = JSON.parse(request.body ?? "") as {
        cursor?: string;
        count: number;
      };
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
      const start =
        date === null
          ? 0
          : rows.findIndex((row) => String(row.date) === date && String(row.id) === id) + 1;
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
      const [start, size] = [
        positionOf(query(request).get("page_info")),
        number(request, "limit", 20),
      ];
      const next = `${base}/orders?limit=${size}&page_info=${encodeURIComponent(opaque(start + size))}`;
      return json({
        orders: rows.slice(start, start + size),
        next: start + size < rows.length ? next : null,
      });
    },
    first: (size) => get("/orders", { status: "any", limit: size }),
    next: (answer) =>
      typeof treeOf(answer).next === "string"
        ? { method: "GET", url: String(treeOf(answer).next) }
        : undefined,
    rows: (answer) => listOf(answer, "orders"),
  },
  {
    name: "URLs in a header, with a total",
    style: "link",
    answer(request, rows) {
      const [page, size] = [number(request, "page", 1), number(request, "per_page", 30)];
      const last = Math.max(1, Math.ceil(rows.length / size));
      const link = (one: number, rel: string) =>
        `<${base}/repos?per_page=${size}&page=${one}>; rel="${rel}"`;
      const links = [
        ...(page > 1 ? [link(page - 1, "prev")] : []),
        ...(page < last ? [link(page + 1, "next"), link(last, "last")] : []),
        ...(page > 1 ? [link(1, "first")] : []),
      ];
      const header = links.length > 0 ? { link: links.join(", ") } : {};
      return json(rows.slice((page - 1) * size, page * size), {
        "x-total-count": String(rows.length),
        ...header,
      });
    },
    first: (size) => get("/repos", { per_page: size }),
    next(answer) {
      const url = /<([^>]*)>; rel="next"/.exec(answer.headers.link ?? "")?.[1];
      return url === undefined ? undefined : { method: "GET", url };
    },
    rows: (answer) => answer.tree as SampleRow[],
  },
];
