import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a host is there without HTTP, a database, images and a warehouse: each is loaded when it is used", async () => {
  const program = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });
    await import(${JSON.stringify(new URL("./create-host.ts", import.meta.url).href)});`;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=svc-source", "--input-type=module", "--eval", program],
    { cwd: fileURLToPath(new URL("../../", import.meta.url)) },
  );
  expect(stderr).toContain("runtime/host/create-host.ts");
  expect(stderr).not.toMatch(/node_modules\/(undici|@duckdb|apache-arrow|pg|yaml)\//);
  expect(stderr).not.toMatch(/runtime\/(image\/(image-broker|open-image|proxy)|worker\/serve)\.ts/);
  // Node makes each of its exports when a module imports it, and loads an HTTP client for two.
  expect(stderr).not.toMatch(/^node:https?$/m);
});
