import fc from "fast-check";
import { parseExact } from "svc-connectors";
import { describe, expect, test } from "vitest";
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
import type { LearnedProvider, ProviderChanges } from "../contract/learned.ts";
import type { Provider } from "../contract/network.ts";
import { learnProvider } from "./learn.ts";

const samples = [...counted, ...linked];

/** Ids that no count, size or offset can be taken for. */
const makeRows = (count: number, from = 0): SampleRow[] =>
  Array.from({ length: count }, (_, at) => ({
    id: 501 + 7 * (from + at),
    name: `Row ${from + at}`,
    date: String(1_760_000_000_000 + (from + at) * 5),
  }));

const recordedSize = 2;

function learn(sample: Sample, rowCount = sample.recordedCount ?? 5): LearnedProvider {
  const { exchanges } = crawl(sample, recordedSize, (request) =>
    sample.answer(request, makeRows(rowCount)),
  );
  return learnProvider(
    [
      toRecording(
        "items",
        exchanges.map(({ request, answer }) => toInteraction(request, answer)),
      ),
    ],
    {},
  );
}

function ask(provider: Provider, request: SampleRequest): SampleAnswer {
  const url = new URL(request.url);
  const answer = provider.answer({
    method: request.method,
    url,
    headers: {},
    body: request.body ?? "",
    index: 0,
  });
  if ("unmatched" in answer) throw new Error(answer.unmatched);
  return { status: answer.status, headers: answer.headers, tree: parseExact(String(answer.body)) };
}

const crawlLearned = (
  sample: Sample,
  learned: LearnedProvider,
  size: number,
  changes?: ProviderChanges,
) => {
  const provider = learned.provider(changes);
  return crawl(sample, size, (request) => ask(provider, request));
};

describe.each(samples)("$name", (sample) => {
  const learned = learn(sample);

  test("is one listing with all its rows and its style", () => {
    expect(learned.listings).toHaveLength(1);
    expect(
      learned.listings[0]?.paging.style === "unknown" ? learned.listings[0].paging.problem : "",
    ).toBe("");
    expect(learned.listings[0]).toMatchObject({
      paging: { style: sample.style },
      rows: makeRows(sample.recordedCount ?? 5),
      pageSize: recordedSize,
    });
  });

  test("recorded requests get their recorded answers", () => {
    const truth = crawl(sample, recordedSize, (request) =>
      sample.answer(request, makeRows(sample.recordedCount ?? 5)),
    );
    expect(crawlLearned(sample, learned, recordedSize).exchanges).toEqual(truth.exchanges);
  });

  test("any rows at any page size come as the true provider gives them", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 1, max: 7 }),
        (count, wanted) => {
          const size = sample.fixedSize ?? wanted;
          const rows = makeRows(count, 100);
          const truth = crawl(sample, size, (request) => sample.answer(request, rows));
          const given = crawlLearned(sample, learned, size, { rows: () => rows });
          expect(given.rows).toEqual(rows);
          expect(given.exchanges.length).toBe(truth.exchanges.length);
          if (!sample.hasTokens && !sample.name.includes("things that the rows name"))
            expect(given.exchanges).toEqual(truth.exchanges);
        },
      ),
    );
  });
});
