import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { TestSpecification, Vitest } from "vitest/node";
import { LongestFirst, longest } from "./longest-first.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** The order that `sort` gives files, each as `project path`; `known` have run before. */
async function order(files: readonly string[], known: readonly string[] = []) {
  const projects = new Map<string, object>();
  const specifications = files.map((file) => {
    const [name = "", path = ""] = file.split(" ");
    const config = { isolate: true, sequence: { groupOrder: 0 } };
    const project = projects.get(name) ?? { name, config };
    projects.set(name, project);
    return { project, moduleId: root + path, file };
  });
  const getTestSpecificationResult = ({ file }: { file: string }) =>
    known.includes(file) ? { failed: false, duration: 1 } : undefined;
  const ctx = { cache: { getTestSpecificationResult } } as unknown as Vitest;
  const sorted = await new LongestFirst(ctx).sort(specifications as unknown as TestSpecification[]);
  return sorted.map((one) => (one as unknown as { file: string }).file);
}

const long = "slow tests/serve.slow.test.ts";
const large = "slow runtime/cli/main.slow.test.ts";
const other = "long control/http/fuzz.long.test.ts";

test("files that take long begin, within their project, also before larger ones", async () => {
  expect(await order([large, long, other])).toEqual([other, long, large]);
});

test("what Vitest has seen run it orders itself", async () => {
  expect(await order([large, long], [long])).toEqual([large, long]);
});

test("every file that begins exists", () => {
  expect(longest.filter((name) => !existsSync(`${root}${name}.test.ts`))).toEqual([]);
});
