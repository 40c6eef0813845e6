/**
 * The folder that `svc new source-tickets.yaml` makes, as its author meets it: it loads, reads the
 * notebook, is recorded, and holds against the kit.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost } from "svc-connectors/host";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openKit } from "../conformance/kit.ts";
import { buildNew } from "../conformance/new/command.ts";
import { buildRecord } from "../conformance/recorder/command.ts";
import { answerNotes, notebook } from "../fixtures/reference/provider.ts";
import { startServer } from "../simulators/simulator/server.ts";
import { runCommand } from "./command.ts";
import { choose } from "./effort.ts";

const token = "nts_live_8Kq2Xw7Rt5Yu9Io3Pa6Sd";
const manifest = "./source-tickets.yaml";
/** All of them with whole samples; else those about what its author can get wrong. */
const rules = choose({
  quick: ["SPEC-03", "CHECK-04", "READ-04", "NET-04", "FIX-06"],
  whole: [],
});

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "svc-new-manifest-"));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

/** `svc …` in this process, with the notebook for its provider. */
async function svc(cwd: string, ...args: readonly string[]) {
  await using server = await startServer({
    hostname: "api.notes.example.com",
    answer({ method, path, query, headers }) {
      const url = new URL(`https://api.notes.example.com${path}?${query}`);
      const isAllowed = headers.authorization === `Bearer ${token}`;
      const { status, body } = answerNotes(notebook, method, url, isAllowed);
      return { status, headers: { "content-type": "application/json" }, body: Buffer.from(body) };
    },
  });
  return await runCommand(args, {
    cwd,
    commands: { new: buildNew, record: buildRecord },
    createHost: (options) =>
      createHost({ ...options, sandbox: "inline", seams: { ...server.seams, ...options?.seams } }),
  });
}

/** A made one in a folder of its own, with settings of a live account. */
async function makeOne(settings: object = {}): Promise<string> {
  const cwd = await mkdtemp(join(parent, "made-"));
  expect(await svc(cwd, "new", "source-tickets.yaml")).toMatchObject({ code: 0, stderr: "" });
  const folder = join(cwd, "source-tickets");
  await writeFile(join(folder, "config.json"), JSON.stringify({ api_token: token, ...settings }));
  return folder;
}

async function tryRules(folder: string) {
  await using kit = await openKit({
    ...{ connector: manifest, cwd: folder, kind: "module", network: {}, command: "svc" },
    ...{ profiles: ["core", "resumable", "resilient"], rules, seed: 1, isExhaustive: false },
  });
  return await kit.run();
}

test("it loads, and check, discover and read work on it", async () => {
  const folder = await makeOne();
  const configured = [manifest, "--config", "config.json"];
  expect(await svc(folder, "spec", manifest)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^api_token +required; secret/),
  });
  expect(await svc(folder, "check", ...configured)).toMatchObject({ code: 0, stderr: "" });
  const { stdout } = await svc(folder, "discover", ...configured);
  expect(stdout).toMatch(/\nnotes .* incremental +updated_at\n/);
  expect(stdout).toMatch(/\nmembers .* folder_id, id /);
  expect(await svc(folder, "read", ...configured, "--out", "rows")).toMatchObject({ code: 0 });
  const rowsOf = async (stream: string) =>
    (await readFile(join(folder, "rows", `${stream}.jsonl`), "utf8")).trim().split("\n");
  expect(await rowsOf("notes")).toHaveLength(notebook.notes.length);
  expect((await rowsOf("members")).map((line) => JSON.parse(line))).toEqual(
    Object.entries(notebook.members).flatMap(([folder_id, members]) =>
      members.map((member) => ({ ...member, folder_id })),
    ),
  );
});

test("it meets the kit's rules as made, and recorded anew", async () => {
  const folder = await makeOne({ page_size: 2 });
  const made = await tryRules(folder);
  expect([made.verdict, made.counts.fail + made.counts.warn]).toEqual(["passed", 0]);
  for (const name of await readdir(join(folder, "fixtures")))
    await rm(join(folder, "fixtures", name));
  const recorded = await svc(folder, "record", manifest, "--config", "config.json");
  expect(recorded).toMatchObject({ code: 0, stderr: "" });
  expect(recorded.stdout).not.toContain("conformance.yaml");
  expect((await tryRules(folder)).verdict).toBe("passed");
});

test("settings that were recorded otherwise than conformance.yaml has them are told", async () => {
  const folder = await makeOne({ page_size: 50 });
  const { code, stdout } = await svc(folder, "record", manifest, "--config", "config.json");
  expect(code).toBe(0);
  expect(stdout).toMatch(/\nconformance.yaml has another value for page_size than the settings/);
});

test("no secret that svc config writes a file for gets into a repository", async () => {
  const folder = await makeOne();
  const { stdout } = await svc(folder, "config", manifest);
  const [, file = ""] = /\$file: \.\/(\S+) \}/.exec(stdout) ?? [];
  const ignored = (await readFile(join(folder, ".gitignore"), "utf8")).trim().split("\n");
  expect(ignored).toContain("config.yaml");
  expect(ignored.some((one) => one.startsWith("*") && file.endsWith(one.slice(1)))).toBe(true);
});

test.each([
  ["Bad.yaml", /^svc: a name is lower case letters, .* with \.yaml behind it/],
  ["../other.yaml", /^svc: a name is lower case letters/],
  ["tickets.yml", /^svc: a name is lower case letters/],
  ["source-tickets.yaml", /^svc: there is a folder "source-tickets" already\n$/],
])("svc new %s is refused, and changes nothing", async (name, problem) => {
  const folder = await makeOne();
  const before = await readdir(join(folder, ".."), { recursive: true });
  const { code, stderr } = await svc(join(folder, ".."), "new", name);
  expect(code).toBe(2);
  expect(stderr).toMatch(problem);
  expect(await readdir(join(folder, ".."), { recursive: true })).toEqual(before);
});

test("a checkout of svc itself gets modules only", async () => {
  const { code, stderr } = await svc(process.cwd(), "new", "source-tickets.yaml");
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(/the sources of this repository are mod/),
  ]);
});
