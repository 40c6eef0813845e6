import { fetch } from "undici";
import { expect, test } from "vitest";
import { MemoryDispatcher, type MemoryServe } from "./memory-dispatcher.ts";

const url = "https://api.example.test/items?page=2";
const never: MemoryServe = () => new Promise(() => {});
const answer = (body: string, status = 200, headers = {}) => ({
  status,
  headers,
  body: Buffer.from(body),
});

const ask = (dispatcher: MemoryDispatcher, init: Parameters<typeof fetch>[1] = {}) =>
  fetch(url, { ...init, dispatcher });
const request = (dispatcher: MemoryDispatcher, signal?: AbortSignal) =>
  dispatcher.request({
    origin: "https://api.example.test",
    path: "/items",
    method: "GET",
    signal: signal ?? null,
  });

test("a request arrives as it was sent, and its answer comes whole", async () => {
  const seen: Parameters<MemoryServe>[0][] = [];
  const dispatcher = new MemoryDispatcher(async (one) => {
    seen.push(one);
    return answer("that", 201, { "content-type": "text/plain", "x-page": "2" });
  });
  const got = await ask(dispatcher, { method: "POST", body: "this", headers: { "X-Key": "k" } });
  expect([got.status, await got.text()]).toEqual([201, "that"]);
  expect(Object.fromEntries(got.headers)).toEqual({
    "content-type": "text/plain",
    "content-length": "4",
    "x-page": "2",
  });
  expect(seen).toMatchObject([
    { method: "POST", body: "this", headers: { host: "api.example.test", "x-key": "k" } },
  ]);
  expect(seen[0]?.url.href).toBe(url);
});

test.each([
  ["HEAD", 200],
  ["GET", 204],
  ["GET", 304],
])("an answer to %s with %d has no body", async (method, status) => {
  const got = await ask(new MemoryDispatcher(async () => answer("that", status)), { method });
  expect(await got.text()).toBe("");
});

test("a reset is a broken connection", async () => {
  await expect(request(new MemoryDispatcher(async () => "reset"))).rejects.toMatchObject({
    code: "ECONNRESET",
  });
});

test("a request is given up while it is on its way, and its late answer is dropped", async () => {
  const cancel = new AbortController();
  const late = Promise.withResolvers<void>();
  const dispatcher = new MemoryDispatcher(async () => {
    cancel.abort();
    late.resolve();
    return answer("too late");
  });
  await expect(ask(dispatcher, { signal: cancel.signal })).rejects.toThrow("aborted");
  await late.promise;
});

test("who was given up before sends nothing", async () => {
  let count = 0;
  const dispatcher = new MemoryDispatcher(async () => {
    count++;
    return answer("");
  });
  await expect(request(dispatcher, AbortSignal.abort())).rejects.toThrow("aborted");
  expect(count).toBe(0);
});

test("what is under way ends with the dispatcher, and nothing begins afterwards", async () => {
  const dispatcher = new MemoryDispatcher(never);
  const under = expect(request(dispatcher)).rejects.toMatchObject({ code: "UND_ERR_DESTROYED" });
  await dispatcher.destroy();
  await under;
  await expect(request(dispatcher)).rejects.toMatchObject({ code: "UND_ERR_DESTROYED" });
});
