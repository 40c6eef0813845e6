import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule } from "../contract/rule.ts";
import { type ConfigCase, configCases } from "../derive/sweeps/configs.ts";
import { isRefusal } from "../derive/sweeps/refusals.ts";

export default defineRule({
  id: "CHECK-02",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "A required setting that is missing is a config error that names it, before any request.",
  why: "Without it, the user reads of an `undefined` somewhere in the code, or of a rejected request, and the provider sees requests without credentials.",
  fix: "Validate the configuration against the spec first, and say which setting is missing.",
  good: "throw configError(`The setting api_token is missing.`);",
  bad: 'headers: { authorization: "Bearer " + config.api_token.trim() } // Cannot read properties of undefined',
  needsProvider: false,
  notApplicable: (lab) =>
    configCases(lab).some(({ kind }) => kind === "removed")
      ? undefined
      : "the spec requires no setting",
  async run(lab, report) {
    for (const one of lab.sample(
      configCases(lab).filter(({ kind }) => kind === "removed"),
      20,
    )) {
      report.checked(one.name);
      const seen = await lab.run({ verb: "check", config: one.config }, { deadlineMs: 10_000 });
      const log = messageEvidence("Messages", seen, []);
      const { dials } = seen.traces;
      if (lab.egress !== "http" && dials.length > 0)
        report.fail(
          `The required setting ${one.name}, and check opened a session all the same; it has to stop before.`,
          log,
        );
      if (seen.exchanges.length > 0)
        report.fail(
          `The required setting ${one.name}, and check sent ${seen.exchanges.length === 1 ? "a request" : `${seen.exchanges.length} requests`} all the same; it has to stop before.`,
          exchangeEvidence("Requests", seen.exchanges, () => true),
        );
      if (!isRefusal(seen))
        report.fail(
          `The required setting ${one.name}, and check ${endOf(seen)}; a config error that names it is expected.`,
          log,
        );
      else if (!texts(seen).some((text) => names(text, one)))
        report.fail(
          `The required setting ${one.name}, but the error does not name it: "${texts(seen)[0] ?? ""}"`,
          log,
        );
    }
  },
});

const texts = ({ outcome, messages }: Observation): string[] => [
  ...outcome.failures.map(({ message }) => message),
  ...messages.flatMap(({ message }) =>
    message.type === "CONNECTION_STATUS" ? (message.connectionStatus.message ?? []) : [],
  ),
];

/** Whether the text has its name, or the title that the user knows it by. */
function names(text: string, { path, schema }: ConfigCase): boolean {
  const known = [
    path.split(".").at(-1) ?? "",
    ...(typeof schema.title === "string" ? [schema.title] : []),
  ];
  return known.some((name) => name !== "" && text.toLowerCase().includes(name.toLowerCase()));
}

const endOf = ({ outcome }: Observation) =>
  outcome.status === "succeeded"
    ? "succeeded"
    : `${outcome.status} with "${outcome.failures[0]?.message ?? "no message"}" (class: ${outcome.failures[0]?.classes.join(" or ") || "none"})`;
