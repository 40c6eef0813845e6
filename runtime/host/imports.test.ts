import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a host is there without HTTP, a database, images and a warehouse: each is loaded when it is used", async () => {
  const loaded = await loadedBy("./create-host.ts");
  expect(loaded).toContain("runtime/host/create-host.ts");
  expect(loaded).not.toMatch(/node_modules\/(undici|@duckdb|apache-arrow|pg|yaml)\//);
  expect(loaded).not.toMatch(/runtime\/(image\/(image-broker|open-image|proxy)|worker\/serve)\.ts/);
  expect(loaded).not.toMatch(nodesOwnHttp);
});

test.each([
  "../host.ts",
  "../manifest/source.ts",
])("%s brings no HTTP of Node's own", async (file) => {
  const loaded = await loadedBy(file);
  expect(loaded).toContain(file.replace("..", "runtime"));
  expect(loaded).not.toMatch(nodesOwnHttp);
});

test("a manifest is read without what few of them need", async () => {
  expect(await loadedBy("../manifest/source.ts")).not.toMatch(/^node:crypto$/m);
});

/** Node makes each of its exports when a module imports it, and loads an HTTP client for two. */
const nodesOwnHttp = /^node:https?$/m;

/** The modules, one a line. */
async function loadedBy(file: string): Promise<string> {
  const program = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });
    await import(${JSON.stringify(new URL(file, import.meta.url).href)});`;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=svc-source", "--input-type=module", "--eval", program],
    { cwd: fileURLToPath(new URL("../../", import.meta.url)) },
  );
  return stderr;
}
