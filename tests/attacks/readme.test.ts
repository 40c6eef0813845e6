import { existsSync, globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(new URL("README.md", import.meta.url), "utf8");
const named = [...page.matchAll(/`([\w./*-]+)`/g)].map(([, path = ""]) =>
  path.includes("/") ? path : `tests/attacks/${path}`,
);

test("the list of attacks names suites that exist", () => {
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((path) => globSync(root + path).length === 0)).toEqual([]);
});

test("the list of attacks names every suite of its folder", () => {
  const missing = globSync(`${root}tests/attacks/*.test.ts`)
    .map((path) => path.slice(root.length))
    .filter((path) => !path.endsWith("/readme.test.ts"))
    .filter(
      (path) =>
        !named.some(
          (one) => path === one || (one.endsWith("*") && path.startsWith(one.slice(0, -1))),
        ),
    );
  expect(missing).toEqual([]);
  expect(existsSync(`${root}${named[0]}`)).toBe(true);
});
