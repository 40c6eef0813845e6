import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { arch, platform, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const bin = fileURLToPath(new URL("../../bin", import.meta.url));
const { bin: executables } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { bin: Record<string, string> };
const packaged = `svc-connectors-node-${platform()}-${arch()}`;

let root: string;
let folderCount = 0;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "svc launcher-")));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A package as npm installs it, with an entry that tells who it is. */
async function install(
  layout: "nested" | "hoisted" | "none",
): Promise<{ modules: string; run: typeof run }> {
  const modules = join(root, String(folderCount++), "node_modules");
  const own = join(modules, "svc-connectors");
  await mkdir(join(own, "bin"), { recursive: true });
  await mkdir(join(own, "dist/bin"), { recursive: true });
  await mkdir(join(own, "dist/runtime"), { recursive: true });
  await mkdir(join(modules, ".bin"));
  for (const [name, path] of Object.entries(executables)) {
    await copyFile(join(bin, path === "bin/svc" ? "svc" : "source"), join(own, path));
    await chmod(join(own, path), 0o755);
    await symlink(`../svc-connectors/${path}`, join(modules, ".bin", name));
  }
  await writeFile(join(own, "package.json"), '{"type": "module"}');
  await writeFile(
    join(own, "dist/svc.js"),
    "console.log(JSON.stringify({ args: process.argv.slice(2), flags: process.execArgv, pid: process.pid, exec: process.argv0 })); process.exitCode = 7;",
  );
  const node = join(
    layout === "nested" ? join(own, "node_modules") : modules,
    packaged,
    "bin/node",
  );
  if (layout !== "none") {
    await mkdir(dirname(node), { recursive: true });
    await symlink(process.execPath, node);
  }
  return { modules, run };
}

interface Started {
  readonly code: number;
  readonly pid: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(file: string, args: string[], path: string): Promise<Started> {
  const running = promisify(execFile)(file, args, { env: { PATH: path }, cwd: root });
  const { pid } = running.child;
  try {
    return { code: 0, pid, ...(await running) };
  } catch (error) {
    return { pid, ...(error as { code: number; stdout: string; stderr: string }) };
  }
}

const system = "/usr/bin:/bin";

test.each([
  "nested",
  "hoisted",
] as const)("svc becomes the Node of the package (%s), with its arguments and its exit code", async (layout) => {
  const { modules } = await install(layout);
  const { code, stdout, pid } = await run(
    join(modules, ".bin/svc"),
    ["read", "a b", "*", ""],
    system,
  );
  expect(JSON.parse(stdout)).toEqual({
    args: ["read", "a b", "*", ""],
    flags: [],
    pid,
    exec: expect.stringContaining(packaged),
  });
  expect(code).toBe(7);
});

test.each(["serve", "worker"])("svc %s keeps little memory while it waits", async (command) => {
  const { modules } = await install("hoisted");
  const { stdout } = await run(join(modules, ".bin/svc"), [command, "--data", "a b"], system);
  expect(JSON.parse(stdout)).toMatchObject({
    args: [command, "--data", "a b"],
    flags: ["--max-semi-space-size=4", "--v8-pool-size=1"],
  });
});

test("svc-node is that Node itself, and svc's own entry is not started", async () => {
  const { modules } = await install("hoisted");
  const { code, stdout } = await run(join(modules, ".bin/svc-node"), ["-p", "6 * 7"], system);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "42\n" });
});

test("it is found through a chain of links, and by its bare name on the PATH", async () => {
  const { modules } = await install("hoisted");
  await symlink(join(modules, ".bin/svc"), join(root, "first"));
  await symlink("first", join(root, "second"));
  expect((await run(join(root, "second"), ["x"], system)).code).toBe(7);
  expect((await run("/bin/sh", ["-c", "svc x"], `${join(modules, ".bin")}:${system}`)).code).toBe(
    7,
  );
});

test.each(
  Object.keys(executables).filter((name) => name.startsWith("source-")),
)("%s runs that connector", async (executable) => {
  const name = executable.replace("source-", "");
  const { modules } = await install("hoisted");
  const { stdout } = await run(
    join(modules, ".bin", executable),
    ["check", "--config", "c d.json"],
    system,
  );
  expect(JSON.parse(stdout)).toMatchObject({
    args: ["run", name, "check", "--config", "c d.json"],
  });
});

async function fakeNode(version: string): Promise<string> {
  const folder = join(root, `path-${folderCount++}`);
  await mkdir(folder);
  await writeFile(
    join(folder, "node"),
    `#!/bin/sh\n[ "$1" = --version ] && { echo ${version}; exit 0; }\nexec "${process.execPath}" "$@"\n`,
  );
  await chmod(join(folder, "node"), 0o755);
  return folder;
}

test("without a packaged Node the one on the PATH is used when it is new enough", async () => {
  const { modules } = await install("none");
  for (const version of ["v26.0.0", "v30.1.2"]) {
    expect(
      (await run(join(modules, ".bin/svc"), [], `${await fakeNode(version)}:${system}`)).code,
    ).toBe(7);
  }
});

test.each([
  "v20.19.0",
  "v9.0.0",
  "nonsense",
])("a Node %s on the PATH is refused in one line", async (version) => {
  const { modules } = await install("none");
  const { code, stdout, stderr } = await run(
    join(modules, ".bin/svc"),
    [],
    `${await fakeNode(version)}:${system}`,
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^svc: needs Node\.js 26 or newer[^\n]*\n$/);
});
