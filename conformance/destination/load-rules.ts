/** The rules for destinations: one file each in rules/, found by name. */
import { readdir } from "node:fs/promises";
import type { DestinationRule } from "./contract.ts";

/** Also matches the file that the build makes of it. */
const ruleFile = /^dest-\d\d-[a-z0-9-]+\.(?:ts|js)$/;

export async function loadDestinationRules(): Promise<readonly DestinationRule[]> {
  const folder = new URL("./rules/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => ruleFile.test(name)).sort();
  const modules = await Promise.all(
    names.map(
      (name) => import(new URL(name, folder).href) as Promise<{ default: DestinationRule }>,
    ),
  );
  return modules.map((module) => module.default);
}
