import { parseExact } from "svc-connectors";
import { isPlainObject } from "svc-connectors/host";
import { textEvidence } from "../contract/evidence.ts";
import type { Answer } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { toText } from "../learn/json.ts";
import { withAnswers } from "../replay/strict.ts";

export default defineRule({
  id: "DISC-04",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "Discover gives the same catalog in the same order every time, whatever order the provider lists in.",
  why: "A catalog that flaps looks like a schema change: people are asked to approve it every day, and columns are dropped and made again.",
  fix: "Sort what the provider lists; never depend on the order of a set, of object keys or of answers that come in.",
  good: "tables.sort((a, b) => (a.name < b.name ? -1 : 1))",
  bad: "for (const table of new Set(await Promise.race(listings))) …",
  async run(lab, report) {
    const command = lab.first.discover.command;
    const first = catalogText(lab.first.discover);
    // Runs of other rules lie between the first and these: what counts calls differs between two in
    // a row.
    for (const name of ["a second call", "a third call", "a fourth call"]) {
      const again = catalogText(await lab.run(command));
      report.checked(name);
      if (again === first) continue;
      report.fail(
        `${name[0]?.toUpperCase()}${name.slice(1)} of discover gives another catalog: ${firstDifference(first, again)}`,
        textEvidence("First", first),
        textEvidence("Later", again),
      );
      return;
    }
    if (lab.first.discover.exchanges.length === 0) return;
    const shuffled = await lab.run(command, {
      provider: withAnswers(lab.learned.provider(), reverseListings),
    });
    report.checked("a call with the provider's listings reversed");
    if (shuffled.outcome.status === "succeeded" && catalogText(shuffled) !== first)
      report.fail(
        `The catalog depends on the order in which the provider lists: ${firstDifference(first, catalogText(shuffled))}`,
        textEvidence("In the recorded order", first),
        textEvidence("Reversed", catalogText(shuffled)),
      );
  },
});

const catalogText = ({ messages }: Observation) =>
  JSON.stringify(
    messages.flatMap(({ message }) => (message.type === "CATALOG" ? [message.catalog] : [])),
    null,
    1,
  );

function firstDifference(one: string, other: string): string {
  const [left, right] = [one.split("\n"), other.split("\n")];
  const at = left.findIndex((line, index) => line !== right[index]);
  return `first at ${JSON.stringify((left[at] ?? "").trim())} against ${JSON.stringify((right[at] ?? "").trim())}.`;
}

function reverseListings(answer: Answer): Answer {
  try {
    return {
      ...answer,
      body: Buffer.from(toText(reverseDeep(parseExact(answer.body.toString("utf8"))))),
    };
  } catch {
    return answer;
  }
}

function reverseDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseDeep).reverse();
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, reverseDeep(part)]));
}
