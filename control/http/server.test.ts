/** HTTP as it comes over a socket: each answer is the envelope, whatever was sent. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestControl, type TestControl } from "../../tests/control.ts";
import { defineCompute } from "../contract/operation.ts";
import { Empty } from "../contract/schemas.ts";
import { createServer } from "./server.ts";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
  readonly body: any;
}

/** Sends bytes and gives every answer that comes before the connection ends. */
async function exchange(port: number, ...parts: readonly (string | Buffer)[]): Promise<Reply[]> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => undefined);
  for (const part of parts) socket.write(part);
  const received: Buffer[] = [];
  for await (const part of socket) received.push(part as Buffer);
  return toReplies(Buffer.concat(received).toString("latin1"));
}

function toReplies(text: string): Reply[] {
  const replies: Reply[] = [];
  let rest = text;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    const [first = "", ...lines] = rest.slice(0, end).split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    const length = Number(headers["content-length"] ?? 0);
    const body = rest.slice(end + 4, end + 4 + length);
    rest = rest.slice(end + 4 + length);
    const status = Number(first.split(" ")[1]);
    replies.push({
      status,
      headers,
      text: body,
      body: body.startsWith("{") ? JSON.parse(body) : undefined,
    });
  }
  return replies;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("HTTP over a socket", () => {
  let api: TestControl;
  let port: number;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
    await api.server.listen({ port: 0, host: "127.0.0.1" });
    port = (api.server.server.address() as AddressInfo).port;
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
  });

  const auth = () => `Authorization: Bearer ${api.first.tokens.admin}`;
  const lines = (...all: string[]) => `${all.join("\r\n")}\r\n\r\n`;
  const get = (path: string, ...headers: string[]) =>
    lines(`GET ${path} HTTP/1.1`, "Host: x", auth(), "Connection: close", ...headers);
  const post = (body: string, ...headers: string[]) =>
    lines(
      "POST /control/v1/sources HTTP/1.1",
      "Host: x",
      auth(),
      "Connection: close",
      "Content-Type: application/json",
      ...headers,
    ) + body;
  const sources = "/control/v1/sources";

  function expectRefusal(reply: Reply | undefined, status: number, reason: string) {
    expect(reply?.body).toMatchObject({ code: String(status), details: { reason } });
    expect(reply?.status).toBe(status);
    expect(Object.keys(reply?.body).sort()).toEqual(["code", "details", "message", "request_id"]);
    expect(reply?.body.request_id).toMatch(uuid);
    expect(reply?.headers["x-request-id"]).toBe(reply?.body.request_id);
    expect(reply?.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(reply?.headers["cache-control"]).toBe("no-store");
    expect(reply?.headers["x-content-type-options"]).toBe("nosniff");
  }

  test.each<[string, () => readonly (string | Buffer)[], number, string]>([
    ["an unknown path", () => [get("/nothing/here")], 404, "not_found"],
    ["a path above the API", () => [get("/control/v1/../v1/nothing")], 404, "not_found"],
    ["an unknown method", () => [lines("BREW / HTTP/1.1", "Host: x")], 400, "malformed_request"],
    [
      "a method that the path does not take",
      () => [lines(`TRACE ${sources} HTTP/1.1`, "Host: x", "Connection: close")],
      405,
      "method_not_allowed",
    ],
    [
      "OPTIONS",
      () => [lines(`OPTIONS ${sources} HTTP/1.1`, "Host: x", "Connection: close")],
      405,
      "method_not_allowed",
    ],
    [
      "OPTIONS *",
      () => [lines("OPTIONS * HTTP/1.1", "Host: x", "Connection: close")],
      404,
      "not_found",
    ],
    [
      "CONNECT",
      () => [lines("CONNECT db.example.com:443 HTTP/1.1", "Host: x")],
      400,
      "malformed_request",
    ],
    [
      "no HTTP at all",
      () => ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n"],
      400,
      "malformed_request",
    ],
    [
      "HTTP/2 by prior knowledge",
      () => ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
      400,
      "malformed_request",
    ],
    [
      "no Host",
      () => [lines(`GET ${sources} HTTP/1.1`, auth(), "Connection: close")],
      400,
      "malformed_request",
    ],
    ["two Hosts", () => [get(sources, "Host: y")], 400, "invalid_header"],
    ["two tokens", () => [get(sources, "Authorization: Bearer other")], 400, "invalid_header"],
    [
      "two workspaces",
      () => [get(sources, "X-Svc-Workspace-Id: a", "X-Svc-Workspace-Id: b")],
      400,
      "invalid_header",
    ],
    ["bad percent encoding", () => [get(`${sources}/%zz`)], 400, "malformed_request"],
    ["half a character in the path", () => [get(`${sources}/%c3`)], 400, "malformed_request"],
    ["NUL in the path", () => [get(`${sources}/a%00b`)], 400, "invalid_query"],
    ["a slash in an id", () => [get(`${sources}/..%2f..%2fetc`)], 404, "not_found"],
    ["an empty id", () => [get(`${sources}/`)], 404, "not_found"],
    ["a very long id", () => [get(`${sources}/${"a".repeat(300)}`)], 404, "not_found"],
    ["a header line without a colon", () => [get(sources, "nonsense")], 400, "malformed_request"],
    [
      "a space before the colon",
      () => [get(sources, "X-Svc-Client : api")],
      400,
      "malformed_request",
    ],
    ["a folded header", () => [get(sources, "X-A: 1", " 2")], 400, "malformed_request"],
    ["huge headers", () => [get(sources, `X-A: ${"a".repeat(20_000)}`)], 431, "headers_too_large"],
    ["a huge address", () => [get(`${sources}?a=${"a".repeat(20_000)}`)], 431, "headers_too_large"],
    [
      "an answer that we do not make",
      () => [get(sources, "Accept: text/html")],
      406,
      "not_acceptable",
    ],
    [
      "JSON refused by q=0",
      () => [get(sources, "Accept: application/json;q=0, */*")],
      406,
      "not_acceptable",
    ],
    [
      "an expectation that nobody knows",
      () => [get(sources, "Expect: miracles")],
      417,
      "expectation_failed",
    ],
    [
      "a client that nobody knows",
      () => [get(sources, "X-Svc-Client: browser")],
      400,
      "invalid_header",
    ],
    [
      "two lengths",
      () => [post("{}", "Content-Length: 2", "Content-Length: 3")],
      400,
      "malformed_request",
    ],
    [
      "a length and chunks",
      () => [post("2\r\n{}\r\n0\r\n\r\n", "Content-Length: 2", "Transfer-Encoding: chunked")],
      400,
      "malformed_request",
    ],
    [
      "chunks by another name",
      () => [post("2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: xchunked")],
      400,
      "malformed_request",
    ],
    [
      "chunks that are not last",
      () => [post("2\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked, identity")],
      400,
      "malformed_request",
    ],
    ["a negative length", () => [post("{}", "Content-Length: -2")], 400, "malformed_request"],
    [
      "a length that is no number",
      () => [post("{}", "Content-Length: 0x2")],
      400,
      "malformed_request",
    ],
    [
      "a chunk of a bad size",
      () => [post("zz\r\n{}\r\n0\r\n\r\n", "Transfer-Encoding: chunked")],
      400,
      "malformed_request",
    ],
    [
      "a compressed body",
      () => [post("{}", "Content-Encoding: gzip")],
      415,
      "unsupported_media_type",
    ],
    [
      "a body of another kind",
      () => [
        lines(
          `POST ${sources} HTTP/1.1`,
          "Host: x",
          auth(),
          "Connection: close",
          "Content-Type: text/plain",
          "Content-Length: 2",
        ),
        "{}",
      ],
      415,
      "unsupported_media_type",
    ],
    [
      "a body of no kind",
      () => [
        lines(
          `POST ${sources} HTTP/1.1`,
          "Host: x",
          auth(),
          "Connection: close",
          "Content-Length: 2",
        ),
        "{}",
      ],
      415,
      "unsupported_media_type",
    ],
    [
      "a body whose kind is garbage",
      () => [
        lines(
          `POST ${sources} HTTP/1.1`,
          "Host: x",
          auth(),
          "Connection: close",
          "Content-Type: ;;;",
          "Content-Length: 2",
        ),
        "{}",
      ],
      415,
      "unsupported_media_type",
    ],
    [
      "a body that says to be too large",
      () => [post("", "Content-Length: 1048577")],
      413,
      "body_too_large",
    ],
    [
      "chunks that are too large",
      () => [post(`110000\r\n${" ".repeat(0x110000)}\r\n0\r\n\r\n`, "Transfer-Encoding: chunked")],
      413,
      "body_too_large",
    ],
    ["broken JSON", () => [post('{"name":', "Content-Length: 8")], 400, "malformed_json"],
    [
      "bytes that are no UTF-8",
      () => [post("", "Content-Length: 3"), Buffer.from([0x22, 0xff, 0x22])],
      400,
      "malformed_json",
    ],
    [
      "no body where one is needed",
      () => [post("", "Content-Length: 0")],
      422,
      "validation_failed",
    ],
    [
      "no token",
      () => [lines(`GET ${sources} HTTP/1.1`, "Host: x", "Connection: close")],
      401,
      "unauthenticated",
    ],
    [
      "no token, and a body that never comes",
      () => [
        lines(
          `POST ${sources} HTTP/1.1`,
          "Host: x",
          "Connection: close",
          "Content-Type: application/json",
          "Content-Length: 900000",
        ),
      ],
      401,
      "unauthenticated",
    ],
  ])("%s", async (_name, send, status, reason) => {
    const replies = await exchange(port, ...send());
    expect(replies).toHaveLength(1);
    expectRefusal(replies[0], status, reason);
  });

  test("a wrong method names the right ones", async () => {
    const [reply] = await exchange(
      port,
      lines(`PUT ${sources} HTTP/1.1`, "Host: x", "Connection: close"),
    );
    expect(reply?.headers.allow).toBe("GET, HEAD, POST");
  });

  test.each([
    ["PUT", `${sources}/entities`, "POST"],
    ["GET", `${sources}/entities`, "POST"],
    ["HEAD", `${sources}/entities`, "POST"],
    ["DELETE", `${sources}/%65ntities`, "POST"],
    ["PATCH", "/control/v1/pipelines/prepare", "POST"],
    ["PUT", `${sources}/entities1`, "DELETE, GET, HEAD, PATCH"],
    ["PUT", "/control/v1/%73ources", "GET, HEAD, POST"],
    ["GET", "/control/v1/credentials/mailer/api-token", "POST"],
    ["QUERY", sources, "GET, HEAD, POST"],
  ])("%s %s: the methods are those of the address, and of no sibling", async (method, path, allow) => {
    const [reply] = await exchange(port, get(path).replace("GET", method));
    expect([reply?.status, reply?.headers.allow]).toEqual([405, allow]);
  });

  test.each([
    "PUT",
    "QUERY",
    "PROPFIND",
  ])("%s is refused whatever its body is, which is not read", async (method) => {
    for (const headers of [
      [],
      ["Content-Length: 2"],
      ["Content-Type: text/plain", "Content-Length: 900000"],
      ["Content-Type: application/json", "Content-Length: 2000000"],
    ]) {
      const [reply] = await exchange(port, get(sources, ...headers).replace("GET", method));
      expectRefusal(reply, 405, "method_not_allowed");
    }
  });

  test("HEAD says what GET would, without a body", async () => {
    const [head] = await exchange(port, get(sources).replace("GET", "HEAD"));
    const [full] = await exchange(port, get(sources));
    expect([head?.status, head?.text]).toEqual([200, ""]);
    expect(head?.headers["content-length"]).toBe(full?.headers["content-length"]);
    expect(head?.headers["x-ratelimit-limit"]).toBeDefined();
  });

  test("HTTP/1.0 and absolute addresses are understood", async () => {
    const [old] = await exchange(port, lines(`GET ${sources} HTTP/1.0`, auth()));
    expect(old?.status).toBe(200);
    const [absolute] = await exchange(port, get(`http://x${sources}`));
    expect(absolute?.status).toBe(200);
    const [wrong] = await exchange(port, get(`http://x${sources}`).replace("GET", "PUT"));
    expectRefusal(wrong, 405, "method_not_allowed");
  });

  test("a body in pieces, after 100 Continue, is read", async () => {
    const socket = connect(port, "127.0.0.1");
    const head = post("", "Transfer-Encoding: chunked", "Expect: 100-continue");
    socket.write(head);
    const [first] = (await once(socket, "data")) as [Buffer];
    expect(first.toString()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    for (const piece of ["1\r\n{\r\n", "1\r\n}\r\n", "0\r\n\r\n"]) socket.write(piece);
    const received: Buffer[] = [];
    for await (const part of socket) received.push(part as Buffer);
    expectRefusal(toReplies(Buffer.concat(received).toString())[0], 422, "validation_failed");
  });

  test("pipelined requests are answered in their order, each with an id of its own", async () => {
    const one = get(sources).replace("Connection: close\r\n", "");
    const replies = await exchange(port, one + one.replace(sources, "/nothing") + get(sources));
    expect(replies.map(({ status }) => status)).toEqual([200, 404, 200]);
    expect(new Set(replies.map(({ body }) => body.request_id)).size).toBe(3);
  });

  test("what follows a whole request and is no HTTP does not take its answer away", async () => {
    const one = get(sources).replace("Connection: close\r\n", "");
    const replies = await exchange(port, `${one}garbage\r\n\r\n`);
    expect(replies[0]?.status).toBe(200);
    expectRefusal(replies[1], 400, "malformed_request");
  });

  test("a smuggled request is part of the body, or nothing", async () => {
    const smuggled = lines("GET /control/v1/smuggled HTTP/1.1", "Host: x");
    const replies = await exchange(
      port,
      post(`0\r\n\r\n${smuggled}`, "Transfer-Encoding: chunked", "Content-Length: 5"),
    );
    expect(replies).toHaveLength(1);
    expectRefusal(replies[0], 400, "malformed_request");
  });

  test("a sender that goes in the middle of its body leaves a server that works", async () => {
    const socket = connect(port, "127.0.0.1");
    socket.write(post('{"name":', "Content-Length: 100"));
    await once(socket, "connect");
    socket.destroy();
    await once(socket, "close");
    const [reply] = await exchange(port, get(sources));
    expect(reply?.status).toBe(200);
  });

  test("an error that has a caller tells of the limits, and pays for them", async () => {
    const [first] = await exchange(port, post("", "Content-Length: 1048577"));
    const [second] = await exchange(port, post("", "Content-Length: 1048577"));
    const left = (reply: Reply | undefined) => Number(reply?.headers["x-ratelimit-remaining"]);
    expect(left(second)).toBe(left(first) - 1);
    expect(Number(second?.headers["x-ratelimit-reset"])).toBeGreaterThan(0);
  });

  test("no answer tells what runs here", async () => {
    const [reply] = await exchange(port, get(sources));
    expect(reply?.headers).not.toHaveProperty("server");
    expect(reply?.headers).not.toHaveProperty("x-powered-by");
  });
});

