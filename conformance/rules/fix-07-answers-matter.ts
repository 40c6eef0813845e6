import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";
import { undisturbed } from "../derive/rows/losses.ts";
import { streamFields } from "../derive/rows/row-fields.ts";
import { compareRows, isSame, type OutputRow, outputRows } from "../derive/rows/rows.ts";
import { withAnswers } from "../replay/strict.ts";
import { lostValues } from "./fix-07.lost-values.ts";
import { type Perturbation, perturb, perturbations } from "./fix-07.perturbations.ts";

const sampledStreams = 15;
/** Values that are changed one by one where the read fails when all are. */
const sampledValues = 6;
/** Among so many rows each property has a value, or none will be missed. */
const comparedRows = 20;

export default defineRule({
  id: "FIX-07",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "What the provider answers decides what comes out: another value in an answer is another value in the records, and none of them becomes null on the way.",
  why: "A connector that writes what its author saw passes every comparison with a recording, and writes the same for every customer. One that loses values leaves empty cells, which a recording of its own shows as well.",
  fix: "Take the value from the answer. Do not keep tables of what an account once had in it, nor lists of the values that may come.",
  good: "color: row.color",
  bad: "color: colors[row.id] // as the provider's documentation has them",
  notApplicable: (lab) => (lab.egress === "http" ? undefined : "it speaks no HTTP"),
  async run(lab, report) {
    const streams = lab.streams.filter(({ recording }) => recording !== undefined);
    if (streams.length === 0)
      return report.missing(
        "No recording of a successful read: nothing can be changed in its answers. Record the streams.",
      );
    for (const stream of lab.sample(streams, sampledStreams)) {
      const { recording } = stream;
      if (!recording) continue;
      const whole = await undisturbed(lab, recording);
      if (whole.outcome.status !== "succeeded") continue;
      for (const lost of lostValues(await streamFields(lab, stream)))
        report.fail(
          `${stream.label}.${lost.property}: the answers say ${lost.value} in the row ${lost.key}, and the record has null. Expected: the answer's value, as in other rows.`,
          exchangeEvidence(
            "Requests",
            lost.whole.exchanges.slice(0, 10),
            ({ answer }) => answer?.body.toString("utf8").includes(lost.value) ?? false,
          ),
        );
      const rows = outputRows(whole.messages, stream);
      const changes = perturbations(lab, whole, rows.slice(0, comparedRows));
      const readWith = async (some: readonly Perturbation[]) => {
        const provider = withAnswers(lab.learned.provider(), (answer) =>
          some.reduce(perturb, answer),
        );
        return await lab.run(lab.commandOf(recording), { provider });
      };
      for (const { property } of changes) report.checked(`${stream.label}.${property}`);
      // All but the key at once: what shows then need not be tried by itself. With another key the
      // rest might be looked up anew.
      const [keys, others] = partition(changes, ({ property }) =>
        stream.primaryKey.includes(property),
      );
      const together = await readWith(others);
      const given = outputRows(together.messages, stream);
      const unchanged =
        together.outcome.status === "succeeded"
          ? others.filter(({ property }) => valuesOf(rows, property) === valuesOf(given, property))
          : lab.sample(others, sampledValues);
      const left = [...unchanged, ...lab.sample(keys, sampledValues)];
      for (const change of left) {
        const { property, from, to } = change;
        const observation = await readWith([change]);
        // A read that fails has seen it.
        const isSeen = observation.outcome.status !== "succeeded";
        if (isSeen || !isSame(compareRows(rows, outputRows(observation.messages, stream))))
          continue;
        report.fail(
          `${stream.label}.${property}: the answers say ${to} where ${from} was recorded, and the records are the same as before. Expected: the answer's value.`,
          exchangeEvidence(
            "Requests, answered with the other value",
            observation.exchanges.slice(0, 10),
            ({ answer }) => answer?.body.toString("utf8").includes(to) ?? false,
          ),
        );
      }
    }
  },
});

const partition = <T>(items: readonly T[], is: (item: T) => boolean) =>
  [items.filter(is), items.filter((item) => !is(item))] as const;

const valuesOf = (rows: readonly OutputRow[], property: string) =>
  rows
    .map(({ data }) => canonicalize(data[property] ?? null))
    .sort()
    .join("\n");
