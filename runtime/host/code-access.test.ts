import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { packageRoot, runtimeFolder } from "../wire/location.ts";
import { readablePaths } from "./code-access.ts";

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-access-")));
  await mkdir(join(folder, "connector"));
  await writeFile(join(folder, "connector/package.json"), "{}");
  await writeFile(join(folder, "connector/index.ts"), "");
  await writeFile(join(folder, "connector/.env"), "");
  await writeFile(join(folder, "connector/config.json"), "");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const access = () => readablePaths(pathToFileURL(join(folder, "connector/index.ts")).href);
const invalid = expect.objectContaining({ code: "CONNECTOR_INVALID" });

test("a connector may read its code and its packages, not the files beside them", async () => {
  await mkdir(join(folder, "connector/node_modules"));
  const own = access().filter((path) => path.startsWith(folder));
  expect(own.sort()).toEqual(
    ["index.ts", "node_modules/", "package.json"].map((name) => join(folder, "connector", name)),
  );
});

test("of the runtime a worker may read what the sandbox runs, nothing of the host", () => {
  const readable = access()
    .filter((path) => path.startsWith(runtimeFolder))
    .map((path) => path.slice(runtimeFolder.length));
  expect(readable.sort()).toEqual(["author.ts", "contract/", "wire/", "worker/"]);
});

test("a node_modules that is a link is not readable", async () => {
  await symlink("/", join(folder, "connector/node_modules"));
  expect(
    access().filter((path) => path.includes("node_modules") && path.startsWith(folder)),
  ).toEqual([]);
});

test("a link in node_modules that leads out of it is refused", async () => {
  await mkdir(join(folder, "connector/node_modules/deep"), { recursive: true });
  await symlink(folder, join(folder, "connector/node_modules/deep/app"));
  expect(access).toThrow(invalid);
});

test("links within node_modules, and one to this package, are fine", async () => {
  await mkdir(join(folder, "connector/node_modules/real"), { recursive: true });
  await symlink("real", join(folder, "connector/node_modules/alias"));
  await symlink(packageRoot, join(folder, "connector/node_modules/svc-connectors"));
  expect(access).not.toThrow();
});

test("a package.json that is a link is not readable", async () => {
  await rm(join(folder, "connector/package.json"));
  await writeFile(join(folder, "outside.json"), "{}");
  await symlink("../outside.json", join(folder, "connector/package.json"));
  expect(access().some((path) => path.startsWith(folder) && path.endsWith("package.json"))).toBe(
    false,
  );
});

test("a file whose name would work as a wildcard is refused", async () => {
  await writeFile(join(folder, "connector/*.js"), "");
  expect(access).toThrow(invalid);
});
