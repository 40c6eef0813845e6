/** All rules: one file each in rules/, found by name, in the order of their groups. */
import { readdir } from "node:fs/promises";
import type { Profile, Rule } from "../contract/rule.ts";

/** As a connector's life goes; the order in which rules are tried and listed. */
const groups = [
  "SPEC",
  "CHECK",
  "DISC",
  "READ",
  "STATE",
  "CDC",
  "SCHEMA",
  "ERROR",
  "RETRY",
  "PAGE",
  "AUTH",
  "LEAK",
  "NET",
  "LIMIT",
  "CANCEL",
  "MEM",
  "DET",
  "FIX",
];

/** Also matches the file that the build makes of it. */
const ruleFile = /^[a-z]+-\d\d-[a-z0-9-]+\.(?:ts|js)$/;

export async function loadRules(): Promise<readonly Rule[]> {
  const folder = new URL("../rules/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => ruleFile.test(name));
  const modules = await Promise.all(
    names.map((name) => import(new URL(name, folder).href) as Promise<{ default: Rule }>),
  );
  const unknown = modules.find(({ default: { id } }) => !groups.includes(groupOf(id)));
  if (unknown)
    throw new Error(`the group of the rule ${unknown.default.id} has no place among the groups`);
  const order = ({ id }: Rule) => groups.indexOf(groupOf(id)) * 100 + Number(id.slice(-2));
  return modules.map((module) => module.default).sort((one, other) => order(one) - order(other));
}

/** "LEAK" of "LEAK-01". */
export const groupOf = (id: string) => id.slice(0, id.indexOf("-"));

/**
 * Rules with these ids; all of the profiles when none is named. `unknown`: ids that no rule has.
 */
export function chooseRules<One extends Pick<Rule, "id" | "profile">>(
  rules: readonly One[],
  profiles: readonly Profile[],
  ids: readonly string[],
) {
  const wanted = new Set(ids.map((id) => id.toUpperCase()));
  const known = new Set(rules.map(({ id }) => id));
  return {
    chosen: rules.filter(({ id, profile }) =>
      wanted.size > 0 ? wanted.has(id) : profiles.includes(profile),
    ),
    unknown: [...wanted].filter((id) => !known.has(id)),
  };
}
