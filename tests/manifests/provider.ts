/**
 * A provider of which the manifests of the comparison use what they need: collections in pages of
 * several kinds, by time, below one another, behind faults and log-ins. Both interpreters ask it.
 */
import { gzipSync } from "node:zlib";
import type { Handler, ReceivedRequest } from "../../simulators/loopback.ts";
import { answerJson } from "../../simulators/loopback.ts";
import { zipOf } from "../zip-file.ts";

type Row = Record<string, unknown>;
const day = (number: number) => new Date(Date.UTC(2026, 0, number, 6, 30)).toISOString();

/** Rows by their collection; `at` rises with `id`. */
const collections: Record<string, Row[]> = {
  orders: Array.from({ length: 7 }, (_, index) => ({
    id: index + 1,
    name: `Order ${index + 1}`,
    state: index % 3 === 0 ? "draft" : "sent",
    amount: index * 1.5,
    at: day(index * 2 + 1).replace(".000Z", "Z"),
    day: day(index * 2 + 1).slice(0, 10),
    seconds: Date.parse(day(index * 2 + 1)) / 1000,
    Customer: { FullName: `Ann ${index}`, tags: ["a", "b"], place: { city: "Rome" } },
  })),
  shops: [
    { id: "s1", name: "North", at: "2026-01-02T00:00:00Z", region: { code: "eu" } },
    { id: "s2", name: "South", at: "2026-01-04T00:00:00Z", region: { code: "us" } },
    { id: "s3", name: "Void", at: "2026-01-06T00:00:00Z", region: null },
  ],
};
const linesOf = (shop: string): Row[] =>
  shop === "s3"
    ? []
    : [1, 2, 3].map((number) => ({
        id: `${shop}-${number}`,
        shop,
        at: `2026-01-${String(number * 3).padStart(2, "0")}T00:00:00Z`,
      }));

collections.listing = collections.shops ?? [];

const archived = [
  { name: "first.jsonl", text: '{"id":1,"name":"one"}\n{"id":2,"name":"two"}\n' },
  { name: "second.jsonl", text: '{"id":3,"name":"three"}\n', method: 0 },
];

/** Answers that are no JSON, or none at all, by their paths. */
const answers: Readonly<Record<string, readonly [type: string, text: string]>> = {
  "/shops.xml": [
    "application/xml",
    `<?xml version="1.0" encoding="UTF-8"?>
<!-- <shop/> --><shops xmlns:x="urn:x" total="2">
  <shop id="1"><name>North &amp; <![CDATA[<Sons>]]></name><x:tag>a</x:tag><x:tag>b</x:tag><none/></shop>
  <shop id="2"><name> Süd &#252; </name>text<x:tag/></shop>
</shops>`,
  ],
  "/shop.xml": ["text/xml; charset=utf-8", `<shops><shop id="1"><name>Only</name></shop></shops>`],
  "/declared.xml": [
    "application/xml",
    `<!DOCTYPE shops [<!ENTITY who "Ann">]><shops><shop id="1"><name>by &who;</name></shop></shops>`,
  ],
  "/broken.xml": ["application/xml", `<shops><shop id="1"><name>North</shop></shops>`],
  "/page.html": ["text/html", "<html><body>Maintenance</body></html>"],
  "/empty.json": ["application/json", ""],
};

/** Faults that a path asks for: how often, and with what. */
const faults = /^\/flaky\/(\d+)\/(\d+)\//;