describe("limits", () => {
  test("over the budget is 429 with the time to wait; other tokens and strangers have their own", async () => {
    await using api = await startTestControl({
      sandbox: "inline",
      settings: { limits: { read: 2, write: 2, provider: 2, anonymous: 2 } },
    });
    await api.call("GET", "/sources");
    expect((await api.call("GET", "/sources")).headers["x-ratelimit-remaining"]).toBe("0");
    const over = await api.call("GET", "/sources");
    expect(over.body).toMatchObject({ code: "429", details: { reason: "rate_limited" } });
    expect(Number(over.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(over.headers["retry-after"])).toBeLessThanOrEqual(60);
    expect(over.headers["x-ratelimit-limit"]).toBe("2");
    expect((await api.call("GET", "/sources", { token: api.first.tokens.viewer })).status).toBe(
      200,
    );
    const broken = { body: "{", token: api.first.tokens.editor };
    const statuses = [];
    for (let index = 0; index < 4; index += 1)
      statuses.push((await api.call("POST", "/sources", broken)).status);
    expect(statuses).toEqual([400, 400, 429, 429]);
    const wrong = [];
    for (let index = 0; index < 3; index += 1)
      wrong.push(await api.call("GET", "/sources", { token: "no" }));
    expect(wrong.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect(wrong[0]?.headers["x-ratelimit-remaining"]).toBe("1");
    expect(wrong[0]?.headers["www-authenticate"]).toBe('Bearer realm="svc"');
  });
});

describe("time", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
  });
  afterAll(async () => {
    await api?.[Symbol.asyncDispose]();
  });

  test("an answer that does not come in time is 503, and what works on it is told to stop", async () => {
    let aborted: AbortSignal | undefined;
    const slow = defineCompute({
      id: "test.slow",
      area: "Workspaces",
      path: "/slow",
      summary: "Wait",
      permission: "read",
      workspace: "none",
      body: Empty,
      data: Empty,
      errors: [],
      async run({ signal }) {
        aborted = signal;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return {};
      },
    });
    const server = createServer({ ...api.control, operations: [slow] }, { answerTimeoutMs: 50 });
    const answer = await server.inject({
      method: "POST",
      url: "/control/v1/slow",
      headers: {
        authorization: `Bearer ${api.first.tokens.admin}`,
        "content-type": "application/json",
      },
      payload: "{}",
    });
    expect(JSON.parse(answer.payload)).toMatchObject({
      code: "503",
      details: { reason: "overloaded" },
    });
    expect(aborted?.aborted).toBe(true);
    await server.close();
  });

  test("while the server stops, requests on open connections are refused with the envelope", async () => {
    const server = createServer(api.control);
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    server.get("/slow", async () => {
      reach();
      await end;
      return {};
    });
    await server.listen({ port: 0, host: "127.0.0.1" });
    const { port } = server.server.address() as AddressInfo;
    const socket = connect(port, "127.0.0.1");
    socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await reached;
    const closing = server.close();
    socket.write("GET /control/v1/sources HTTP/1.1\r\nHost: x\r\n\r\n");
    const received: Buffer[] = [];
    socket.on("data", (part: Buffer) => received.push(part));
    setImmediate(finish);
    await Promise.all([once(socket, "close"), closing]);
    const replies = toReplies(Buffer.concat(received).toString());
    expect(replies.map(({ status }) => status)).toEqual([200, 503]);
    expect(replies[1]?.body).toMatchObject({ code: "503", details: { reason: "overloaded" } });
    expect(replies[1]?.headers["retry-after"]).toBe("1");
  });
});
