/** Providers whose pages are counted: by number or by offset. */
import { toText } from "../json.ts";
import {
  base,
  get,
  json,
  listOf,
  moved,
  number,
  type Sample,
  type SampleRow,
  treeOf,
} from "./sample.ts";

export const counted: readonly Sample[] = [
  {
    name: "numbers from 1 with links, totals and bounds",
    style: "number",
    answer(request, rows) {
      const [page, size] = [number(request, "page", 1), number(request, "per_page", 15)];
      const last = Math.max(1, Math.ceil(rows.length / size));
      const data = rows.slice((page - 1) * size, page * size);
      const link = (one: number) => `${base}/items?page=${one}`;
      const bounds =
        data.length > 0 ? [(page - 1) * size + 1, (page - 1) * size + data.length] : [null, null];
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
      return json({
        tasks: rows.slice(page * size, (page + 1) * size),
        last_page: (page + 1) * size >= rows.length,
      });
    },
    first: (size) => get("/tasks", { page: 0, limit: size, archived: "false" }),
    next: (answer, request) =>
      treeOf(answer).last_page === true
        ? undefined
        : moved(request, { page: number(request, "page", 0) + 1 }),
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
      (answer.tree as unknown[]).length === 0
        ? undefined
        : moved(request, { p: number(request, "p", 1) + 1 }),
    rows: (answer) => answer.tree as SampleRow[],
  },
  {
    name: "offsets with a total",
    style: "offset",
    answer(request, rows) {
      const [offset, limit] = [number(request, "offset", 0), number(request, "limit", 20)];
      return json({
        data: rows.slice(offset, offset + limit),
        paging: { offset, limit, total: rows.length },
      });
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
      const { options } = JSON.parse(request.body ?? "") as {
        options: { count: number; offset: number };
      };
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
];
