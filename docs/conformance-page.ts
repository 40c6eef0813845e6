import { readFileSync } from "node:fs";
import type { Profile, Rule } from "svc-connectors/conformance";

/** The subject of each profile. */
const profileWords: Readonly<Record<Profile, string>> = {
  core: "every connector",
  resumable: "state, and the same output every time",
  resilient: "retries, pages, cancelling, memory",
  oauth: "credentials and tokens",
  scale: "size; asked for with `--profile scale`",
};

type DocumentedRule = Omit<Rule, "run" | "notApplicable">;

/** The page docs/conformance.md: the introduction, and a section for each rule. */
export function renderConformancePage(
  rules: readonly DocumentedRule[],
  destinationRules: readonly DocumentedRule[],
): string {
  const intro = readFileSync(new URL("conformance-intro.md", import.meta.url), "utf8");
  const table = (listed: readonly DocumentedRule[]) =>
    listed.map(
      ({ id, level, profile, title }) =>
        `| [${id}](#${id}) | ${level} | ${profile} | ${cell(title)} |`,
    );
  const profiles = Object.entries(profileWords).map(([name, words]) => `**${name}**: ${words}`);
  return [
    "<!-- generated from docs/conformance-intro.md and conformance/**/rules by `npm run docs` -->",
    "",
    intro,
    `## The ${rules.length} rules`,
    "",
    `MUST fails a certification, SHOULD warns. Profiles: ${profiles.join(" · ")}.`,
    "",
    "| rule | level | profile | promise of the connector |",
    "|---|---|---|---|",
    ...table(rules),
    "",
    `## The ${destinationRules.length} rules for destinations`,
    "",
    "| rule | level | profile | promise of the destination |",
    "|---|---|---|---|",
    ...table(destinationRules),
    "",
    ...rules.flatMap(renderRule),
    ...destinationRules.flatMap(renderRule),
  ].join("\n");
}

function renderRule({
  id,
  level,
  profile,
  since,
  title,
  why,
  fix,
  good,
  bad,
}: DocumentedRule): string[] {
  return [
    `<a id="${id}"></a>`,
    "",
    `### ${id}: ${title}`,
    "",
    `${level} · ${profile} · since ${since}`,
    "",
    `**Why.** ${why}`,
    "",
    `**How to mend it.** ${fix}`,
    "",
    "```ts",
    "// good",
    good,
    "",
    "// bad",
    bad,
    "```",
    "",
  ];
}

const cell = (text: string) => text.replaceAll("|", "\\|");
