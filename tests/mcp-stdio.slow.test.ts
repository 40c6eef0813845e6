import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nameTools } from "../control/mcp/tools.ts";
import { operations } from "../control/operations/index.ts";
import { operationCases, startTestWorld, type TestWorld } from "./control-operations.ts";
import { choose, skipUnlessWhole } from "./effort.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const { NODE_COMPILE_CACHE = "" } = process.env;
const command = ["--conditions=svc-source", join(root, "svc.ts"), "mcp"];

let world: TestWorld;
let api: TestWorld["api"];
let folder: string;
let environment: Record<string, string>;

beforeAll(async () => {
  world = await startTestWorld();
  api = world.api;
  const address = await api.server.listen({ port: 0, host: "127.0.0.1" });
  folder = await mkdtemp(join(tmpdir(), "svc-mcp-"));
  const tokenFile = join(folder, "token");
  await writeFile(tokenFile, `${api.first.tokens.admin}\n`, { mode: 0o600 });
  environment = { SVC_API_BASE_URL: `${address}/control/v1`, SVC_TOKEN_FILE: tokenFile };
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const eras = [
  ["the stateless protocol", { pin: "2026-07-28" }],
  ["the protocol before it", "legacy"],
] as const;

describe.each(
  choose<readonly (typeof eras)[number][]>({ quick: eras.slice(0, 1), whole: eras }),
)("svc mcp, with %s", (_era, mode) => {
  const connect = async () => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const env = { ...environment, NODE_COMPILE_CACHE };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: command, env, cwd: root }),
    );
    return client;
  };

  test("has the same tools as the server, and asks it, as an agent", async () => {
    const client = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(nameTools(operations).map(({ name }) => name));
    const me = await client.callTool({ name: "svc_get_me", arguments: {} });
    expect(me.structuredContent).toMatchObject({ user_id: api.first.users.admin });

    const { params } = (await operationCases["source.update"]?.(world)) ?? {};
    const rename = {
      name: "svc_rename_source",
      arguments: { ...params, name: "Named over stdio" },
    };
    const proposed = await client.callTool(rename);
    expect(proposed.structuredContent).toMatchObject({
      status: "proposal_created",
      approval: { source: "mcp" },
    });
    const listed = await client.callTool({
      name: "svc_list_approvals",
      arguments: { status: "pending", limit: 1 },
    });
    expect(listed.structuredContent).toMatchObject({ items: [{ operation: "source.update" }] });

    const bad = await client.callTool({ name: "svc_rename_source", arguments: { name: "x" } });
    expect([bad.isError, JSON.stringify(bad.content)]).toEqual([
      true,
      expect.stringContaining("source_id"),
    ]);
    await expect(client.callTool({ name: "svc_nothing", arguments: {} })).rejects.toMatchObject({
      code: -32602,
    });
    await client.close();
  });

  test("tells of a token that has ended, and goes on with the next one in the file", async () => {
    const client = await connect();
    const file = environment.SVC_TOKEN_FILE ?? "";
    await writeFile(file, `svc_at_${"0".repeat(46)}`);
    const refused = await client.callTool({ name: "svc_get_me", arguments: {} });
    expect([refused.isError, JSON.stringify(refused.content)]).toEqual([
      true,
      expect.stringContaining("unauthenticated"),
    ]);
    await writeFile(file, api.first.tokens.admin);
    expect((await client.callTool({ name: "svc_get_me", arguments: {} })).isError).toBeFalsy();
    await client.close();
  });
});

describe("svc mcp ends", () => {
  const run = async (env: Record<string, string | undefined>) => {
    const child = spawn(process.execPath, command, {
      cwd: root,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE, ...env },
    });
    let text = "";
    child.stderr.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    child.stdin.end();
    const [code] = await once(child, "close");
    return { code, text };
  };

  test("with its input, and says nothing", async () => {
    expect(await run(environment)).toEqual({ code: 0, text: "" });
  });

  test("with one line when it lacks an address or a token, or would send the token in the clear", async (context) => {
    skipUnlessWhole(context);
    for (const [name, value] of [
      ["SVC_API_BASE_URL", undefined],
      ["SVC_API_BASE_URL", "http://svc.example.com/control/v1"],
      ["SVC_API_BASE_URL", "https://user:secret-in-url@svc.example.com/control/v1"],
      ["SVC_API_BASE_URL", "https://svc.example.com/"],
      ["SVC_TOKEN_FILE", undefined],
      ["SVC_TOKEN_FILE", "/nowhere/token"],
    ] as const) {
      const { code, text } = await run({ ...environment, [name]: value });
      expect([code, text.split("\n").length]).toEqual([2, 2]);
      expect(text).toMatch(new RegExp(`${name}|token file`));
      expect(text).not.toContain("secret-in-url");
    }
  });
});
