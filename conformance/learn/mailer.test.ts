import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadRecordings } from "../fixtures/load.ts";
import { learnProvider } from "./learn.ts";

const { recordings } = await loadRecordings(
  fileURLToPath(new URL("../../connectors/sources/mailer/fixtures", import.meta.url)),
);
const learned = learnProvider(recordings, {});

test("the mailer's recordings show numbered listings and nothing that is not understood", () => {
  expect(learned.listings.length).toBeGreaterThan(10);
  expect(learned.listings.filter(({ paging }) => paging.style !== "number")).toEqual([]);
});

test("each recording of the mailer gets its own answers again", () => {
  for (const { interactions, outcome } of recordings) {
    if (outcome.status === "failed") continue;
    const provider = learned.provider();
    for (const { request, response } of interactions) {
      const { method, body = "", headers = {} } = request;
      const answer = provider.answer({
        method,
        url: new URL(request.url),
        headers,
        body,
        index: 0,
      });
      expect("unmatched" in answer ? answer.unmatched : String(answer.body)).toBe(response.body);
    }
  }
});
