import { expect, test } from "vitest";
import { toRecording } from "../../fixtures/paging/sample.ts";
import type { Interaction, Recording } from "../contract/recording.ts";
import { learnProvider } from "./learn.ts";

const origin = "https://api.example.com";
const interaction = (path: string, tree: unknown, status = 200, body?: string): Interaction => ({
  request: {
    method: body === undefined ? "GET" : "POST",
    url: `${origin}${path}`,
    ...(body === undefined ? {} : { body }),
  },
  response: {
    status,
    headers: { "content-type": "application/json" },
    body: typeof tree === "string" ? tree : JSON.stringify(tree),
  },
});
function asking(
  recordings: readonly Recording[],
  declared: Parameters<typeof learnProvider>[1] = {},
) {
  const learned = learnProvider(recordings, declared);
  const provider = learned.provider();
  const ask = (path: string, body?: string) => {
    const answer = provider.answer({
      method: body === undefined ? "GET" : "POST",
      url: new URL(path, origin),
      headers: {},
      body: body ?? "",
      index: 0,
    });
    return "unmatched" in answer
      ? answer.unmatched
      : { status: answer.status, text: String(answer.body) };
  };
  return { learned, ask };
}

test("what is no listing is answered as recorded, whatever the order of its parameters, again and again", () => {
  const { learned, ask } = asking([
    toRecording("check", [
      interaction("/user?a=1&b=2", { id: 1, roles: [{ id: 2 }] }),
      interaction("/token", { access_token: "one" }, 200, '{"grant":"x","id":7}'),
      interaction("/job", { state: "waits" }),
      interaction("/job", { state: "done" }),
    ]),
  ]);
  expect(learned.listings).toEqual([]);
  expect(ask("/user?b=2&a=1")).toMatchObject({ text: '{"id":1,"roles":[{"id":2}]}' });
  expect(ask("/token", '{"id": 7, "grant": "x"}')).toMatchObject({
    text: '{"access_token":"one"}',
  });
  expect([ask("/job"), ask("/job"), ask("/job")]).toMatchObject([
    { text: '{"state":"waits"}' },
    { text: '{"state":"done"}' },
    { text: '{"state":"done"}' },
  ]);
});

test("answers of failed runs are not learned, and successes win over refusals", () => {
  const { ask } = asking([
    toRecording("a-denied", [interaction("/user", { name: "Eve" }), interaction("/lost", {})], {
      outcome: "failed",
    }),
    toRecording("b-busy", [
      interaction("/user", { message: "Later." }, 503),
      interaction("/only", { message: "Gone." }, 404),
    ]),
    toRecording("check", [interaction("/user", { name: "Ada" })]),
  ]);
  expect(ask("/user")).toEqual({ status: 200, text: '{"name":"Ada"}' });
  expect(ask("/only")).toMatchObject({ status: 404 });
  expect(ask("/lost")).toMatch(/was not recorded/);
});

test("a request that was never recorded is not answered, and the nearest recorded one is named", () => {
  const { ask } = asking([toRecording("check", [interaction("/user?a=1", { name: "Ada" })])]);
  expect(ask("/user?a=2")).toMatch(
    /GET https:\/\/api\.example\.com\/user\?a=2 was not recorded; .*\/user\?a=1, but: parameter a=2 instead of 1/,
  );
});

test("listings below other parents are other listings, and learn from each other", () => {
  const page = (parent: number, number: number, ids: number[], last: number) =>
    interaction(`/lists/${parent}/people?page=${number}&per_page=2`, {
      data: ids.map((id) => ({ id })),
      meta: { page: number, last_page: last },
    });
  const { learned, ask } = asking([
    toRecording("people", [page(1, 1, [31, 32], 2), page(1, 2, [33], 2), page(2, 1, [44, 45], 1)]),
  ]);
  expect(learned.listings.map(({ id, rows }) => [id, rows.length])).toEqual([
    ["GET /lists/1/people", 3],
    ["GET /lists/2/people", 2],
  ]);
  expect(ask("/lists/2/people?page=1&per_page=1")).toMatchObject({
    text: '{"data":[{"id":44}],"meta":{"page":1,"last_page":2}}',
  });
});

