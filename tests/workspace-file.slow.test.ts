/** `svc apply` and `svc export` as processes, beside `svc serve`. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { skipUnlessWhole } from "./effort.ts";
import { type Finished, startServe } from "./served.ts";

const script = fileURLToPath(new URL("../svc.ts", import.meta.url));

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "svc-apply-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

/** @param input for standard input */
function svc(args: readonly string[], input: string, env: object = {}): Promise<Finished> {
  const { PATH = "", NODE_COMPILE_CACHE } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--conditions=svc-source", script, ...args],
      { cwd, env: { PATH, HOME: cwd, NODE_COMPILE_CACHE, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
    child.stdin?.end(input);
  });
}

test("a workspace goes into a file and comes out of it, with the token on standard input or in a file", async (context) => {
  skipUnlessWhole(context);
  await using served = await startServe({ cwd });
  const { token = "none", url } = served;
  const secret = "canary-of-a-signing-secret-0123456789abcd";
  await writeFile(
    join(cwd, "w.yaml"),
    `version: 1
credentials:
  Signing: { connector: conn_webhook, secrets: { signing_secret: { $env: SIGNING } } }
destinations:
  Warehouse: { connector: conn_duckdb, configuration: { file: warehouse } }
`,
  );
  const toServer = ["--server", url, "--token-file", "-"];
  const env = { SIGNING: secret };
  const planned = await svc(["apply", "w.yaml", "--plan", ...toServer], token, env);
  expect([planned.stderr, planned.code]).toEqual(["", 2]);
  const applied = await svc(["apply", "w.yaml", ...toServer], `${token}\n`, env);
  expect([applied.stderr, applied.code]).toEqual(["", 0]);
  expect(applied.stdout).toContain("2 to make");
  await writeFile(join(cwd, "token.txt"), token);
  const byVariables = { SVC_API_BASE_URL: url, SVC_TOKEN_FILE: "token.txt" };
  const exported = await svc(["export"], "", byVariables);
  expect([exported.stderr, exported.code]).toEqual(["", 0]);
  await writeFile(join(cwd, "out.yaml"), exported.stdout);
  const again = await svc(["apply", "out.yaml", "--plan", "--prune"], "", byVariables);
  expect([again.stderr, again.code]).toEqual(["", 0]);
  for (const { stdout, stderr } of [planned, applied, exported, again])
    for (const hidden of [token, secret]) expect(stdout + stderr).not.toContain(hidden);
  expect(await readFile(join(cwd, "out.yaml"), "utf8")).toContain(
    "$env: SVC_SIGNING_SIGNING_SECRET",
  );
});

test.each([
  ["no address", ["--token-file", "-"], /^svc: --server, or SVC_API_BASE_URL, must be the address/],
  [
    "an address in the clear",
    ["--server", "http://svc.example.com/control/v1", "--token-file", "-"],
    /must be https/,
  ],
  [
    "an address that nobody answers",
    ["--server", "http://127.0.0.1:9/control/v1", "--token-file", "-"],
    /does not answer at http:\/\/127/,
  ],
  [
    "no token",
    ["--server", "http://127.0.0.1:9/control/v1"],
    /^svc: name the file with an access token/,
  ],
])("one line says what is missing, and the exit code is not that of changes: %s", async (_, flags, message) => {
  await writeFile(join(cwd, "w.yaml"), "version: 1\n");
  const ended = await svc(["apply", "w.yaml", "--plan", ...flags], `svc_at_${"0".repeat(46)}`);
  expect(ended.stderr).toMatch(message);
  expect(ended.stderr).toMatch(/^svc: [^\n]+\n$/);
  expect(ended.code).toBe(1);
});
