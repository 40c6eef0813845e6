import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import {
  answerJson,
  createInstantClock,
  type Handler,
  type Provider,
  providerName,
  startProvider,
  tokenServerName,
} from "../../simulators/loopback.ts";
import { type Auth, bearer, http, oauth2 } from "../contract/egress.ts";
import type { SeenExchange } from "../contract/network.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { createHttpBroker } from "./http-broker.ts";

const never = new AbortController().signal;
const config = {
  api_token: "token-canary-1",
  client_id: "client-1",
  client_secret: "secret-canary",
  refresh_token: "refresh-canary",
};

function open(provider: Provider, auth: Auth = bearer("api_token")) {
  const seen: SeenExchange[] = [];
  const broker = createHttpBroker({
    declaration: http({ baseUrl: `https://${providerName}/v1`, auth }),
    config,
    secrets: createSecretRegistry(),
    clock: createInstantClock(0),
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: { ...provider.seams, observe: (exchange) => seen.push(exchange) },
    random: () => 0,
  });
  return Object.assign(broker, { seen, [Symbol.asyncDispose]: () => broker.close() });
}

test("an observer sees the request as sent, and the whole answer decompressed, which arrives all the same", async () => {
  const body = JSON.stringify({ rows: "x".repeat(300_000) });
  await using provider = await startProvider((request, response) => {
    const [coding, bytes] = request.url.endsWith("gzip")
      ? ["gzip", gzipSync(body)]
      : ["br", brotliCompressSync(body)];
    response
      .writeHead(200, { "content-encoding": String(coding), "set-cookie": ["a=1", "b=2"] })
      .end(bytes);
  });
  await using broker = open(provider);
  for (const path of ["gzip", "br"]) {
    const answer = await broker.request({ method: "POST", path: [path], body: { id: 7 } }, never);
    expect(answer.body.toString()).toBe(body);
  }
  const [first, second] = broker.seen;
  expect(first).toMatchObject({
    method: "POST",
    url: `https://${providerName}/v1/gzip`,
    requestHeaders: { authorization: "Bearer token-canary-1" },
    status: 200,
    responseHeaders: { "set-cookie": ["a=1", "b=2"] },
  });
  expect(first?.requestBody?.toString()).toBe('{"id":7}');
  expect(first?.responseBody.toString()).toBe(body);
  expect(second?.responseBody.toString()).toBe(body);
  expect(second?.index).toBeGreaterThan(first?.index ?? Number.NaN);
});

test("an observer sees retried errors with their bodies, redirects, and an empty body", async () => {
  const handle: Handler = (_, response, count) => {
    if (count === 1) return answerJson(response, 503, { message: "later" });
    if (count === 2) return void response.writeHead(302, { location: "/v1/moved" }).end();
    answerJson(response, 200, { ok: true });
  };
  await using provider = await startProvider(handle);
  await using broker = open(provider);
  await broker.request({ method: "GET", path: ["items"] }, never);
  expect(
    broker.seen.map(({ status, url, responseBody }) => [
      status,
      new URL(url).pathname,
      `${responseBody}`,
    ]),
  ).toEqual([
    [503, "/v1/items", '{"message":"later"}'],
    [302, "/v1/items", ""],
    [200, "/v1/moved", '{"ok":true}'],
  ]);
});

test("an observer sees the token endpoint too", async () => {
  const handle: Handler = ({ host }, response) =>
    answerJson(
      response,
      200,
      host === tokenServerName ? { access_token: "minted-canary", token_type: "bearer" } : {},
    );
  await using provider = await startProvider(handle);
  const tokenUrl = `https://${tokenServerName}/token`;
  const fields = {
    clientId: "client_id",
    clientSecret: "client_secret",
    refreshToken: "refresh_token",
  };
  await using broker = open(provider, oauth2({ tokenUrl, ...fields }));
  await broker.request({ method: "GET", path: ["items"] }, never);
  expect(broker.seen.map(({ url }) => url)).toEqual([tokenUrl, `https://${providerName}/v1/items`]);
  expect(`${broker.seen[0]?.requestBody}`).toContain("refresh_token=refresh-canary");
  expect(`${broker.seen[0]?.responseBody}`).toContain("minted-canary");
});
