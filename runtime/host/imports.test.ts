import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("a host is there without HTTP and without a warehouse: both are loaded when they are used", async () => {
  const program = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => { console.error(url); return next(url, context); } });
    await import(${JSON.stringify(new URL("./create-host.ts", import.meta.url).href)});`;
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--conditions=svc-source", "--input-type=module", "--eval", program],
    { cwd: fileURLToPath(new URL("../../", import.meta.url)) },
  );
  expect(stderr).toContain("runtime/host/create-host.ts");
  expect(stderr).not.toMatch(/node_modules\/(undici|@duckdb|apache-arrow)\//);
});
