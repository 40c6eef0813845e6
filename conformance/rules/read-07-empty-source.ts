import { canonicalize } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import { isOfClass, type Lab, type StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { emptyProvider } from "../derive/database/copies.ts";
import { compareRows, isSame, outputRows, statesOf } from "../derive/rows/rows.ts";

export default defineRule({
  id: "READ-07",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "An empty source is a success with no records and a final state.",
  why: "New accounts are empty. A connector that crashes on the first of them makes a bad first impression; one that gives no state reads everything again for ever.",
  fix: "Do not look into the first row before you know that there is one; yield the last checkpoint also when no rows came.",
  good: "const newest = rows.at(-1)?.updated_at ?? state?.since;",
  bad: "const newest = rows[rows.length - 1].updated_at;",
  notApplicable: (lab) =>
    !lab.database && lab.learned.listings.length === 0
      ? "the recordings show no listing that could be empty"
      : undefined,
  async run(lab, report) {
    for (const stream of lab.streams.filter(({ recording }) => recording)) {
      report.checked(stream.label);
      const command = lab.readCommand([stream], { syncMode: "incremental" });
      const observation = await lab.run(command, await emptyProvider(lab));
      const { status, failures } = observation.outcome;
      const evidence = [
        exchangeEvidence("Requests", observation.exchanges),
        messageEvidence("The run", observation, []),
      ];
      // and the check says so beforehand
      if (status !== "succeeded" && (await isUnusable(lab))) continue;
      if (status !== "succeeded") {
        report.fail(
          `With an empty provider, ${stream.label} ${status}: ${failures[0]?.message ?? "it says nothing"}.`,
          ...evidence,
        );
        continue;
      }
      const count = outputRows(observation.messages, stream).length;
      if (
        count > 0 &&
        (await comesFromListing(lab, stream)) &&
        !(await isFromElsewhere(lab, stream, observation))
      )
        report.fail(`With an empty provider, ${stream.label} gives ${count} records.`, ...evidence);
      if (stream.isIncremental && statesOf(observation, stream.label).length === 0)
        report.fail(`With an empty provider, ${stream.label} ends without a state.`, ...evidence);
    }
  },
});

/**
 * Some accounts cannot be empty: a token that may see no workspace is a mistake, which the
 * connector's own check reports.
 */
function isUnusable(lab: Lab): Promise<boolean> {
  return lab.once("check of an empty account", async () => {
    const { outcome } = await lab.run(
      { verb: "check", config: lab.config },
      await emptyProvider(lab),
    );
    return outcome.failures.some((failure) => isOfClass(failure, "config", "permission", "auth"));
  });
}

/** Single objects, as an account's own data, are there without any row. */
async function comesFromListing(
  lab: Lab,
  { label, primaryKey, recording }: StreamFacts,
): Promise<boolean> {
  const golden = (await lab.golden()).find((run) => run.recording === recording);
  const [row] = golden ? outputRows(golden.observation.messages, { label, primaryKey }) : [];
  const [field] = primaryKey;
  if (!row || field === undefined) return true;
  const key = canonicalize(row.data[field] ?? null);
  const listings = lab.learned.listings.filter(({ recordings }) =>
    recordings.includes(recording?.name ?? ""),
  );
  return listings.some(({ rows }) =>
    rows.some((one) => Object.values(one).some((value) => canonicalize(value) === key)),
  );
}

/**
 * Rows that are all the same without any listing come from beside the listings, as the securities
 * that holdings name.
 */
async function isFromElsewhere(
  lab: Lab,
  stream: StreamFacts,
  { messages }: Observation,
): Promise<boolean> {
  const whole = await lab.run(lab.readCommand([stream], { syncMode: "incremental" }));
  return isSame(compareRows(outputRows(whole.messages, stream), outputRows(messages, stream)));
}
