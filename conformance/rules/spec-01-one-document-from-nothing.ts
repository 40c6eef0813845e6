import { isJsonObject } from "svc-connectors/host";
import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import { defineRule } from "../contract/rule.ts";

export default defineRule({
  id: "SPEC-01",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "spec gives exactly one valid document, and takes nothing from the network, files, environment or clock for it.",
  why: "The spec is read at build time, in sandboxes without a network, and before there is any configuration. One that depends on its surroundings differs from machine to machine, or does not come at all.",
  fix: "Write the spec as a constant. Whatever depends on the account belongs into discover.",
  good: "const spec = { type: 'object', properties: { … } };",
  bad: "const regions = await (await fetch('https://api.example.com/regions')).json(); // in spec",
  needsProvider: false,
  async run(lab, report) {
    const seen = await lab.once("spec, watched", () =>
      lab.run({ verb: "spec" }, { watchAccess: true }),
    );
    report.checked("spec");
    const others = seen.messages.flatMap(({ message: { type } }, index) =>
      ["SPEC", "LOG", "TRACE"].includes(type) ? [] : [{ type, index }],
    );
    const specs = seen.messages.flatMap(({ message }, index) =>
      message.type === "SPEC" ? [{ spec: message.spec, index }] : [],
    );
    if (specs.length !== 1)
      report.fail(
        `spec gave ${specs.length} SPEC messages; exactly one is expected.`,
        messageEvidence(
          "Messages",
          seen,
          specs.map(({ index }) => index),
        ),
      );
    for (const { type, index } of others)
      report.fail(
        `spec also gave a ${type} message; only one SPEC message is expected.`,
        messageEvidence("Messages", seen, [index]),
      );
    for (const line of seen.traces.strayOutput.slice(0, 3))
      report.fail(
        "spec wrote a line to standard output that is no message.",
        textEvidence("The line", line),
      );
    if (seen.outcome.status !== "succeeded")
      report.fail(
        `spec ${seen.outcome.status}: ${seen.outcome.failures[0]?.message ?? "it gave no reason"}`,
        messageEvidence("Messages", seen, []),
        textEvidence("Standard error", seen.traces.errorOutput),
      );
    for (const { spec } of specs) {
      const { connectionSpecification: form, documentationUrl: url } = spec;
      if (!isJsonObject(form) || form.type !== "object")
        report.fail(
          'The SPEC message holds no connectionSpecification of type "object".',
          textEvidence("spec", JSON.stringify(spec, null, 2)),
        );
      if (
        url !== undefined &&
        !(typeof url === "string" && /^https?:\/\//.test(url) && URL.canParse(url))
      )
        report.fail(
          "documentationUrl of the SPEC message is no web address.",
          textEvidence("documentationUrl", JSON.stringify(url)),
        );
    }

    report.checked("requests of spec");
    if (seen.exchanges.length > 0)
      report.fail(
        `spec sent ${seen.exchanges.length === 1 ? "a request" : `${seen.exchanges.length} requests`}; it has to do without.`,
        exchangeEvidence("Requests", seen.exchanges, () => true),
      );
    for (const resource of new Set(seen.traces.denied))
      report.fail(`The sandbox refused spec the use of ${resource}; it has to do without.`);
    for (const { kind, what, where } of seen.traces.accesses ?? []) {
      report.fail(
        `spec uses ${what} (${nouns[kind]}) at ${where}; it has to do without.`,
        textEvidence("Line", where),
      );
    }
  },
});

const nouns = {
  fs: "files",
  environment: "the environment",
  clock: "the clock",
  random: "random numbers",
  network: "the network",
  process: "processes",
} as const;
