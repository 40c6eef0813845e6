import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { packageRoot, runtimeFolder } from "../wire/location.ts";
import { packageRoots, readablePaths } from "./code-access.ts";
import { sandboxEnding, sandboxFolder } from "./sandbox-code.ts";

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
/** The readable paths in the connector's node_modules. */
const packages = () => {
  const inside = join(folder, "connector/node_modules/");
  return access()
    .filter((path) => path.startsWith(inside))
    .map((path) => path.slice(inside.length))
    .sort();
};
const invalid = expect.objectContaining({ code: "CONNECTOR_INVALID" });

test("a connector may read its code and its packages, not the files beside them", async () => {
  await mkdir(join(folder, "connector/node_modules/one"), { recursive: true });
  await mkdir(join(folder, "connector/node_modules/.cache"));
  await writeFile(join(folder, "connector/node_modules/.package-lock.json"), "{}");
  const own = access().filter((path) => path.startsWith(folder));
  expect(own.sort()).toEqual(
    ["index.ts", "node_modules/one/", "package.json"].map((name) =>
      join(folder, "connector", name),
    ),
  );
});

test("of the runtime a worker may read what the sandbox runs, nothing of the host", () => {
  const readable = access()
    .filter((path) => path.startsWith(sandboxFolder) || path.startsWith(runtimeFolder))
    .map((path) => path.slice(sandboxFolder.length));
  const entries = ["author", "database-author"].map((name) => `${name}${sandboxEnding}`);
  const folders = ["contract/", "database/", "manifest/", "protocol/", "wire/", "worker/"];
  expect(readable.sort()).toEqual([...entries, ...folders].sort());
});

test("a declarative manifest and its schemas are readable, and nothing beside them", async () => {
  const schemas = join(folder, "connector/schemas");
  await mkdir(join(schemas, "shared/deeper"), { recursive: true });
  for (const file of ["orders.json", "notes.txt", "shared/part.json", "shared/deeper/x.json"])
    await writeFile(join(schemas, file), "{}");
  await symlink("/etc/hostname", join(schemas, "link.json"));
  await writeFile(join(folder, "connector/shop.yaml"), "type: DeclarativeSource");
  const paths = readablePaths(pathToFileURL(join(folder, "connector/shop.yaml")).href);
  expect(paths.filter((path) => path.startsWith(folder))).toEqual([
    join(folder, "connector/shop.yaml"),
    join(schemas, "orders.json"),
    join(schemas, "shared/part.json"),
  ]);
});

test("what is installed beside a built svc is neither read through nor readable, but for a connector's own", () => {
  expect(packageRoots(packageRoot, true)).toEqual([]);
  expect(packageRoots("/connector", true)).toEqual(["/connector"]);
  expect(packageRoots(packageRoot, false)).toContain(packageRoot);
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

describe("what a tool keeps in a hidden folder of node_modules", () => {
  beforeEach(async () => {
    await mkdir(join(folder, "connector/node_modules/.cache/tool"), { recursive: true });
    await mkdir(join(folder, "connector/node_modules/real"), { recursive: true });
    await symlink(folder, join(folder, "connector/node_modules/.cache/tool/python"));
  });

  test("is neither looked through nor readable", () => {
    expect(packages()).toEqual(["real/"]);
  });

  test.each([
    ["../.cache/tool", "a link into it"],
    ["../.cache/tool/python", "a link through it"],
    ["..", "a link to what holds it"],
  ])("is not readable through %s, %s", async (target) => {
    await writeFile(join(folder, "connector/node_modules/real/index.js"), "");
    await symlink(target, join(folder, "connector/node_modules/real/link"));
    // Through the tool's own link it leads out of node_modules.
    if (target.endsWith("python")) expect(access).toThrow(invalid);
    else expect(packages()).toEqual(["real/index.js"]);
  });
});

test("links within node_modules are fine", async () => {
  await mkdir(join(folder, "connector/node_modules/real"), { recursive: true });
  await symlink("real", join(folder, "connector/node_modules/alias"));
  expect(packages()).toEqual(["alias/", "real/"]);
});

test("links in a circle are fine", async () => {
  await mkdir(join(folder, "connector/node_modules/real/deep"), { recursive: true });
  await symlink("..", join(folder, "connector/node_modules/real/up"));
  await symlink("../..", join(folder, "connector/node_modules/real/deep/up"));
  expect(packages()).toEqual(["real/"]);
});

describe("of a link to this package", () => {
  beforeEach(() => mkdir(join(folder, "connector/node_modules/real"), { recursive: true }));

  test("nothing is readable: what is imported of it has a path of its own", async () => {
    await symlink(packageRoot, join(folder, "connector/node_modules/svc-connectors"));
    expect(packages()).toEqual(["real/"]);
  });

  test("nothing is readable when it leads to another copy", async () => {
    await mkdir(join(folder, "other"));
    await symlink("../../other", join(folder, "connector/node_modules/svc-connectors"));
    expect(packages()).toEqual(["real/"]);
  });

  test("another link to it opens no more", async () => {
    await symlink(packageRoot, join(folder, "connector/node_modules/svc-connectors"));
    await symlink("svc-connectors", join(folder, "connector/node_modules/again"));
    expect(packages()).toEqual(["real/"]);
  });

  test("a link to the folder that holds it opens nothing", async () => {
    await symlink(packageRoot, join(folder, "connector/node_modules/svc-connectors"));
    await symlink("..", join(folder, "connector/node_modules/real/up"));
    expect(packages()).toEqual([]);
  });

  test("one deep in a package opens the package's other files one by one", async () => {
    await writeFile(join(folder, "connector/node_modules/real/index.js"), "");
    await mkdir(join(folder, "connector/node_modules/real/node_modules"));
    await symlink(
      packageRoot,
      join(folder, "connector/node_modules/real/node_modules/svc-connectors"),
    );
    expect(packages()).toEqual(["real/index.js"]);
  });

  test("one to a part of it is refused", async () => {
    await symlink(join(packageRoot, "runtime"), join(folder, "connector/node_modules/part"));
    expect(access).toThrow(invalid);
  });
});

test("an installed copy of svc is not readable", async () => {
  await mkdir(join(folder, "connector/node_modules/svc-connectors/dist"), { recursive: true });
  await mkdir(join(folder, "connector/node_modules/real"));
  expect(packages()).toEqual(["real/"]);
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

test("a folder with more files than a connector has is refused, and not looked through to its end", async () => {
  const data = join(folder, "connector/data");
  await mkdir(data);
  const names = Array.from({ length: 20_001 }, (_, index) => join(data, `${index}.json`));
  for (let from = 0; from < names.length; from += 500)
    await Promise.all(names.slice(from, from + 500).map((name) => writeFile(name, "")));
  expect(access).toThrow(invalid);
});