test("a check that asks for one row of a listing leaves what its reads show of the pages to be learned", () => {
  const page = (query: string, ids: number[], last: number) =>
    interaction(`/tickets?${query}`, {
      data: ids.map((id) => ({ id })),
      meta: { last_page: last },
    });
  const { ask } = asking([
    toRecording("check", [page("per_page=1", [51], 3)], { verb: "check" }),
    toRecording("tickets", [
      page("sort=id&per_page=2&page=1", [51, 52], 2),
      page("sort=id&per_page=2&page=2", [53], 2),
    ]),
  ]);
  expect(ask("/tickets?sort=id&per_page=1&page=3")).toMatchObject({
    text: '{"data":[{"id":53}],"meta":{"last_page":3}}',
  });
  expect(ask("/tickets?per_page=1")).toMatchObject({
    text: '{"data":[{"id":51}],"meta":{"last_page":3}}',
  });
});

test("parameters that stay the same tell listings apart", () => {
  const page = (status: string, number: number, ids: number[]) =>
    interaction(`/mails?status=${status}&page=${number}`, {
      data: ids.map((id) => ({ id })),
      total: status === "sent" ? 3 : 1,
    });
  const { learned, ask } = asking([
    toRecording("mails", [
      page("sent", 1, [21, 22]),
      page("sent", 2, [23]),
      page("draft", 1, [29]),
    ]),
  ]);
  expect(learned.listings).toMatchObject([
    { fixed: { status: "sent" }, rows: [{ id: 21 }, { id: 22 }, { id: 23 }] },
    { fixed: { status: "draft" }, rows: [{ id: 29 }] },
  ]);
  expect(
    learned.listingOf({
      method: "GET",
      url: new URL(`${origin}/mails?page=7&status=draft`),
      body: "",
    })?.id,
  ).toBe("GET /mails?status=draft");
  expect(ask("/mails?status=lost&page=1")).toMatch(/was not recorded/);
});

test("a matched header tells listings apart", () => {
  const page = (brand: string, id: number): Interaction => {
    const { request, response } = interaction("/posts", { data: [{ id }] });
    return { request: { ...request, headers: { brand_id: brand } }, response };
  };
  const learned = learnProvider([toRecording("posts", [page("b1", 61), page("b2", 62)])], {});
  expect(learned.listings.map(({ id }) => id)).toEqual([
    "GET /posts {brand_id=b1}",
    "GET /posts {brand_id=b2}",
  ]);
  const answer = learned.provider().answer({
    method: "GET",
    url: new URL(`${origin}/posts`),
    headers: { brand_id: "b2" },
    body: "",
    index: 0,
  });
  expect("body" in answer && String(answer.body)).toContain("62");
});

test("numbers that no double holds are given digit by digit", () => {
  const text = '{"items":[{"id":9007199254740993,"price":0.30000000000000004123}],"total":1}';
  const { learned, ask } = asking([toRecording("items", [interaction("/items", text)])]);
  const rows = learned.listings[0]?.rows ?? [];
  const provider = learned.provider({ rows: () => [...rows, ...rows] });
  const answer = provider.answer({
    method: "GET",
    url: new URL(`${origin}/items`),
    headers: {},
    body: "",
    index: 0,
  });
  const row = '{"id":9007199254740993,"price":0.30000000000000004123}';
  expect("body" in answer && String(answer.body)).toBe(`{"items":[${row},${row}],"total":2}`);
  expect(ask("/items")).toMatchObject({ text });
});

