import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";

export default defineRule({
  id: "CHECK-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "check of a valid configuration gives exactly one result, and it is success.",
  why: "Users cannot save a connection whose check fails or says nothing, and platforms that meet two results take either of them.",
  fix: "Write one CONNECTION_STATUS message: SUCCEEDED when one small request with the credentials works, else FAILED with the reason.",
  good: 'await getMe(); write({ type: "CONNECTION_STATUS", connectionStatus: { status: "SUCCEEDED" } });',
  bad: 'for (const stream of streams) write({ type: "CONNECTION_STATUS", … }); // one for each stream',
  async run(lab, report) {
    for (const { name, isGood, observation } of await checks(lab)) {
      report.checked(name);
      judge(name, isGood, observation, report);
    }
    const isRecorded =
      lab.egress !== "http" ||
      lab.recordings.some(
        ({ run, outcome }) => run.verb === "check" && outcome.status === "succeeded",
      );
    if (!isRecorded)
      report.missing(
        "No recording holds a check that succeeds: record one with `svc record <connector> --config <file> check`.",
      );
  },
});

async function checks(
  lab: Lab,
): Promise<
  readonly { readonly name: string; readonly isGood: boolean; readonly observation: Observation }[]
> {
  const golden = (await lab.golden()).filter(({ recording }) => recording.run.verb === "check");
  const recorded = golden.map(({ recording, observation }) => ({
    name: `check as recorded in ${recording.name}.yaml`,
    isGood: recording.outcome.status === "succeeded",
    observation,
  }));
  if (lab.egress === "http" && !recorded.some(({ isGood }) => isGood)) return recorded;
  return [
    ...recorded,
    {
      name: "check",
      isGood: true,
      observation: await lab.undisturbed({ verb: "check", config: lab.config }),
    },
  ];
}

function judge(name: string, isGood: boolean, seen: Observation, report: Reporter): void {
  const results = seen.messages.flatMap(({ message }, index) =>
    message.type === "CONNECTION_STATUS" ? [{ ...message.connectionStatus, index }] : [],
  );
  const log = messageEvidence(
    "Messages",
    seen,
    results.map(({ index }) => index),
  );
  if (results.length !== 1)
    report.fail(
      `${name} gave ${results.length} CONNECTION_STATUS messages; exactly one is expected.`,
      log,
    );
  const strays = seen.messages.flatMap(({ message: { type } }, index) =>
    ["CONNECTION_STATUS", "LOG", "TRACE", "CONTROL"].includes(type) ? [] : [{ type, index }],
  );
  for (const { type, index } of strays.slice(0, 1))
    report.fail(`${name} also gave a ${type} message.`, messageEvidence("Messages", seen, [index]));
  if (!isGood) return; // CHECK-04 judges what a check makes of refusals
  const requests = exchangeEvidence("Requests", seen.exchanges);
  const bad = results.find(({ status }) => status !== "SUCCEEDED");
  const reason = bad?.message ?? seen.outcome.failures[0]?.message ?? "it gave no reason";
  if (bad || seen.outcome.status !== "succeeded")
    report.fail(
      `${name} of a valid configuration ${seen.outcome.status === "succeeded" ? "failed" : seen.outcome.status}: ${reason}`,
      log,
      requests,
    );
}
