import { globSync, readFileSync } from "node:fs";
import { matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import config from "../vitest.config.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const page = readFileSync(`${root}docs/tests.md`, "utf8");

test("docs/tests.md has every suite that runs in CI only", () => {
  const suites = [...page.matchAll(/`([^`\s]+)\.long`/g)].map(([, path]) => `${path}.long.test.ts`);
  const files = globSync(
    "{runtime,conformance,control,connectors,fixtures,simulators,tests}/**/*.long.test.ts",
    {
      cwd: root,
      exclude: (path) => path === "node_modules",
    },
  );
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((file) => !suites.some((suite) => matchesGlob(file, suite)))).toEqual([]);
  expect(suites.filter((suite) => !files.some((file) => matchesGlob(file, suite)))).toEqual([]);
});

test("docs/tests.md has every project of vitest", () => {
  const projects = config.test?.projects?.map(
    (one) => (one as { test: { name: string } }).test.name,
  );
  const documented = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
  expect(documented).toEqual(expect.arrayContaining(projects ?? ["none"]));
});
