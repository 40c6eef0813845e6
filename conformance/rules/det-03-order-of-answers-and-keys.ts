import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { compareRows, describeDifference, isSame, outputRows } from "../derive/rows/rows.ts";
import { type CommandCase, recordedCommands } from "../derive/sweeps/environments.ts";
import { finalState, stateText } from "../derive/sweeps/reads.ts";
import { withAnswers } from "../replay/strict.ts";
import { holdAnswers } from "./det-03.answer-order.ts";
import { withShuffledKeys } from "./det-03.shuffled-keys.ts";

const sampledCommands = 16;

export default defineRule({
  id: "DET-03",
  level: "MUST",
  profile: "resumable",
  since: "0.1.0",
  title: "The order in which answers come, and of the keys in them, changes no row and no state.",
  why: "Answers overtake each other on a busy network, and JSON objects have no order. What depends on either is wrong now and then, and nobody can say why.",
  fix: "Read fields by name; keep each answer with the request that it belongs to, and take over results in the order of the requests.",
  good: "const pages = await Promise.all(numbers.map(fetchPage)); for (const page of pages) …",
  bad: "await Promise.all(numbers.map(async (n) => { last = await fetchPage(n); rows.push(...last.rows); }));",
  async run(lab, report) {
    for (const one of lab.sample(recordedCommands(lab, ["read"]), sampledCommands)) {
      const usual = await lab.run(one.command);
      if (usual.outcome.status !== "succeeded") continue;
      report.checked(`${one.name}: JSON keys in other orders`);
      const shuffled = withAnswers(lab.learned.provider(), (answer) =>
        withShuffledKeys(answer, lab.seed),
      );
      await compare(
        lab,
        report,
        one,
        "when the keys of the provider's JSON come in another order",
        usual,
        await lab.run(one.command, { provider: shuffled }),
      );
      report.checked(`${one.name}: later requests answered first`);
      const gate = holdAnswers("last-first");
      await compare(
        lab,
        report,
        one,
        "when later requests are answered before earlier ones",
        usual,
        await lab.run(one.command, { onRequest: gate.pass }),
      );
      // A connector that never asks for two things at once has been answered one at a time already.
      if (gate.mostWaiting() < 2) continue;
      report.checked(`${one.name}: requests answered one at a time`);
      await compare(
        lab,
        report,
        one,
        "when requests are answered one at a time",
        usual,
        await lab.run(one.command, { onRequest: holdAnswers("one-by-one").pass }),
      );
    }
  },
});

async function compare(
  lab: Lab,
  report: Reporter,
  one: CommandCase,
  when: string,
  usual: Observation,
  seen: Observation,
): Promise<void> {
  const found = differenceOf(lab, one, usual, seen);
  // A difference from run to run is the concern of DET-01.
  if (found === undefined) return;
  for (let count = 0; count < 2; count++)
    if (differenceOf(lab, one, usual, await lab.run(one.command)) !== undefined) return;
  report.fail(
    `${one.name}: ${when}, ${found}.`,
    exchangeEvidence("Requests", seen.exchanges),
    messageEvidence("The read", seen, []),
  );
}

/** The difference in words; undefined when rows and final states are the same. */
function differenceOf(
  lab: Lab,
  { command }: CommandCase,
  usual: Observation,
  seen: Observation,
): string | undefined {
  if (seen.outcome.status !== "succeeded")
    return `the read ${seen.outcome.status}: ${seen.outcome.failures[0]?.message ?? "it gave no reason"}`;
  for (const stream of streamsOf(lab, command)) {
    const difference = compareRows(
      outputRows(usual.messages, stream),
      outputRows(seen.messages, stream),
    );
    if (!isSame(difference)) return `${stream.label} comes with ${describeDifference(difference)}`;
    const [before, after] = [finalState(usual, stream), finalState(seen, stream)];
    if (canonicalize(before ?? null) !== canonicalize(after ?? null))
      return `the final state of ${stream.label} is ${stateText(after)} instead of ${stateText(before)}`;
  }
  return undefined;
}

function streamsOf(lab: Lab, command: CommandCase["command"]): readonly StreamFacts[] {
  const names =
    command.verb === "read"
      ? command.catalog.streams.map(({ stream }) => `${stream.namespace ?? ""}.${stream.name}`)
      : [];
  return lab.streams.filter(({ stream }) =>
    names.includes(`${stream.namespace ?? ""}.${stream.name}`),
  );
}
