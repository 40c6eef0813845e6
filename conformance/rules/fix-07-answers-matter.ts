import type { StreamFacts } from "../contract/lab.ts";
import type { Recording } from "../contract/recording.ts";
import { defineRule } from "../contract/rule.ts";
import { undisturbed } from "../derive/losses.ts";
import { type Perturbation, perturb, perturbations } from "../derive/perturbations.ts";
import { compareRows, isSame, type OutputRow, outputRows } from "../derive/rows.ts";
import { exchangeEvidence } from "../evidence.ts";
import { withAnswers } from "../replay/strict.ts";

const sampledValues = 30;

interface Case {
  readonly stream: StreamFacts;
  readonly recording: Recording;
  readonly rows: readonly OutputRow[];
  readonly change: Perturbation;
}

export default defineRule({
  id: "FIX-07",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "What the provider answers decides what comes out: another value in an answer is another value in the records.",
  why: "A connector that writes what its author saw passes every comparison with a recording, and writes the same for every customer.",
  fix: "Take the value from the answer. Do not keep tables of what an account once had in it.",
  good: "color: row.color",
  bad: "color: colors[row.id] // as the provider's documentation has them",
  notApplicable: (lab) => (lab.egress === "http" ? undefined : "it speaks no HTTP"),
  async run(lab, look) {
    const streams = lab.streams.filter(({ recording }) => recording !== undefined);
    if (streams.length === 0)
      return look.missing(
        "No recording of a successful read: nothing can be changed in its answers. Record the streams.",
      );
    const cases: Case[] = [];
    for (const stream of streams) {
      const { recording } = stream;
      if (!recording) continue;
      const whole = await undisturbed(lab, recording);
      if (whole.outcome.status !== "succeeded") continue;
      const rows = outputRows(whole.messages, stream);
      const changes = perturbations(lab, stream, whole, lab.sample(rows, 2));
      cases.push(...changes.map((change) => ({ stream, recording, rows, change })));
    }
    for (const { stream, recording, rows, change } of lab.sample(cases, sampledValues)) {
      const { property, from, to } = change;
      look.at(`${stream.label}.${property}`);
      const provider = withAnswers(lab.learned.provider(), (answer) => perturb(answer, change));
      const observation = await lab.run(lab.orderOf(recording), { provider });
      // A read that fails has seen it.
      const isSeen = observation.outcome.status !== "succeeded";
      if (isSeen || !isSame(compareRows(rows, outputRows(observation.messages, stream)))) continue;
      look.fail(
        `${stream.label}.${property}: the answers say ${to} where ${from} was recorded, and the records are the same as before. Expected: the answer's value.`,
        exchangeEvidence(
          "Requests, answered with the other value",
          observation.exchanges.slice(0, 10),
          ({ answer }) => answer?.body.toString("utf8").includes(to) ?? false,
        ),
      );
    }
  },
});
