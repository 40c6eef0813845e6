import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cp,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

// A copy of this repository gets one more source by `svc new`, and nothing else of it is touched:
// registry, Control API, command line, README and executables find it by its card.

const root = fileURLToPath(new URL("../", import.meta.url));
const leftOut = new Set(["node_modules", "dist", ".git", ".svc", "out", "coverage"]);

let copy: string;
let before: Map<string, string>;

beforeAll(async () => {
  copy = await realpath(await mkdtemp(join(tmpdir(), "svc-new-source-")));
  for (const name of await readdir(root))
    if (!leftOut.has(name)) await cp(join(root, name), join(copy, name), { recursive: true });
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  before = await digests();
  await svc("new", "tickets");
});
afterAll(() => rm(copy, { recursive: true, force: true }));

/** Of every file in the copy; a linked folder is none of its own. */
async function digests(): Promise<Map<string, string>> {
  const names = (await readdir(copy)).filter((name) => !leftOut.has(name));
  const files = (await Promise.all(names.map((name) => filesAt(join(copy, name))))).flat();
  const all = await Promise.all(
    files.map(async (file) => {
      const digest = createHash("sha256").update(await readFile(file));
      return [relative(copy, file), digest.digest("hex")] as const;
    }),
  );
  return new Map(all);
}

async function filesAt(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
}

async function run(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: copy,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}
const svc = (...args: string[]) => run("--conditions=svc-source", "svc.ts", ...args);
const tool = (path: string, ...args: string[]) => run(join("node_modules", path), ...args);

const change = async (path: string, from: string, to: string) => {
  const text = await readFile(join(copy, path), "utf8");
  await writeFile(join(copy, path), text.replace(from, to));
};

test("a new source touches no file but its own", async () => {
  const after = await digests();
  const touched = [...after].filter(([path, digest]) => before.get(path) !== digest);
  const paths = touched.map(([path]) => path).sort();
  expect(paths.filter((path) => !path.startsWith("connectors/sources/tickets/"))).toEqual([]);
  expect(paths.map((path) => path.replace("connectors/sources/tickets/", ""))).toEqual(
    expect.arrayContaining([
      "README.md",
      "card.json",
      "conformance.test.ts",
      "conformance.yaml",
      "fixtures/baseline.yaml",
      "index.ts",
    ]),
  );
  expect([...before.keys()].filter((path) => !after.has(path))).toEqual([]);
});

test("the command line knows it by its name", async () => {
  expect(await svc("connectors")).toMatch(/^tickets +conn_tickets +Tickets: notes/m);
  const [message] = (await svc("run", "tickets", "spec", "--sandbox", "inline")).split("\n");
  expect(JSON.parse(message ?? "")).toMatchObject({
    type: "SPEC",
    spec: { connectionSpecification: { required: ["api_token"] } },
  });
});

test("it is formatted and has nothing to lint", async () => {
  await tool("@biomejs/biome/bin/biome", "check", "connectors/sources/tickets");
});

/** Of the files that see a source without being told of it; the first is the source's own. */
const suites = [
  "connectors/sources/tickets/conformance.test.ts",
  "control/operations/connectors.test.ts",
  "runtime/host/cards.test.ts",
  "runtime/host/registry.test.ts",
  "tests/boundaries.test.ts",
  "tests/connector-lists.test.ts",
];

test("the Control API lists it, and its own test and those of cards and layers pass", async () => {
  const report = join(copy, "report.json");
  await tool("vitest/vitest.mjs", "run", "--reporter=json", `--outputFile=${report}`, ...suites);
  const { success, testResults } = JSON.parse(await readFile(report, "utf8"));
  expect(success).toBe(true);
  expect(testResults.map(({ name }: { name: string }) => relative(copy, name)).sort()).toEqual(
    suites,
  );
});

test("once it is beta, README's table and the executables have it", async () => {
  await change("connectors/sources/tickets/card.json", '"alpha"', '"beta"');
  await run("--conditions=svc-source", "docs/generate.ts");
  expect(await readFile(join(copy, "README.md"), "utf8")).toContain(
    "| [`tickets`](connectors/sources/tickets/README.md) | Tickets: notes and folders of an imaginary service | `conn_tickets` |",
  );
  expect(JSON.parse(await readFile(join(copy, "package.json"), "utf8")).bin).toHaveProperty(
    "source-tickets",
    "dist/bin/source-tickets",
  );
});

test("a name that a connector has is refused, and outside of the repository a folder of its own is made", async () => {
  await expect(svc("new", "postgres-destination")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is a connector "postgres-destination" already'),
  });
  const elsewhere = await mkdtemp(join(copy, "elsewhere-"));
  await promisify(execFile)(
    process.execPath,
    ["--conditions=svc-source", join(copy, "svc.ts"), "new", "tickets"],
    { cwd: elsewhere },
  );
  expect((await readdir(join(elsewhere, "tickets"))).sort()).toEqual([
    ".github",
    ".gitignore",
    "README.md",
    "conformance.yaml",
    "fixtures",
    "index.test.ts",
    "index.ts",
    "package.json",
    "tsconfig.json",
  ]);
});
