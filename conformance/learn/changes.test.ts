import { parseExact } from "svc-connectors";
import { expect, test } from "vitest";
import { counted } from "../../fixtures/paging/counted.ts";
import {
  crawl,
  type Sample,
  type SampleAnswer,
  type SampleRequest,
  type SampleRow,
  toInteraction,
  toRecording,
} from "../../fixtures/paging/sample.ts";
import { linked } from "../../fixtures/paging/tokens.ts";
import type { ProviderChanges } from "../contract/learned.ts";
import { learnProvider } from "./learn.ts";

const samples = [...counted, ...linked];

const makeRows = (count: number): SampleRow[] =>
  Array.from({ length: count }, (_, at) => ({
    id: 501 + 7 * at,
    date: `${1_760_000_000_000 + at}`,
  }));
const sampleOf = (name: string): Sample => {
  const sample = samples.find((one) => one.name === name);
  if (!sample) throw new Error(`no sample ${name}`);
  return sample;
};
const learn = (sample: Sample, count = 5) => {
  const { exchanges } = crawl(sample, 2, (request) => sample.answer(request, makeRows(count)));
  return learnProvider(
    [
      toRecording(
        "items",
        exchanges.map(({ request, answer }) => toInteraction(request, answer)),
      ),
    ],
    {},
  );
};

function run(sample: Sample, changes: ProviderChanges, size = 2, learned = learn(sample)) {
  const provider = learned.provider(changes);
  return crawl(sample, size, (request) => ask(provider, request));
}
function ask(
  provider: ReturnType<ReturnType<typeof learn>["provider"]>,
  request: SampleRequest,
): SampleAnswer {
  const answer = provider.answer({
    method: request.method,
    url: new URL(request.url),
    headers: {},
    body: request.body ?? "",
    index: 0,
  });
  if ("unmatched" in answer) throw new Error(answer.unmatched);
  return { status: answer.status, headers: answer.headers, tree: parseExact(String(answer.body)) };
}
const idsOf = (rows: readonly SampleRow[]) => rows.map(({ id }) => id);
const allIds = idsOf(makeRows(5));
const counts = (sample: Sample, { exchanges }: ReturnType<typeof run>) =>
  exchanges.map(({ answer }) => sample.rows(answer).length);

const byNumber = sampleOf("numbers from 1 with links, totals and bounds");
const byOffset = sampleOf("offsets with a total");
const byCursor = sampleOf("cursors that are null at the end");
const byInteger = sampleOf("cursors that are integers, and given after every full page");
const byBody = sampleOf("cursors in a body that are given after the last page too");
const byLink = sampleOf("URLs in the body");
const byRow = sampleOf("the id of the last row");

test.each([
  byNumber,
  byOffset,
  byCursor,
  byBody,
  byLink,
  byRow,
])("a smaller page size of the provider gives more pages: $name", (sample) => {
  const given = run(sample, { pageSize: () => 1 }, 4);
  expect(counts(sample, given)).toEqual([1, 1, 1, 1, 1]);
  expect(idsOf(given.rows)).toEqual(allIds);
});

test.each([
  byNumber,
  byCursor,
  byBody,
  byLink,
])("pages without rows lead on to the rest: $name", (sample) => {
  const given = run(sample, { emptyPages: [0, 2, 3] });
  expect(counts(sample, given)).toEqual([0, 2, 0, 0, 2, 1]);
  expect(idsOf(given.rows)).toEqual(allIds);
});

test("numbers count the pages without rows", () => {
  const { exchanges } = run(byNumber, { emptyPages: [1] });
  expect(exchanges.map(({ answer }) => answer.tree)).toMatchObject([
    { meta: { current_page: 1, last_page: 4, total: 5 } },
    { meta: { current_page: 2, last_page: 4, from: null, to: null } },
    { meta: { current_page: 3, from: 3, to: 4 } },
    { meta: { current_page: 4, from: 5, to: 5 }, links: { next: null } },
  ]);
});

test.each([
  byCursor,
  byBody,
  byLink,
])("changed tokens come back changed, and lead on: $name", (sample) => {
  const change = (token: string) => `%2B ${token}+/=?&`;
  const plain = run(sample, {});
  const given = run(sample, { token: change });
  expect(idsOf(given.rows)).toEqual(allIds);
  expect(given.exchanges).toHaveLength(plain.exchanges.length);
  const texts = given.exchanges
    .slice(1)
    .map(({ request }) => JSON.stringify(request) + new URL(request.url).searchParams);
  expect(texts.every((text) => text.includes("%2B"))).toBe(true);
});

test("tokens of pages that were never recorded look like the recorded ones", () => {
  const tokensOf = (sample: Sample) =>
    run(sample, {}, 1).exchanges.map(
      ({ answer }) => (answer.tree as { next_cursor?: unknown }).next_cursor,
    );
  const integers = tokensOf(byInteger);
  expect(integers.every(Number.isSafeInteger)).toBe(true);
  const texts = tokensOf(byCursor).slice(0, -1);
  expect(texts.every((text) => /^[A-Za-z0-9+/]+=*$/.test(String(text)))).toBe(true);
  expect(new Set(texts).size).toBe(texts.length);
});

test("tokens of one run lead on in another", () => {
  const learned = learn(byCursor);
  const [first] = run(byCursor, {}, 1, learned).exchanges;
  const next = first && byCursor.next(first.answer, first.request, 1);
  expect(next && idsOf(byCursor.rows(ask(learned.provider(), next)))).toEqual([508]);
});

test.each([
  "kit",
  "kit-page-2",
  "a2l0LXBhZ2UtNzc=",
])("the token %s, which was never handed out, is refused", (token) => {
  const provider = learn(byCursor).provider();
  const request = byCursor.first(2);
  const answer = ask(provider, {
    ...request,
    url: `${request.url}&cursor=${encodeURIComponent(token)}`,
  });
  expect(answer).toMatchObject({ status: 400, tree: { error: "invalid cursor" } });
});

