import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { buildNew } from "../conformance/new/command.ts";
import { runCommand } from "./command.ts";

const page = await readFile(
  fileURLToPath(new URL("../docs/publishing.md", import.meta.url)),
  "utf8",
);

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "svc-publishing-"));
  const ran = await runCommand(["new", "tickets"], { cwd, commands: { new: buildNew } });
  expect(ran.code).toBe(0);
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const made = (path: string) => readFile(join(cwd, "tickets", path), "utf8");

test("docs/publishing.md names every file that svc new makes", async () => {
  const names = (await readdir(join(cwd, "tickets"), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(cwd, "tickets/").length));
  const documented = [...page.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = ""]) =>
    cell.split(", ").map((name) => name.replaceAll("`", "")),
  );
  expect(documented.length).toBeGreaterThan(5);
  const isDocumented = (name: string) =>
    [...documented, "README.md"].some((one) => name.startsWith(one));
  expect(names.filter((name) => !isDocumented(name))).toEqual([]);
  expect(documented.filter((one) => !names.some((name) => name.startsWith(one)))).toEqual([]);
});

test("its workflow is the one that is made, and runs scripts that the made package has", async () => {
  const [, steps = ""] = /^```yaml\n(.*?)^```$/ms.exec(page) ?? [];
  const workflow = await made(".github/workflows/conformance.yml");
  expect(steps).not.toBe("");
  expect(workflow).toContain(steps);
  const { jobs, permissions } = parse(workflow);
  expect(permissions).toEqual({ contents: "read" });
  const { scripts } = JSON.parse(await made("package.json"));
  const commands = (jobs.conformance.steps as { run?: string }[]).flatMap(({ run }) => run ?? []);
  expect(commands).toEqual(["npm ci", "npm run build", "npm test -- --report github"]);
  expect(scripts).toMatchObject({ build: "tsc", test: "svc conformance ." });
});

test("the versions of the made package and its module are the same", async () => {
  const { version } = JSON.parse(await made("package.json"));
  expect(await made("index.ts")).toContain(`version: "${version}"`);
});
