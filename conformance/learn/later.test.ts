/** Several recordings are learned together, also when the provider's data went on between them. */
import { expect, test } from "vitest";
import { counted } from "../../fixtures/paging/counted.ts";
import {
  crawl,
  type Sample,
  type SampleRow,
  toInteraction,
  toRecording,
} from "../../fixtures/paging/sample.ts";
import { linked } from "../../fixtures/paging/tokens.ts";
import { learnProvider } from "./learn.ts";

const makeRows = (from: number, to: number): SampleRow[] =>
  Array.from({ length: to - from }, (_, at) => ({
    id: 501 + 7 * (from + at),
    name: `Row ${from + at}`,
  }));
const sampleOf = (name: string): Sample => {
  const sample = [...counted, ...linked].find((one) => one.name === name);
  if (!sample) throw new Error(`no sample ${name}`);
  return sample;
};
const record = (
  name: string,
  sample: Sample,
  rows: readonly SampleRow[],
  options: Parameters<typeof toRecording>[2] = {},
  pages = 9,
) => {
  const { exchanges } = crawl(sample, 2, (request) => sample.answer(request, rows));
  return toRecording(
    name,
    exchanges.slice(0, pages).map(({ request, answer }) => toInteraction(request, answer)),
    options,
  );
};
const rowsOf = (
  sample: Sample,
  recordings: readonly ReturnType<typeof toRecording>[],
  size = 3,
) => {
  const learned = learnProvider(recordings, {});
  const provider = learned.provider();
  const { rows } = crawl(sample, size, ({ method, url, body = "" }) => {
    const answer = provider.answer({ method, url: new URL(url), headers: {}, body, index: 0 });
    if ("unmatched" in answer) throw new Error(answer.unmatched);
    return {
      status: answer.status,
      headers: answer.headers,
      tree: JSON.parse(String(answer.body)),
    };
  });
  expect(
    learned.listings.map(({ paging }) =>
      paging.style === "unknown" ? paging.problem : paging.style,
    ),
  ).toEqual([sample.style]);
  return rows;
};

const byNumber = sampleOf("numbers from 1 with links, totals and bounds");
const byBody = sampleOf("cursors in a body that are given after the last page too");
const byLink = sampleOf("URLs in a header, with a total");

test.each([
  byNumber,
  byLink,
])("new rows at the front of a later recording stand behind the known ones: $name", (sample) => {
  const later = record(
    "b-resumed",
    sample,
    [...makeRows(90, 92), ...makeRows(0, 5)],
    { state: true },
    1,
  );
  expect(rowsOf(sample, [record("a-full", sample, makeRows(0, 5)), later])).toEqual([
    ...makeRows(0, 5),
    ...makeRows(90, 92),
  ]);
});

test.each([
  byNumber,
  byBody,
])("new rows at the end of a later recording stand behind the known ones: $name", (sample) => {
  const later = record("b-full", sample, makeRows(0, 7));
  expect(rowsOf(sample, [record("a-full", sample, makeRows(0, 5)), later])).toEqual(makeRows(0, 7));
});

test("a run that goes on from a saved token adds its rows", () => {
  const [all, full] = [makeRows(0, 7), makeRows(0, 5)];
  const [first, ...others] = crawl(byBody, 2, (request) => byBody.answer(request, full)).exchanges;
  const last = others.at(-1);
  const { next_cursor: cursor } = last?.answer.tree as { next_cursor: string };
  const request = { ...byBody.first(2), body: JSON.stringify({ count: 2, cursor }) };
  const resumed = toRecording("resumed", [toInteraction(request, byBody.answer(request, all))], {
    state: true,
  });
  const recorded = [first, ...others].flatMap((one) =>
    one ? [toInteraction(one.request, one.answer)] : [],
  );
  expect(rowsOf(byBody, [toRecording("full", recorded), resumed])).toEqual(all);
});

test("a check that asks for a single row does not change how the listing is paged", () => {
  const request = { method: "GET" as const, url: "https://api.example.com/items?per_page=1" };
  const check = toRecording(
    "a-check",
    [toInteraction(request, byNumber.answer(request, makeRows(0, 5)))],
    {
      verb: "check",
    },
  );
  const learned = learnProvider([check, record("b-full", byNumber, makeRows(0, 5))], {});
  expect(learned.listings).toMatchObject([
    { pageSize: 2, rows: makeRows(0, 5), recordings: ["a-check", "b-full"] },
  ]);
  expect(rowsOf(byNumber, [check, record("b-full", byNumber, makeRows(0, 5))], 1)).toEqual(
    makeRows(0, 5),
  );
});

test("every recorded token leads to its place, though another recording has other ones", () => {
  const renamed = (
    { request, response }: ReturnType<typeof toInteraction>,
    mark: string,
    at: number,
  ) => ({
    request: {
      ...request,
      body: request.body?.replace(/"cursor":"[^"]*"/, `"cursor":"${mark}${at}"`) ?? "",
    },
    response: {
      ...response,
      body:
        response.body?.replace(/"next_cursor":"[^"]*"/, `"next_cursor":"${mark}${at + 1}"`) ?? "",
    },
  });
  const exchanges = crawl(byBody, 2, (request) => byBody.answer(request, makeRows(0, 4))).exchanges;
  const marked = (mark: string) =>
    exchanges.map(({ request, answer }, at) => renamed(toInteraction(request, answer), mark, at));
  const provider = learnProvider(
    [toRecording("one", marked("x")), toRecording("two", marked("y"))],
    {},
  ).provider();
  for (const cursor of ["x1", "y1"]) {
    const body = JSON.stringify({ count: 1, cursor });
    const answer = provider.answer({
      method: "POST",
      url: new URL(byBody.first(1).url),
      headers: {},
      body,
      index: 0,
    });
    expect("body" in answer && JSON.parse(String(answer.body)).added).toEqual(makeRows(2, 3));
  }
});

test.each([
  byNumber,
  sampleOf("cursors that are null at the end"),
])("a listing of one page is paged as its provider's other listings are: $name", (sample) => {
  const elsewhere = (text: string) =>
    text.replaceAll(/example\.com\/(items|pages)/g, "example.com/things");
  const { request, response } =
    record("b", sample, makeRows(50, 52)).interactions[0] ??
    toInteraction(sample.first(2), sample.answer(sample.first(2), []));
  const things = {
    request: { ...request, url: elsewhere(request.url) },
    response: { ...response, body: elsewhere(response.body ?? "") },
  };
  const learned = learnProvider(
    [toRecording("b-things", [things]), record("a-full", sample, makeRows(0, 5))],
    {},
  );
  const provider = learned.provider();
  const there: Sample = {
    ...sample,
    first: (size) => ({ ...sample.first(size), url: elsewhere(sample.first(size).url) }),
  };
  const { rows, exchanges } = crawl(there, 1, ({ method, url, body = "" }) => {
    const answer = provider.answer({ method, url: new URL(url), headers: {}, body, index: 0 });
    if ("unmatched" in answer) throw new Error(answer.unmatched);
    return {
      status: answer.status,
      headers: answer.headers,
      tree: JSON.parse(String(answer.body)),
    };
  });
  expect(rows).toEqual(makeRows(50, 52));
  expect(exchanges).toHaveLength(2);
  const next = "https://api.example.com/things?page=2";
  if (sample === byNumber)
    expect(exchanges[0]?.answer.tree).toMatchObject({
      links: { next, last: next },
      meta: { last_page: 2 },
    });
});
