import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { startServer } from "../../simulators/simulator/server.ts";
import { createForwarder } from "./forward.ts";

const settings = { approvedHosts: [], allowNetworks: [] };
const hostname = "api.notes.example.com";
const request = (path: string, more: object = {}) => ({
  method: "POST",
  url: new URL(`https://${hostname}${path}`),
  body: '{"a":1}',
  index: 0,
  headers: {
    host: "proxied",
    connection: "keep-alive",
    "content-type": "application/json",
    "x-own": "1",
  },
  ...more,
});

test("an answer goes on as it came, compressed, and is seen decompressed", async () => {
  const body = gzipSync('{"rows":[]}');
  await using server = await startServer({
    hostname,
    answer: ({ method, headers, body: sent }) => ({
      status:
        method === "POST" &&
        sent === '{"a":1}' &&
        headers["x-own"] === "1" &&
        headers.host === hostname
          ? 200
          : 400,
      headers: {
        "content-type": "application/json",
        "content-encoding": "gzip",
        connection: "close",
      },
      body,
    }),
  });
  await using forwarder = createForwarder({ settings, seams: server.seams });
  await forwarder.onRequest(request("/v1/rows"));
  const answer = forwarder.provider.answer(request("/v1/rows"));
  expect(answer).toMatchObject({ status: 200, headers: { "content-encoding": "gzip" } });
  expect(answer).not.toHaveProperty(["headers", "connection"]);
  expect("body" in answer && answer.body.equals(body)).toBe(true);
  const [seen] = forwarder.exchanges();
  expect([seen?.status, seen?.responseBody.toString()]).toEqual([200, '{"rows":[]}']);
});

test.each([
  ["a body that is no text", { body: "\ufffd\u0000" }, /no UTF-8 text/],
  [
    "a host that does not resolve",
    { url: new URL("https://elsewhere.example.com/") },
    /does not resolve/,
  ],
  ["an address in place of a name", { url: new URL("https://10.0.0.8/") }, /./],
])("%s is not sent on, and the reason is reported", async (_, more, reason) => {
  await using server = await startServer({
    hostname,
    answer: () => ({ status: 200, headers: {}, body: Buffer.from("{}") }),
  });
  await using forwarder = createForwarder({ settings, seams: server.seams });
  await forwarder.onRequest(request("/v1/rows", more));
  expect(forwarder.provider.answer(request("/v1/rows", more))).toEqual({
    unmatched: expect.stringMatching(reason),
  });
  expect([server.requests, forwarder.exchanges()]).toEqual([[], []]);
});
