/**
 * The JSON that scripts rely on: with `--json` every command that answers leaves one JSON document
 * on stdout, whether it succeeds or not (docs/command-line.md).
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as control from "svc-connectors/control";
import { createHost } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { locate, openInstance } from "../control/commands/instance.ts";
import { askInstance } from "../control/operator/ask.ts";
import { serveOperator, socketPath } from "../control/operator/channel.ts";
import { createOperator } from "../control/operator/operator.ts";
import { silentLog } from "../control/services/log.ts";
import { commandsOf, runCommand } from "./command.ts";
import { prepareInstance } from "./instance.ts";

const counting = fileURLToPath(new URL("../fixtures/counting", import.meta.url));
const canary = "canary-Zq7-Token-0123456789";
const commands = commandsOf(control);

let cwd: string;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "svc-json-"));
  opened.defer(() => rm(cwd, { recursive: true, force: true }));
  await prepareInstance(cwd);
  await writeFile(join(cwd, "c.json"), JSON.stringify({ token: canary, count: 25 }));
  await writeFile(
    join(cwd, "denied.json"),
    JSON.stringify({ token: canary, count: 1, works: false }),
  );
  const instance = await locate({ cwd }, {});
  const { services } = opened.use(await openInstance(instance, { log: silentLog, jobs: "run" }));
  await createOperator(askInstance(services)).run("instance.bootstrap", {});
  // Commands ask it, as they ask a server.
  opened.use(await serveOperator(socketPath(instance.folder) ?? "", askInstance(services)));
});
afterAll(() => opened.disposeAsync());

async function svc(...argv: string[]) {
  const ran = await runCommand(argv, {
    cwd,
    commands,
    createHost: (options) => createHost({ ...options, sandbox: "inline" }),
  });
  expect(ran.stdout + ran.stderr).not.toContain(canary);
  return ran;
}

/** One line, one document, names of one form. */
function parse(stdout: string): Record<string, unknown> {
  expect(stdout).toMatch(/^\{.*\}\n$/);
  const document = JSON.parse(stdout) as Record<string, unknown>;
  expect(namesIn(document).filter((name) => !/^[a-z][a-z0-9_]*$/.test(name))).toEqual([]);
  return document;
}

/** Not of JSON Schemas, and of details, whose names are others'. */
function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    ["spec", "json_schema", "details"].includes(name) ? [] : [name, ...namesIn(part)],
  );
}

const config = ["--config", "c.json"];
test.each<[string[], object]>([
  [["version"], { version: expect.stringMatching(/^\d/) }],
  [
    ["connectors"],
    { sources: expect.arrayContaining([expect.objectContaining({ name: "mailer" })]) },
  ],
  [
    ["spec", counting],
    { id: "conn_counting", spec: { properties: { token: { title: "Token" } } } },
  ],
  [["check", counting, ...config], { status: "succeeded" }],
  [
    ["discover", counting, ...config],
    { streams: expect.arrayContaining([expect.objectContaining({ name: "numbers" })]) },
  ],
  [
    ["read", counting, ...config, "--streams", "numbers", "--out", "x.duckdb"],
    {
      status: "succeeded",
      rows: 25,
      out: "./x.duckdb",
      streams: [{ stream: "numbers", rows: 25, table: '"numbers"' }],
    },
  ],
  [["connectors", "list"], { connectors: [] }],
  [["connectors", "digest", counting], { digest: expect.stringMatching(/^sha256:/) }],
  [["connectors", "disable", "social"], { connector_id: "conn_social", enabled: false }],
  [["connectors", "enable", "social"], { connector_id: "conn_social", enabled: true }],
  [
    ["connectors", "add", counting, "--sandbox", "process"],
    { connector_id: "conn_counting", sandbox: "process" },
  ],
  [["connectors", "remove", "conn_counting"], { connector_id: "conn_counting" }],
  [
    ["token", "create", "--role", "viewer"],
    { token: expect.any(String), session_id: expect.any(String) },
  ],
  [
    ["token", "list"],
    { sessions: expect.arrayContaining([expect.objectContaining({ role: "viewer" })]) },
  ],
  [["workspaces", "create", "Acme"], { slug: "acme" }],
  [["keys", "list"], { keys: [expect.objectContaining({ current: true })] }],
  [["keys", "rotate"], { current: expect.any(String), rewrapped: expect.any(Number) }],
  [["keys", "prune"], { removed: expect.any(Array), kept: [] }],
  [
    ["audit", "verify"],
    {
      faults: [],
      intact: expect.arrayContaining([
        expect.objectContaining({ workspace_id: expect.any(String) }),
      ]),
    },
  ],
  [["jobs", "list"], { jobs: [] }],
])("svc %j answers with one document", async (argv, document) => {
  const { code, stdout } = await svc(...argv, "--json");
  expect(parse(stdout)).toMatchObject(document);
  expect(code).toBe(0);
});

test.each<[number, string[], string]>([
  [2, ["frobnicate"], "USAGE"],
  [2, ["check", "postgress"], "USAGE"],
  [2, ["read"], "USAGE"],
  [2, ["read", counting, ...config, "--out", "-"], "USAGE"],
  [2, ["jobs"], "USAGE"],
  [2, ["jobs", "cancel", "job_0"], "USAGE"],
  [2, ["jobs", "watch", "job_0"], "USAGE"],
  [2, ["token", "list", "--data", "nowhere"], "USAGE"],
  [2, ["read", counting, "--config", "wrong.json"], "CONFIG_INVALID"],
])("%i: svc %j fails with one document, and a line for people", async (expected, argv, error) => {
  await writeFile(join(cwd, "wrong.json"), JSON.stringify({ token: canary, count: "many" }));
  const { code, stdout, stderr } = await svc(...argv, "--json");
  expect(code).toBe(expected);
  expect(parse(stdout)).toMatchObject({ error: { code: error, message: expect.any(String) } });
  expect(stderr).toMatch(/^svc: .+\n$/);
});

test("a check or a read that fails is an answer with the reason", async () => {
  const check = await svc("check", counting, "--config", "denied.json", "--json");
  expect(check.code).toBe(1);
  expect(parse(check.stdout)).toMatchObject({
    status: "failed",
    error: { code: "CREDENTIALS_REJECTED" },
  });
  const read = await svc("read", counting, ...config, "--streams", "denied", "--json");
  expect(read.code).toBe(1);
  expect(parse(read.stdout)).toMatchObject({
    status: "failed",
    streams: [{ stream: "denied", status: "incomplete", error: { code: "PERMISSION_DENIED" } }],
  });
});

/** Commands that answer nothing that a script could use, or have a form of their own. */
const withoutJson =
  /^($|run|config|serve|worker|mcp|completion|apply|export|help|jobs|token|keys|audit|workspaces)$|(^| )help$/;

test("every other command has the flag", async () => {
  const { stdout } = await svc("completion", "bash");
  const nodes = [...stdout.matchAll(/^ {4}'([a-z ]*)'\) commands='[^']*' flags='([^']*)'/gm)];
  expect(nodes.length).toBeGreaterThan(20);
  const lacking = nodes.filter(([, , flags = ""]) => !flags.split(" ").includes("--json"));
  expect(lacking.map(([, path = ""]) => path).filter((path) => !withoutJson.test(path))).toEqual(
    [],
  );
});
