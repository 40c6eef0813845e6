import { mkdtemp, rm } from "node:fs/promises";
import { request as requestPlain } from "node:http";
import { request } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ConnectorError } from "../contract/errors.ts";
import type { HttpCall } from "../wire/http-call.ts";
import { openAuthority } from "./authority.ts";
import { openImageProxy } from "./proxy.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-proxy-"));
});
afterAll(() => rm(folder, { recursive: true }));

let count = 0;

/** A proxy for one host, what it has sent on and what it has refused. */
async function openProxy(answer: () => Promise<{ status: number; body: string }>) {
  const calls: HttpCall[] = [];
  const refused: string[] = [];
  const path = join(folder, `${count++}.sock`);
  const authority = await openAuthority();
  const proxy = await openImageProxy({
    ...{ path, authority, hosts: ["api.example.com"] },
    async send(call) {
      calls.push(call);
      const { status, body } = await answer();
      const headers = { "content-type": "text/plain", "content-encoding": "gzip", "x-next": "2" };
      return { status, headers, body: Buffer.from(body) };
    },
    onRefused: (resource) => void refused.push(resource),
  });

  /** A tunnel to a host; or the status of the refusal. */
  const tunnel = (target: string) =>
    new Promise<Socket | number>((resolve) => {
      const asked = requestPlain({ socketPath: path, method: "CONNECT", path: target });
      asked.on("connect", ({ statusCode }, socket) =>
        resolve(statusCode === 200 ? socket : (statusCode ?? 0)),
      );
      asked.on("error", () => resolve(0)).end();
    });
  const ask = async (method: string, headers: Record<string, string> = {}, body?: Buffer) => {
    const socket = await tunnel("api.example.com:443");
    if (typeof socket === "number") throw new Error(`refused: ${socket}`);
    const { promise, resolve, reject } = Promise.withResolvers<{
      status: number | undefined;
      headers: object;
      text: string;
    }>();
    const asked = request(
      {
        ...{ socket, host: "api.example.com", method, headers, ca: authority.caPem },
        ...{ path: "/v1/items?page=1", agent: false },
      },
      async (response) => {
        const text = Buffer.concat(await response.toArray()).toString();
        resolve({ status: response.statusCode, headers: response.headers, text });
      },
    );
    asked.on("error", reject).end(body);
    return await promise;
  };
  return {
    calls,
    refused,
    tunnel,
    ask,
    path,
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

const fine = async () => ({ status: 200, body: "plain" });

describe("the proxy of an image", () => {
  test("sends a request to its host on, without what is a connection's, and gives the answer back as it is", async () => {
    await using proxy = await openProxy(async () => ({ status: 404, body: "grün" }));
    const answer = await proxy.ask(
      "POST",
      { authorization: "Bearer x", cookie: "a=b", "x-own": "1", te: "trailers" },
      Buffer.from("müde"),
    );
    expect(proxy.calls).toMatchObject([
      {
        method: "POST",
        path: "https://api.example.com/v1/items?page=1",
        headers: { authorization: "Bearer x", "x-own": "1" },
        text: "müde",
      },
    ]);
    for (const name of ["cookie", "host", "te", "connection", "content-length"])
      expect(proxy.calls[0]?.headers).not.toHaveProperty(name);
    expect(answer).toMatchObject({ status: 404, text: "grün", headers: { "x-next": "2" } });
    expect(answer.headers).not.toHaveProperty("content-encoding");
  });

  test.each([
    ["another host", "evil.example.com:443", "the host evil.example.com"],
    ["another port", "api.example.com:22", "port 22 of api.example.com"],
    ["an address", "169.254.169.254:443", "the host 169.254.169.254"],
    ["an address in brackets", "[::1]:443", "the network by an address"],
    ["the parent of its host", "example.com:443", "the host example.com"],
    ["a name behind a dot", "api.example.com.:443", "the host api.example.com."],
  ])("refuses %s, and tells", async (_, target, denied) => {
    await using proxy = await openProxy(fine);
    expect(await proxy.tunnel(target)).toBe(403);
    expect([proxy.refused, proxy.calls]).toEqual([[denied], []]);
  });

  test.each([
    ["a method that writes", "DELETE", {}, undefined, "the method DELETE of HTTP"],
    [
      "a compressed body",
      "POST",
      { "content-encoding": "gzip" },
      gzipSync("x"),
      "a compressed request",
    ],
    [
      "a body that is no text",
      "POST",
      {},
      Buffer.from([0xff, 0xfe]),
      "a request that is no text, or too large",
    ],
  ])("refuses %s, and tells", async (_, method, headers, body, denied) => {
    await using proxy = await openProxy(fine);
    expect((await proxy.ask(method, headers, body)).status).toBe(403);
    expect([proxy.refused, proxy.calls]).toEqual([[denied], []]);
  });

  test("refuses a request without TLS", async () => {
    await using proxy = await openProxy(fine);
    const status = await new Promise((resolve) => {
      const asked = requestPlain({ socketPath: proxy.path, path: "http://api.example.com/" });
      asked.on("response", ({ statusCode }) => resolve(statusCode)).end();
    });
    expect([status, proxy.refused]).toEqual([403, ["the network without TLS"]]);
  });

  test("says of a request that failed nothing but that", async () => {
    await using proxy = await openProxy(async () => {
      throw new ConnectorError("ADDRESS_REFUSED", { addressClass: "private" });
    });
    expect(await proxy.ask("GET")).toMatchObject({ status: 502, text: "" });
  });

  test("gives a certificate for its host alone, whatever name is asked for in the tunnel", async () => {
    await using proxy = await openProxy(fine);
    const socket = (await proxy.tunnel("api.example.com:443")) as Socket;
    const { caPem } = await openAuthority();
    const outcome = await new Promise((resolve) => {
      const asked = request({ socket, host: "evil.example.com", ca: caPem, agent: false } as never);
      asked.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
      asked.on("response", () => resolve("answered")).end();
    });
    expect([outcome, proxy.calls]).toEqual(["ERR_TLS_CERT_ALTNAME_INVALID", []]);
  });

  test("holds four requests at a time, and answers all", async () => {
    const free = Promise.withResolvers<void>();
    await using proxy = await openProxy(async () => {
      await free.promise;
      return { status: 200, body: "plain" };
    });
    const asking = Promise.all(Array.from({ length: 12 }, () => proxy.ask("GET")));
    await expect.poll(() => proxy.calls.length).toBeGreaterThanOrEqual(4);
    // Others have the time of these to come through, and do not.
    for (let turn = 0; turn < 50; turn++) await proxy.tunnel("evil.example.com:443");
    expect(proxy.calls).toHaveLength(4);
    free.resolve();
    expect((await asking).map(({ status }) => status)).toEqual(Array(12).fill(200));
  });

  test("lets go of what is no HTTP", async () => {
    await using proxy = await openProxy(fine);
    const socket = connect(proxy.path).resume();
    socket.on("error", () => undefined).write("\u0016\u0003\u0001 not HTTP\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    expect(proxy.calls).toEqual([]);
  });
});