test("a token that is encoded twice is refused", () => {
  const learned = learn(byCursor);
  const { next_cursor: token } = ask(learned.provider(), byCursor.first(1)).tree as {
    next_cursor: string;
  };
  const request = byCursor.first(1);
  const askFor = (cursor: string) =>
    ask(learned.provider(), { ...request, url: `${request.url}&cursor=${cursor}` }).status;
  const once = encodeURIComponent(token);
  expect([askFor(once), askFor(encodeURIComponent(once))]).toEqual([200, 400]);
});

test("a refusal looks like those that were recorded", () => {
  const { exchanges } = crawl(byCursor, 2, (request) => byCursor.answer(request, makeRows(5)));
  const refused = toInteraction(
    { method: "GET", url: "https://api.example.com/other" },
    { status: 400, headers: {}, tree: { message: "Unknown." } },
  );
  const interactions = [
    ...exchanges.map(({ request, answer }) => toInteraction(request, answer)),
    refused,
  ];
  const provider = learnProvider([toRecording("items", interactions)], {}).provider();
  expect(
    ask(provider, { method: "GET", url: `${byCursor.first(2).url}&cursor=made-up` }),
  ).toMatchObject({
    status: 400,
    tree: { message: "Unknown." },
  });
});

test("a token that repeats itself is handed out from the second page on", () => {
  const given = run(byCursor, { cycle: "repeat" });
  expect(given.exchanges).toHaveLength(200);
  expect(new Set(given.exchanges.slice(1).map(({ request }) => request.url)).size).toBe(1);
});

test("two tokens in turn are handed out from the second page on", () => {
  const given = run(byLink, { cycle: "alternate" });
  expect(given.exchanges).toHaveLength(200);
  const urls = given.exchanges.slice(1).map(({ request }) => request.url);
  expect(new Set(urls).size).toBe(2);
  expect(urls[0]).not.toBe(urls[1]);
  expect(urls[0]).toBe(urls[2]);
});

test("a window ends the listing before its rows do, and the total stays true", () => {
  const given = run(byOffset, { window: 3 });
  expect(given.exchanges.map(({ answer }) => answer.tree)[0]).toMatchObject({
    paging: { total: 5 },
  });
  const byFlag = run(byBody, { window: 3 });
  expect(idsOf(byFlag.rows)).toEqual(allIds.slice(0, 3));
  expect(byFlag.exchanges.at(-1)?.answer.tree).toMatchObject({ has_more: false });
});

test("rows that go while they are paged push numbers and offsets, not tokens", () => {
  const rows: ProviderChanges["rows"] = (_, all, requestCount) =>
    requestCount === 0 ? all : all.slice(1);
  expect(idsOf(run(byNumber, { rows }).rows)).toEqual([501, 508, 522, 529]);
  expect(idsOf(run(byCursor, { rows }).rows)).toEqual(allIds);
  expect(idsOf(run(byRow, { rows }).rows)).toEqual(allIds);
});

test("a token goes on behind its row even when that row has gone", () => {
  const rows: ProviderChanges["rows"] = (_, all, requestCount) =>
    requestCount === 0 ? all : all.filter((_row, at) => at !== 1);
  expect(idsOf(run(byCursor, { rows }).rows)).toEqual(allIds);
  expect(idsOf(run(byRow, { rows }).rows)).toEqual(allIds);
});

test("the last word on an answer is the caller's", () => {
  const provider = learn(byNumber).provider({
    answer: (answer, listing) => ({
      ...answer,
      headers: { ...answer.headers, "x-listing": listing.id },
    }),
  });
  expect(ask(provider, byNumber.first(2)).headers["x-listing"]).toBe("GET /items");
});

test("a page beyond the end is empty and says so", () => {
  const answer = ask(learn(byNumber).provider(), {
    method: "GET",
    url: "https://api.example.com/items?page=9&per_page=2",
  });
  expect(answer.tree).toMatchObject({
    data: [],
    meta: { current_page: 9, from: null, to: null, last_page: 3, total: 5 },
    links: { next: null },
  });
});

test("a page beyond the end is refused where the recording shows that it is", () => {
  const { exchanges } = crawl(byNumber, 2, (request) => byNumber.answer(request, makeRows(5)));
  const beyond = { method: "GET" as const, url: "https://api.example.com/items?page=4&per_page=2" };
  const refused = toInteraction(beyond, {
    status: 404,
    headers: {},
    tree: { message: "No such page." },
  });
  const interactions = exchanges.map(({ request, answer }) => toInteraction(request, answer));
  const learned = learnProvider([toRecording("items", [...interactions, refused])], {});
  expect(ask(learned.provider(), beyond)).toMatchObject({ status: 404 });
  expect(ask(learned.provider({ rows: () => makeRows(7) }), beyond)).toMatchObject({
    status: 200,
    tree: { data: [{ id: 543 }] },
  });
});

test("an untouched provider answers recorded requests to the byte", () => {
  const { request, response } = toInteraction(
    byNumber.first(2),
    byNumber.answer(byNumber.first(2), makeRows(2)),
  );
  const body = ` ${response.body?.replaceAll(":", ": ")}\n`.replaceAll(`https: `, "https:");
  const provider = learnProvider(
    [toRecording("items", [{ request, response: { ...response, body } }])],
    {},
  ).provider();
  const answer = provider.answer({
    method: "GET",
    url: new URL(request.url),
    headers: {},
    body: "",
    index: 0,
  });
  expect("body" in answer && String(answer.body)).toBe(body);
});
