import { once } from "node:events";
import { connect } from "node:net";
import { expect, test } from "vitest";
import type { Answer, Provider, ProviderRequest, TransportFault } from "../contract/network.ts";
import { openFaultServer } from "./server.ts";

const listing = { data: [{ id: 1, title: "Ünïcode ✓" }], next: null };

/** Answers the API's one host; everything else fits no recording. */
function provide(answer: Partial<Answer> = {}): Provider {
  return {
    answer: (request) =>
      request.url.host === "api.example.com"
        ? {
            status: 200,
            headers: { "content-type": "application/json" },
            body: Buffer.from(JSON.stringify(listing)),
            ...answer,
          }
        : { unmatched: `No recording holds ${request.method} ${request.url}.` },
    unused: () => [],
  };
}
const open = (
  fault?: TransportFault,
  options: Partial<Parameters<typeof openFaultServer>[0]> = {},
) => openFaultServer({ provider: provide(fault ? { fault } : {}), now: () => 1_000, ...options });
const url = "https://api.example.com/v1/notes?limit=2";
/** Code of what a fetch failed with, down its causes. */
async function failure(work: Promise<unknown>): Promise<string> {
  let error: unknown = await work.then(
    () => new Error("nothing failed"),
    (reason: unknown) => reason,
  );
  while (error instanceof Error && error.cause !== undefined) error = error.cause;
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

test("a request over real TLS is answered by the provider and stands in the ledger as it was sent", async () => {
  await using server = await open();
  const answer = await server.network.fetch(url, {
    method: "POST",
    headers: { authorization: "Bearer x" },
    body: "hällo",
  });
  expect(await answer.json()).toEqual(listing);
  expect(server.exchanges).toMatchObject([
    {
      request: { method: "POST", headers: { authorization: "Bearer x" }, body: "hällo", index: 0 },
      atMs: 1_000,
      answer: { status: 200 },
    },
  ]);
  expect(server.exchanges[0]?.request.url.href).toBe(url);
  expect(server.exchanges[0]).not.toHaveProperty("isAbandoned");
  expect(server.dials).toEqual([{ host: "api.example.com", address: "93.184.215.14", port: 443 }]);
  expect([server.lookups, server.inFlight()]).toEqual([["api.example.com"], 0]);
});

test("a built-in Request works with the fetch too", async () => {
  await using server = await open();
  const answer = await server.network.fetch(
    new Request(url, { method: "PUT", body: "text", headers: { "x-own": "1" } }),
  );
  expect(answer.status).toBe(200);
  expect(server.exchanges[0]?.request).toMatchObject({
    method: "PUT",
    body: "text",
    headers: { "x-own": "1" },
  });
});

test("a host that is not declared gets 418 and is unmatched in the ledger", async () => {
  await using server = await open();
  expect((await server.network.fetch("https://evil.example.net/x")).status).toBe(418);
  expect(server.exchanges[0]?.unmatched).toBe("No recording holds GET https://evil.example.net/x.");
  expect(server.dials[0]).toMatchObject({ host: "evil.example.net", port: 443 });
});

test("a Host header does not hide where a request went", async () => {
  await using server = await open();
  await server.network.fetch("https://evil.example.net/x", {
    headers: { host: "api.example.com" },
  });
  expect(server.exchanges[0]?.request.url.host).toBe("evil.example.net");
});

test("plain HTTP and other protocols are in the ledger and fit no recording", async () => {
  await using server = await open();
  expect((await server.network.fetch("http://api.example.com/v1/notes")).status).toBe(418);
  const raw =
    server.network.seams.dial?.({ host: "db.example.com", address: "1.2.3.4", port: 5432 }) ??
    connect(0);
  raw.write("\0\0\0\x08\x04\xd2\x16\x2f");
  await once(raw.resume(), "close");
  expect(server.exchanges.map(({ unmatched }) => unmatched)).toEqual([
    "The request to http://api.example.com was sent without TLS.",
    "The connection to db.example.com:5432 speaks neither TLS nor HTTP.",
  ]);
});

const bodyFaults: readonly (readonly [string, TransportFault, string])[] = [
  ["a truncated body breaks the connection", { type: "truncate", bytes: 5 }, "ECONNRESET"],
  [
    "a truncated body is cut in the middle unless told otherwise",
    { type: "truncate" },
    "ECONNRESET",
  ],
  [
    "a content-length that is too long ends the connection early",
    { type: "content-length", offBy: 7 },
    "UND_ERR_SOCKET",
  ],
];
for (const [sentence, fault, code] of bodyFaults) {
  test(sentence, async () => {
    await using server = await open(fault);
    const answer = await server.network.fetch(url);
    expect(answer.status).toBe(200);
    expect(await failure(answer.text())).toBe(code);
    expect(server.exchanges[0]).not.toHaveProperty("isAbandoned");
  });
}

test("a reset breaks the connection before an answer", async () => {
  await using server = await open({ type: "reset" });
  expect(await failure(server.network.fetch(url))).toBe("ECONNRESET");
  expect(server.exchanges).toMatchObject([{ answer: { fault: { type: "reset" } } }]);
});

test("a content-length that is too short cuts the body or breaks the connection, but never shows the whole", async () => {
  await using server = await open({ type: "content-length", offBy: -7 });
  const text = await server.network
    .fetch(url)
    .then((answer) => answer.text())
    .catch(() => "");
  expect(text.length).toBeLessThan(JSON.stringify(listing).length);
});

test("who waits for an answer that never comes, or never ends, is seen to leave", async () => {
  for (const fault of [
    { type: "hang" },
    { type: "stall" },
    { type: "endless" },
    { type: "slow-loris", intervalMs: 60_000 },
  ] as const) {
    const aborter = new AbortController();
    const arrived = Promise.withResolvers<void>();
    const seen = await open(fault, { onRequest: () => arrived.resolve() });
    const fetched = seen.network
      .fetch(url, { signal: aborter.signal })
      .then((answer) => answer.text());
    await arrived.promise;
    await expect.poll(() => [seen.inFlight(), seen.openConnections()]).toEqual([0, 1]);
    aborter.abort();
    expect(await failure(fetched)).toBe("20"); // AbortError
    await expect.poll(() => seen.exchanges[0]?.isAbandoned).toBe(true);
    await expect.poll(() => [seen.inFlight(), seen.openConnections()]).toEqual([0, 0]);
    await seen[Symbol.asyncDispose]();
  }
});

test("a slow loris sends the true body, a byte at a time", async () => {
  await using server = await open({ type: "slow-loris", intervalMs: 1 });
  const pieces: number[] = [];
  const { body } = await server.network.fetch(url);
  for await (const piece of body ?? []) pieces.push(piece.length);
  expect(pieces.length).toBeGreaterThan(10);
  expect(pieces.reduce((sum, length) => sum + length)).toBe(
    Buffer.byteLength(JSON.stringify(listing)),
  );
});

test("chunks split characters and arrive whole", async () => {
  await using server = await open({ type: "chunks", bytes: 1 });
  const pieces: Buffer[] = [];
  const { body, headers } = await server.network.fetch(url);
  for await (const piece of body ?? []) pieces.push(Buffer.from(piece));
  expect(headers.get("transfer-encoding")).toBe("chunked");
  expect(pieces.length).toBeGreaterThan(10);
  expect(JSON.parse(Buffer.concat(pieces).toString())).toEqual(listing);
});

test("a gzip bomb is small on the wire and as large as was asked for", async () => {
  await using server = await open({ type: "gzip-bomb", bytes: 40_000_000 });
  const { body } = await server.network.fetch(url);
  let bytes = 0;
  for await (const piece of body ?? []) bytes += piece.length;
  expect(bytes).toBe(40_000_000);
});

test("an endless body waits for a client that does not read", async () => {
  await using server = await open({ type: "endless" });
  const before = process.memoryUsage().external;
  const { body } = await server.network.fetch(url);
  const reader = body?.getReader();
  for (let read = 0; read < 50; read += 1) await reader?.read();
  expect(process.memoryUsage().external - before).toBeLessThan(200_000_000);
  await reader?.cancel();
  await expect.poll(() => server.exchanges[0]?.isAbandoned).toBe(true);
});

const connectionFaults = {
  "unknown-host": "ENOTFOUND",
  refused: "ECONNREFUSED",
  "expired-certificate": "CERT_HAS_EXPIRED",
  "untrusted-certificate": "SELF_SIGNED_CERT_IN_CHAIN",
  "wrong-host-certificate": "ERR_TLS_CERT_ALTNAME_INVALID",
} as const;
for (const fault of Object.keys(connectionFaults) as (keyof typeof connectionFaults)[]) {
  test(`${fault} fails with ${connectionFaults[fault]}, before there is a request, and for the named host only`, async () => {
    await using server = await open(undefined, { connection: { fault, host: "api.example.com" } });
    expect(await failure(server.network.fetch(url))).toBe(connectionFaults[fault]);
    expect(server.exchanges).toEqual([]);
    expect((await server.network.fetch("https://other.example.com/")).status).toBe(418);
  });
}

test("a request is in flight until it is answered", async () => {
  const seen: number[] = [];
  const server = await open(undefined, { onRequest: () => void seen.push(server.inFlight()) });
  await (await server.network.fetch(url)).text();
  expect([...seen, server.inFlight()]).toEqual([1, 0]);
  await server[Symbol.asyncDispose]();
});

test("the request waits for onRequest, and what it throws fails the run", async () => {
  const order: string[] = [];
  const onRequest = async (request: ProviderRequest) => {
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`seen ${request.index}`);
  };
  const provider: Provider = {
    ...provide(),
    answer: (request) => {
      order.push("asked");
      return provide().answer(request);
    },
  };
  await using server = await open(undefined, { onRequest, provider });
  await server.network.fetch(url);
  expect(order).toEqual(["seen 0", "asked"]);
  await using broken = await open(undefined, {
    onRequest: () => Promise.reject(new Error("the recording is torn")),
  });
  expect(await failure(broken.network.fetch(url))).toBe("UND_ERR_SOCKET");
  expect(broken.exchanges[0]?.unmatched).toContain("the recording is torn");
});

test("closing the server ends what is open, and nothing counts as abandoned by the client", async () => {
  const server = await open({ type: "hang" });
  const fetched = failure(server.network.fetch(url));
  await expect.poll(() => server.exchanges[0]?.answer).toBeDefined();
  await server[Symbol.asyncDispose]();
  expect(await fetched).not.toBe("nothing failed");
  expect(server.exchanges[0]).not.toHaveProperty("isAbandoned");
  expect(server.openConnections()).toBe(0);
});
