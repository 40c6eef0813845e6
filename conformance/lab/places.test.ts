import { expect, test } from "vitest";
import type { ProviderRequest } from "../contract/network.ts";
import { createPlaces } from "./places.ts";

test("a request has the line of the latest call with its path and parameters, each try of it", () => {
  const places = createPlaces();
  const rows = "https://api.example.com/rows";
  const ask = (search: string, line: number) =>
    places.onCall({ method: "GET", url: new URL(rows + search), place: `index.ts:${line}` });
  const requests: ProviderRequest[] = [];
  const send = (search: string, method = "GET") => {
    const url = new URL(rows + search);
    const request = { method, url, headers: {}, body: "", index: requests.length };
    places.onRequest(request);
    requests.push(request);
  };
  ask("?page=1", 10);
  ask("?page=2", 20);
  send("?page=1&key=added-by-the-host");
  send("?page=2");
  send("?page=2");
  send("?page=3");
  send("?page=1", "POST");
  ask("?page=1", 30);
  send("?page=1");
  const named = places.named(requests.map((request) => ({ request, atMs: 0 })));
  expect(named.map(({ place }) => place)).toEqual([
    ...["index.ts:10", "index.ts:20", "index.ts:20", undefined, undefined, "index.ts:30"],
  ]);
});
