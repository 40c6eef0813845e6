/** Runs the example of README.md: three recorded pages become one model and one listing. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { toRecording } from "../../fixtures/paging/sample.ts";
import { readExchanges } from "./exchanges.ts";
import { groupListings } from "./grouping.ts";
import { learnProvider } from "./learn.ts";
import { learnListings } from "./listing.ts";
import { learnModel } from "./model.ts";

const page = readFileSync(new URL("README.md", import.meta.url), "utf8");
const blocksOf = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(
    ([, text = ""]) => text,
  );
const exchangesOf = (block = "") =>
  [...block.matchAll(/^GET (\S+)\n(.*)$/gm)].map(([, url = "", body = ""]) => ({ url, body }));
const [recorded, answered] = blocksOf("http").map(exchangesOf);
const [model, listing] = blocksOf("json").map((text) => JSON.parse(text));

const recording = toRecording(
  "orders",
  (recorded ?? []).map(({ url, body }) => ({
    request: { method: "GET" as const, url },
    response: { status: 200, headers: { "content-type": "application/json" }, body },
  })),
);

test("three pages are recorded", () => expect(recorded).toHaveLength(3));

test("the model has the rows, the paging and the page size that the example names", () => {
  expect(learnModel(readExchanges([recording]), {})).toMatchObject(model);
});

test("positions and explained values are those of the example's table", () => {
  const learned = learnModel(readExchanges([recording]), {});
  const [known] = learned ? learnListings(learned, groupListings(learned)) : [];
  expect(known?.gathered.base?.pages.map(({ start }) => start)).toEqual([0, 2, 4]);
  for (const { pointer, formula } of known?.explained ?? [])
    if (pointer.startsWith("/")) expect(page).toContain(`\`${pointer}\`: ${formula}`);
  expect(known?.explained.map(({ pointer }) => pointer)).toEqual(
    expect.arrayContaining(["/next_cursor", "/total"]),
  );
});

test("one listing is learned, and it is the example's", () => {
  expect(learnProvider([recording], {}).listings).toEqual([listing]);
});

test.each([...(recorded ?? []), ...(answered ?? [])])("$url is answered as the example says", ({
  url,
  body,
}) => {
  const answer = learnProvider([recording], {})
    .provider()
    .answer({ method: "GET", url: new URL(url), headers: {}, body: "", index: 0 });
  expect("body" in answer && String(answer.body)).toBe(body);
});