/** A provider that forgets nothing of what it was asked, in plain words. */
export function createShop(scheme: "http" | "https"): Handler {
  const tries = new Map<string, number>();
  return (request, response) => {
    const url = new URL(request.url, "https://x");
    const [, times, status] = faults.exec(url.pathname) ?? [];
    if (times !== undefined) {
      const seen = (tries.get(request.url) ?? 0) + 1;
      tries.set(request.url, seen);
      if (seen <= Number(times))
        return answerJson(
          response,
          Number(status),
          { error: { message: "come back later", code: "busy" } },
          { "X-Wait": "7", "X-Until": String(Date.parse("2026-01-15T12:00:30Z") / 1000) },
        );
    }
    const path = url.pathname.replace(faults, "/");
    if (path === "/token") {
      const token = `minted-${request.body.length}-Zq81LmNx72Kp`;
      return answerJson(response, 200, {
        access_token: token,
        expires_in: 3600,
        ...{ token, lasts: 600 },
        ...{ refresh_token: "rotated-Hy62KpWx81Nc", renewal: "renewed-Lu45GsTz93Qm" },
      });
    }
    if (path === "/login")
      return answerJson(response, 200, { data: { session: "session-Vb73QwErTy91Uz" } });
    if (path === "/exports") return answerJson(response, 200, { id: "e1", state: "queued" });
    const ordered = /^\/exports\/(\w+)$/.exec(path);
    if (ordered) {
      const asked = (tries.get(path) ?? 0) + 1;
      tries.set(path, asked);
      const files = ["a", "b"].map((name) => `${name}-${ordered[1]}`);
      return answerJson(response, 200, { state: asked < 2 ? "running" : "done", files });
    }
    if (path === "/archive.zip")
      return void response
        .writeHead(200, { "content-type": "application/zip" })
        .end(zipOf(archived));
    if (path === "/nothing") return void response.writeHead(204).end();
    const answer = answers[path];
    if (answer) return void response.writeHead(200, { "content-type": answer[0] }).end(answer[1]);
    if (path.startsWith("/echo/"))
      return answerJson(response, 200, { data: [{ id: url.pathname, name: url.search }] });
    if (path.startsWith("/files/"))
      return void response
        .writeHead(200, { "content-type": "application/gzip" })
        .end(gzipSync(`{"id":1,"name":"${path.slice(7)}"}\n{"id":2,"name":"two"}\n`));
    if (path === "/asked")
      return answerJson(response, 200, {
        data: ["1", "2"].map((id) => ({
          id,
          parts: Object.fromEntries(
            (url.searchParams.get("fields") ?? "").split(",").map((name) => [name, `${name}${id}`]),
          ),
        })),
      });
    if (path === "/status") return answerJson(response, 404, { message: "no such thing" });
    if (path === "/fields")
      return answerJson(response, 200, {
        fields: [
          ...[{ name: "id", kind: "integer" }, { name: "name", kind: "text" }, { name: "secret" }],
          ...[
            { name: "codes", kind: "many", of: "numbers" },
            { name: "state", kind: "many" },
          ],
          { name: "at", kind: "timestamp_with_timezone" },
        ],
      });
    if (path === "/lines.jsonl")
      return void response
        .writeHead(200, { "content-type": "application/x-ndjson" })
        .end((collections.orders ?? []).map((row) => JSON.stringify(row)).join("\n"));
    if (path === "/rows.csv")
      return void response
        .writeHead(200, { "content-type": "text/csv" })
        .end('id,name,note\n1,Ann,"a, ""b"""\n2,Bo,\n3,"two\nlines",x\n');
    const below = /^\/shops\/([\w%-]+)\/lines$/.exec(path);
    const rows = below ? linesOf(String(below[1])) : collections[path.slice(1)];
    if (!rows) return answerJson(response, 404, { message: `nothing at ${path}` });
    answerPage(request, url, rows, response, scheme);
  };
}

/** Answers with the requested part of a collection: since and until, then a page. */
function answerPage(
  request: ReceivedRequest,
  url: URL,
  all: readonly Row[],
  response: Parameters<Handler>[1],
  scheme: string,
): void {
  const body = bodyOf(request);
  const asked = (name: string) => {
    const value = url.searchParams.get(name) ?? body[name];
    return value === undefined || value === null ? undefined : String(value);
  };
  const [from, to] = [asked("since"), asked("until")];
  const field = asked("by") ?? "at";
  const by = (row: Row) => String(row[field]);
  const found = all.filter(
    (row) => (from === undefined || by(row) >= from) && (to === undefined || by(row) <= to),
  );
  if (asked("order") === "desc") found.reverse();
  const size = Number(asked("limit") ?? 3);
  const start =
    asked("page") !== undefined
      ? (Number(asked("page")) - Number(asked("first") ?? 1)) * size
      : Number(asked("offset") ?? asked("after") ?? 0);
  const rows = found.slice(start, start + size);
  const hasMore = start + size < found.length;
  const next = new URL(url);
  next.searchParams.set("after", String(start + size));
  const link = `${next.pathname}${next.search}`;
  answerJson(
    response,
    200,
    {
      data: rows,
      meta: { next: hasMore ? String(start + size) : null, total: found.length, has_more: hasMore },
      nested: { inner: [{ items: rows.slice(0, 1) }, { items: rows.slice(1) }] },
      map: Object.fromEntries(rows.map((row) => [String(row.id), row])),
      empty: {},
      ...(hasMore ? { next_path: link.slice(1) } : {}),
    },
    {
      "X-Next": hasMore ? String(start + size) : "",
      ...(hasMore ? { Link: `<${scheme}://${request.host}${link}>; rel="next"` } : {}),
    },
  );
}

function bodyOf({ body, headers }: ReceivedRequest): Row {
  if (body === "") return {};
  if (String(headers["content-type"]).includes("form"))
    return Object.fromEntries(new URLSearchParams(body));
  try {
    return JSON.parse(body) as Row;
  } catch {
    return {};
  }
}
