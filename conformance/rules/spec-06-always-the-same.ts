import { isJsonObject } from "svc-connectors/host";
import { textEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";

/**
 * Half-hour and quarter-hour offsets, and languages that sort, write numbers and turn letters to
 * upper case in their own way.
 */
const environments = [
  { TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8" },
];
const laterMs = 400 * 86_400_000;

export default defineRule({
  id: "SPEC-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "The spec is the same to the byte each time, in every time zone and language.",
  why: "Registries and caches compare specs by hash. One that differs from run to run looks like a new version each time, and saved configurations are asked to be confirmed again.",
  fix: "Write the spec as a constant: no dates, random numbers, counters or sorting by locale in it, and nothing added to shared lists when it is asked for.",
  good: "const spec = { … } as const;",
  bad: "spec: () => ({ …, generatedAt: new Date() })",
  needsProvider: false,
  async run(lab, report) {
    const expected = textOf(lab.first.spec);
    const compare = (when: string, text: string) => {
      report.checked(when);
      if (text !== expected)
        report.fail(
          `The spec differs ${when}: ${firstDifference(expected, text)}.`,
          textEvidence("At first", expected),
          textEvidence("Now", text),
        );
    };
    for (const when of ["when it is asked for again", "when it is asked for a third time"])
      compare(when, textOf(await lab.run({ verb: "spec" })));
    if (lab.can("clock"))
      compare("400 days later", textOf(await lab.run({ verb: "spec" }, { clockShiftMs: laterMs })));
    if (lab.can("environment")) {
      for (const environment of environments)
        compare(
          `with TZ=${environment.TZ} and LANG=${environment.LANG}`,
          textOf(await lab.run({ verb: "spec" }, { environment })),
        );
    }
    if (lab.target.freshSpec) {
      const whole = formOf(lab.first.spec);
      for (const environment of environments) {
        const text = JSON.stringify(await lab.target.freshSpec(environment, laterMs));
        const when = `in a process of its own, 400 days later, with TZ=${environment.TZ} and LANG=${environment.LANG}`;
        report.checked(when);
        if (text !== whole)
          report.fail(
            `The spec differs ${when}: ${firstDifference(whole, text)}.`,
            textEvidence("At first", whole),
            textEvidence("Now", text),
          );
      }
    }
  },
});

const textOf = ({ messages }: Observation) =>
  messages.find(({ message }) => message.type === "SPEC")?.line ?? "";

const formOf = ({ messages }: Observation) =>
  JSON.stringify(
    messages.flatMap(({ message }) =>
      message.type === "SPEC" ? [message.spec.connectionSpecification] : [],
    )[0],
  );

/** `properties.base_url.examples: ["b"] in place of ["a"]`. */
function firstDifference(before: string, now: string): string {
  if (now === "") return "there is none";
  const found = differenceOf(JSON.parse(before), JSON.parse(now), "");
  return found ?? "the same settings in another order or spelling";
}

function differenceOf(before: unknown, now: unknown, path: string): string | undefined {
  if (JSON.stringify(before) === JSON.stringify(now)) return undefined;
  const isBoth = [before, now].every((value) => isJsonObject(value));
  if (!isBoth) return `${path}: ${cut(now)} in place of ${cut(before)}`;
  const [old, current] = [before, now] as [
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>>,
  ];
  const names = new Set([...Object.keys(old), ...Object.keys(current)]);
  return [...names]
    .map((name) => differenceOf(old[name], current[name], path === "" ? name : `${path}.${name}`))
    .find((found) => found !== undefined);
}

const cut = (value: unknown) => (JSON.stringify(value) ?? "nothing").slice(0, 120);
