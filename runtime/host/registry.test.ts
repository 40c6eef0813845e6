import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtInSources, findConnector } from "./registry.ts";

const packages = ["acme", "@acme/tickets", "other"].map((name) => `node_modules/${name}`);

let root: string;
beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "svc-registry-")));
  for (const folder of ["ts", "js", "main/lib", "empty", "below", ...packages])
    await mkdir(join(root, folder), { recursive: true });
  for (const file of ["ts/index.ts", "js/index.js", "main/lib/source.js", "own source.ts"])
    await writeFile(join(root, file), "");
  await writeFile(join(root, "main/package.json"), '{"main": "lib/source.js"}');
  await writeFile(join(root, "empty/package.json"), "{broken");
  for (const folder of packages) {
    const peerDependencies = folder.includes("other") ? {} : { "svc-connectors": ">=0.1.0" };
    const manifest = { exports: { ".": { default: "./lib/source.js" } }, peerDependencies };
    await writeFile(join(root, folder, "package.json"), JSON.stringify(manifest));
    await mkdir(join(root, folder, "lib"));
    await writeFile(join(root, folder, "lib/source.js"), "");
  }
  await symlink("loop", join(root, "loop"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

test.each(
  builtInSources.map(({ name, id }) => [name, id] as const),
)("%s is found by its name, its id and its legacy alias", (name, id) => {
  const { url } = findConnector(name, root);
  expect(fileURLToPath(url)).toMatch(new RegExp(`connectors/sources/${name}/index\\.ts$`));
  for (const wanted of [id, `source:${name}`])
    expect(findConnector(wanted, root)).toEqual({ name, url });
});

test.each([
  ["./ts", "ts/index.ts"],
  ["js/", "js/index.js"],
  ["./main", "main/lib/source.js"],
  ["own source.ts", "own source.ts"],
  ["ts/../js/index.js", "js/index.js"],
])("%s is the module %s", (wanted, file) => {
  expect(findConnector(wanted, root)).toEqual({
    name: wanted,
    url: pathToFileURL(join(root, file)).href,
  });
});

test("absolute paths, file: URLs and . are paths too", () => {
  const url = pathToFileURL(join(root, "ts/index.ts")).href;
  expect(findConnector(join(root, "ts"), "/").url).toBe(url);
  expect(findConnector(url, "/").url).toBe(url);
  expect(findConnector(".", join(root, "ts")).url).toBe(url);
});

test.each([
  ["acme", "acme"],
  ["@acme/tickets", "@acme/tickets"],
  ["./node_modules/acme", "acme"],
])("%s is the package %s that is installed, also from a folder below", (wanted, name) => {
  const url = pathToFileURL(join(root, "node_modules", name, "lib/source.js")).href;
  expect(findConnector(wanted, root)).toEqual({ name: wanted, url });
  if (!wanted.startsWith("."))
    expect(findConnector(wanted, join(root, "below"))).toEqual({ name: wanted, url });
});

test.each([
  "other",
  "@acme/none",
  "node_modules",
  "",
  "maler",
  "toString",
  "__proto__",
  "./nothing",
  "./empty",
  "./loop",
  "file://host/x",
  "file:%",
  "https://example.com/x.js",
  "a\0b/c",
])("%j is unknown", (wanted) =>
  expect(() => findConnector(wanted, root)).toThrow(
    expect.objectContaining({ code: "CONNECTOR_UNKNOWN" }),
  ));
