import nock from "nock";
import { Agent } from "undici";
import { afterAll, expect, test } from "vitest";
import { bearer, http } from "../contract/egress.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { systemClock } from "../host/clock.ts";
import { createHttpBroker } from "./http-broker.ts";

// A file of its own: nock replaces Node's sockets as soon as it is imported.
nock.disableNetConnect();
afterAll(() => nock.restore());

function open(limits = {}) {
  const broker = createHttpBroker({
    declaration: http({ baseUrl: "https://api.example.com/v1", auth: bearer("api_token") }),
    config: { api_token: "token-of-the-test" },
    secrets: createSecretRegistry(),
    clock: systemClock,
    settings: { approvedHosts: [], allowNetworks: [] },
    seams: { openDispatcher: () => new Agent({ allowH2: false }) },
    limits,
  });
  return Object.assign(broker, { [Symbol.asyncDispose]: () => broker.close() });
}

const never = new AbortController().signal;

test("nock answers what the broker sends, credential included", async () => {
  const scope = nock("https://api.example.com", {
    reqheaders: { authorization: "Bearer token-of-the-test" },
  });
  scope.get("/v1/items").query({ page: 2 }).reply(200, { recorded: true });
  scope.post("/v1/items", { id: 7 }).reply(201, { posted: true });
  await using broker = open();
  const got = await broker.request({ method: "GET", path: ["items"], query: { page: 2 } }, never);
  expect(JSON.parse(got.body.toString())).toEqual({ recorded: true });
  const posted = await broker.request({ method: "POST", path: ["items"], body: { id: 7 } }, never);
  expect([posted.status, JSON.parse(posted.body.toString())]).toEqual([201, { posted: true }]);
  expect(scope.isDone()).toBe(true);
});

test("what was not recorded fails, and nothing is dialled", async () => {
  await using broker = open({ maxAttempts: 1 });
  const work = broker.request({ method: "GET", path: ["unrecorded"] }, never);
  await expect(work).rejects.toMatchObject({
    code: "PROVIDER_UNAVAILABLE",
    details: { status: 501 },
  });
});