test("arrays beside the rows follow the rows that name them", () => {
  const page = (offset: number, kinds: string[]) =>
    interaction(`/trades?offset=${offset}&limit=2`, {
      trades: kinds.map((kind, at) => ({ id: 70 + offset + at, kind })),
      kinds: [...new Set(kinds)].map((code) => ({ code })),
      total: 3,
    });
  const { ask } = asking([toRecording("trades", [page(0, ["a", "b"]), page(2, ["a"])])]);
  expect(ask("/trades?offset=1&limit=1")).toMatchObject({
    text: '{"trades":[{"id":71,"kind":"b"}],"kinds":[{"code":"b"}],"total":3}',
  });
});

test("other arrays are empty on pages that were never recorded", () => {
  const page = (
    cursor: string | undefined,
    ids: number[],
    removed: number[],
    next: string,
    has_more: boolean,
  ) =>
    interaction(
      "/sync",
      { added: ids.map((id) => ({ id })), removed: removed.map((id) => ({ id })), next, has_more },
      200,
      JSON.stringify({ count: 2, cursor }),
    );
  const { ask } = asking([
    toRecording("sync", [
      page(undefined, [81, 82], [1], "x1", true),
      page("x1", [83], [], "x2", false),
    ]),
  ]);
  expect(ask("/sync", '{"count":2}')).toMatchObject({
    text: '{"added":[{"id":81},{"id":82}],"removed":[{"id":1}],"next":"x1","has_more":true}',
  });
  expect(ask("/sync", '{"count":1}')).toMatchObject({
    text: expect.stringMatching(
      /^{"added":\[{"id":81}\],"removed":\[\],"next":"kit-page-[0-9a-f]{5}-1","has_more":true}$/,
    ),
  });
});

test("a listing of which more is said than recorded is unknown, says why, and gives what is recorded", () => {
  const { learned, ask } = asking([
    toRecording("items", [
      interaction("/items?sort=name", { items: [{ id: 91 }], next_page_token: "abc" }),
    ]),
  ]);
  expect(learned.listings[0]?.paging).toMatchObject({
    style: "unknown",
    problem: expect.stringContaining('Declare paging for "/items" in conformance.yaml'),
  });
  expect(ask("/items?sort=name")).toMatchObject({
    text: '{"items":[{"id":91}],"next_page_token":"abc"}',
  });
  expect(ask("/items?sort=age")).toMatch(/was not recorded/);
});

test("recorded pages that overlap are not taken for a listing that is understood", () => {
  const page = (number: number, ids: number[]) =>
    interaction(`/items?page=${number}&limit=2`, { items: ids.map((id) => ({ id })) });
  const { learned } = asking([
    toRecording("items", [page(1, [11, 12]), page(2, [14]), page(3, [15, 16])]),
  ]);
  expect(learned.listings[0]?.paging.style).toBe("unknown");
});

test("declared paging goes before what would be learned", () => {
  const page = (bookmark: string | undefined, ids: number[], links: unknown) =>
    interaction(`/items${bookmark === undefined ? "" : `?bookmark=${bookmark}`}`, {
      rows: ids.map((id) => ({ id })),
      more: links,
    });
  const recordings = [
    toRecording("items", [page(undefined, [11, 12], ["q1", "z"]), page("q1", [13], [])]),
  ];
  expect(asking(recordings).learned.listings[0]?.paging).toMatchObject({
    style: "unknown",
    problem: expect.stringContaining("bookmark"),
  });
  const numbered = [
    toRecording("items", [
      interaction("/i?w=1&z=2", { rows: [{ id: 1 }, { id: 2 }] }),
      interaction("/i?w=2&z=2", { rows: [{ id: 3 }] }),
    ]),
  ];
  const { learned, ask } = asking(numbered, {
    "/i": { style: "number", parameter: "w", size: "z", rows: "/rows" },
  });
  expect(learned.listings[0]?.paging).toMatchObject({ style: "number", parameter: "w", size: "z" });
  expect(ask("/i?w=3&z=1")).toMatchObject({ text: '{"rows":[{"id":3}]}' });
});
