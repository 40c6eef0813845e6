/** Whatever refuses a write, and wherever: the audit log has one entry of it. */
import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../control/operations/index.ts";
import { startTestControl, type TestControl } from "./control.ts";

type Role = "admin" | "viewer";
type Token = Role | "agent";

const path = "/control/v1/sources/src_0000000000000000000000";

describe("the audit log has one entry of a write that is refused", () => {
  let api: TestControl;
  let port: number;

  beforeAll(async () => {
    api = await startTestControl({ sandbox: "inline" });
    await api.server.listen({ port: 0, host: "127.0.0.1" });
    port = (api.server.server.address() as AddressInfo).port;
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const entriesOf = (requestId: string) =>
    api.db.selectFrom("audit_logs").selectAll().where("request_id", "=", requestId).execute();
  const count = async () =>
    Number(
      (
        await api.db
          .selectFrom("audit_logs")
          .select((eb) => eb.fn.countAll().as("count"))
          .executeTakeFirstOrThrow()
      ).count,
    );

  /** Sends bytes, and gives the last answer. */
  const exchange = async (...parts: readonly (string | Buffer)[]) => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.on("error", () => undefined);
    for (const part of parts) socket.write(part);
    const received: Buffer[] = [];
    for await (const part of socket) received.push(part as Buffer);
    const text = Buffer.concat(received).toString();
    return { text, body: JSON.parse(text.slice(text.lastIndexOf("\r\n\r\n") + 4)) };
  };
  const request = (
    { token = "admin", target = path }: { token?: Token | undefined; target?: string | undefined },
    headers: readonly string[],
    body: string | Buffer = "",
  ) => [
    `${[
      `PATCH ${target} HTTP/1.1`,
      "Host: x",
      `Authorization: Bearer ${api.first.tokens[token]}`,
      "Connection: close",
      ...headers,
    ].join("\r\n")}\r\n\r\n`,
    body,
  ];
  const json = (body: string | Buffer, ...more: string[]) =>
    [
      ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`, ...more],
      body,
    ] as const;
  const named = '{"name":"x"}';

  test.each<[string, () => readonly (string | Buffer)[], number, string]>([
    ["half a body", () => request({}, ...json('{"a":')), 400, "malformed_json"],
    [
      "half a body, of a viewer",
      () => request({ token: "viewer" }, ...json('{"a":')),
      403,
      "permission_denied",
    ],
    ["a NUL", () => request({}, ...json('{"name":"\\u0000"}')), 422, "validation_failed"],
    [
      "a field twice",
      () => request({}, ...json('{"name":"a","name":"b"}')),
      422,
      "duplicate_field",
    ],
    [
      "bytes that are no text",
      () => request({}, ...json(Buffer.from([0xff]))),
      400,
      "malformed_json",
    ],
    [
      "many levels",
      () => request({}, ...json("[".repeat(99) + "]".repeat(99))),
      422,
      "nesting_too_deep",
    ],
    [
      "a body of another kind",
      () => request({}, ["Content-Type: text/plain", "Content-Length: 1"], "x"),
      415,
      "unsupported_media_type",
    ],
    [
      "a body of no kind",
      () => request({}, ["Content-Type: ;;;", "Content-Length: 1"], "x"),
      415,
      "unsupported_media_type",
    ],
    [
      "a body that says to be too large",
      () => request({}, ["Content-Type: application/json", "Content-Length: 1048577"]),
      413,
      "body_too_large",
    ],
    [
      "a chunk of no size",
      () =>
        request(
          {},
          ["Content-Type: application/json", "Transfer-Encoding: chunked"],
          "zz\r\n{}\r\n0\r\n\r\n",
        ),
      400,
      "malformed_request",
    ],
    [
      "an answer that nobody makes",
      () => request({}, ...json(named, "Accept: text/html")),
      406,
      "not_acceptable",
    ],
    [
      "two keys",
      () => request({}, ...json(named, "Idempotency-Key: a", "Idempotency-Key: b")),
      400,
      "invalid_header",
    ],
    [
      "two workspaces",
      () => request({}, ...json(named, "X-Svc-Workspace-Id: a", "X-Svc-Workspace-Id: b")),
      400,
      "invalid_header",
    ],
    [
      "a client that nobody knows",
      () => request({}, ...json(named, "X-Svc-Client: browser")),
      400,
      "invalid_header",
    ],
    [
      "an expectation that nobody meets",
      () => request({}, ...json(named, "Expect: miracles")),
      417,
      "expectation_failed",
    ],
    [
      "a mode that nobody knows",
      () => request({}, ...json(named, "X-Svc-Execution-Mode: propose")),
      400,
      "invalid_execution_mode",
    ],
    [
      "a key that is none",
      () => request({}, ...json(named, "Idempotency-Key: \u00e9")),
      400,
      "invalid_header",
    ],
    ["a version that is none", () => request({}, ...json(named, "If-Match: v1")), 404, "not_found"],
    [
      "another tenant's workspace",
      () => request({}, ...json(`{"name":"x","workspace_id":"${api.second.id}"}`)),
      404,
      "not_found",
    ],
    [
      "workspaces that contradict each other",
      () =>
        request(
          { target: `${path}?workspace_id=${api.first.id}` },
          ...json(`{"name":"x","workspace_id":"${api.second.id}"}`),
        ),
      400,
      "workspace_required",
    ],
    [
      "a NUL in the query",
      () => request({ target: `${path}?a=%00` }, ...json(named)),
      400,
      "invalid_query",
    ],
  ])("with %s", async (_name, bytes, status, reason) => {
    const before = await count();
    const { text, body } = await exchange(...bytes());
    expect([Number(text.split(" ")[1]), body.details.reason]).toEqual([status, reason]);
    expect(await entriesOf(body.request_id)).toMatchObject([
      {
        workspace_id: api.first.id,
        action: "source.update",
        outcome: status === 403 ? "denied" : "failure",
        resource_id: "src_0000000000000000000000",
        summary: expect.stringContaining(reason),
      },
    ]);
    expect(await count()).toBe(before + 1);
  });

  test.each(
    operations.filter(({ effect, access }) => effect === "write" && access !== "open"),
  )("that cannot be read: $id", async ({ id, method, path: template }) => {
    const target = template.replace(/\{(\w+)\}/g, (_, name) =>
      name === "workspace_id" ? api.first.id : "src_0000000000000000000000",
    );
    for (const [body, type] of [
      ['{"a":', "application/json"],
      ["x", "text/plain"],
    ] as const) {
      const answer = await api.call(method as "POST", target, {
        body,
        headers: { "content-type": type },
      });
      expect(await entriesOf(answer.body.request_id)).toMatchObject([
        { action: id, outcome: answer.status === 403 ? "denied" : "failure" },
      ]);
    }
  });

  test("whose sender goes in the middle of it", async () => {
    const before = await count();
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const [head, body] = request({}, ...json('{"name":"a name that does not come whole"}'));
    socket.write(`${head}${String(body).slice(0, 9)}`);
    await new Promise((resolve) => setImmediate(resolve));
    socket.resetAndDestroy();
    await expect.poll(count).toBe(before + 1);
  });

  test("by a tool that does not take its arguments", async () => {
    const client = new Client({ name: "test", version: "1" });
    const requestInit = { headers: { authorization: `Bearer ${api.first.tokens.agent}` } };
    const address = new URL(`http://127.0.0.1:${port}/mcp`);
    await client.connect(new StreamableHTTPClientTransport(address, { requestInit }));
    const before = await count();
    const result = await client.callTool({
      name: "svc_rename_source",
      arguments: { source_id: "src_0000000000000000000000" },
    });
    await client.close();
    const [block] = result.content as { text: string }[];
    const answer = JSON.parse(block?.text ?? "");
    expect(answer.details.errors[0].path).toBe("name");
    expect(await entriesOf(answer.request_id)).toMatchObject([
      { action: "source.update", outcome: "failure", client: "mcp" },
    ]);
    expect(await count()).toBe(before + 1);
  });

  test("as a proposal of what only asks", async () => {
    const answer = await api.call("POST", "/connectors/mailer/check", {
      body: "{",
      headers: { "content-type": "application/json", "x-svc-execution-mode": "proposal" },
    });
    expect(await entriesOf(answer.body.request_id)).toMatchObject([{ action: "mailer.check" }]);
  });

  test("and none of what no caller can be named for, or what only reads", async () => {
    const before = await count();
    const broken = { method: "PATCH" as const, url: path, payload: "{" };
    for (const headers of [
      { "content-type": "application/json" },
      { "content-type": "text/plain", authorization: "Bearer nonsense" },
      { accept: "text/html" },
    ] as Record<string, string>[])
      await api.server.inject({ ...broken, headers });
    const authorization = `Bearer ${api.first.tokens.admin}`;
    await api.server.inject({ url: path, headers: { authorization, accept: "text/html" } });
    expect(await count()).toBe(before);
  });
});

describe("a flood", () => {
  let api: TestControl;
  beforeAll(async () => {
    api = await startTestControl({
      sandbox: "inline",
      settings: { limits: { read: 3, write: 3, provider: 3, anonymous: 3 } },
    });
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  const outcomes = async () =>
    (await api.db.selectFrom("audit_logs").select("summary").execute()).map(
      ({ summary }) => summary.split(": ")[1],
    );

  test("of strangers leaves nothing in the audit log, and ends in 429", async () => {
    const statuses = new Set<number>();
    for (let index = 0; index < 9; index += 1) {
      const { statusCode } = await api.server.inject({
        method: "PATCH",
        url: path,
        headers: { accept: "text/html", authorization: "Bearer nonsense" },
      });
      statuses.add(statusCode);
    }
    expect([...statuses]).toEqual([406, 429]);
    expect(await outcomes()).toEqual([]);
  });

  test("of a member leaves as many entries again as the budget has, and no more", async () => {
    const headers = { "content-type": "text/plain" };
    for (let index = 0; index < 20; index += 1)
      await api.call(
        "PATCH",
        "/sources/x",
        index % 2 === 0 ? { body: {} } : { body: "x", headers },
      );
    const said = await outcomes();
    expect(said.filter((reason) => reason === "rate_limited")).toHaveLength(3);
    expect(said).toHaveLength(6);
  });
});
