import { exchangeEvidence, messageEvidence, textEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import { withAnswers } from "../replay/strict.ts";
import { configVariants } from "./check-07.config-variants.ts";

const sampledVariants = 6;
const sampledStreams = 3;

export default defineRule({
  id: "CHECK-07",
  level: "SHOULD",
  profile: "core",
  since: "0.1.0",
  title:
    "Where check succeeds, discover succeeds too; a permission that is missing for one stream is reported for that stream.",
  why: "Success at check and an error on the next screen is the end of many set-ups. A failure that does not say which stream it concerns makes the user doubt the whole connection.",
  fix: "Let check try what discover needs, with the same configuration; put the stream into the error of a stream.",
  good: 'trace: { type: "ERROR", error: { message, stream_descriptor: { name: "invoices" } } }',
  bad: 'trace: { type: "ERROR", error: { message: "Forbidden" } } // which of forty streams?',
  async run(lab, report) {
    const variants = [{ name: "as it is", config: lab.config }, ...configVariants(lab)];
    for (const { name, config } of lab.sample(variants, sampledVariants)) {
      const check = await lab.run({ verb: "check", config });
      if (check.outcome.status !== "succeeded") {
        report.untried(`configuration ${name}: check fails`);
        continue;
      }
      const discover = await lab.run({ verb: "discover", config });
      const isRight = discover.outcome.status === "succeeded";
      // A request that was never recorded is no fault of the connector.
      if (!isRight && discover.exchanges.some(({ unmatched }) => unmatched !== undefined)) {
        report.untried(`configuration ${name}: discover asks for what was not recorded`);
        continue;
      }
      report.checked(`configuration ${name}`);
      if (isRight) continue;
      report.fail(
        `With the configuration ${name}, check succeeds, but discover ${discover.outcome.status}: ${discover.outcome.failures[0]?.message ?? "it gave no reason"}`,
        textEvidence("Configuration", JSON.stringify(config, null, 2)),
        messageEvidence("Messages of discover", discover, []),
      );
    }
    await reportScopes(lab, report);
  },
});

/** One stream's own paths are answered 403 while all streams are read. */
async function reportScopes(lab: Lab, report: Reporter): Promise<void> {
  if (lab.egress !== "http" || lab.streams.length < 2) return;
  const streams = lab.streams.filter((facts) => ownPaths(lab, facts).size > 0);
  for (const facts of lab.sample(streams, sampledStreams)) {
    const paths = ownPaths(lab, facts);
    const provider = withAnswers(lab.learned.provider(), (answer, { method, url }) =>
      paths.has(`${method} ${url.pathname}`) ? forbidden(lab) : answer,
    );
    const others = lab.streams.filter((one) => one !== facts && one.recording).slice(0, 2);
    const subject = `${facts.label} without permission`;
    const command = lab.readCommand([facts, ...others]);
    const whole = await lab.run(command);
    if (whole.outcome.status !== "succeeded") {
      report.untried(`${subject}: the read fails with it too`);
      continue;
    }
    const seen = await lab.run(command, { provider });
    if (seen.outcome.status !== "failed") {
      report.untried(`${subject}: the read does not fail, which READ-08 and ERROR-05 judge`);
      continue;
    }
    report.checked(subject);
    if (isReported(seen, facts)) continue;
    report.fail(
      `The provider answered 403 to the requests of ${facts.label} only, but the failure does not say so: "${seen.outcome.failures[0]?.message ?? "no message"}".`,
      messageEvidence(
        "Messages",
        seen,
        seen.messages.flatMap(({ message }, index) =>
          message.type === "TRACE" && message.trace.type === "ERROR" ? [index] : [],
        ),
      ),
      exchangeEvidence("Requests", seen.exchanges, ({ answer }) => answer?.status === 403),
    );
  }
}

const isReported = ({ outcome }: Observation, { label, stream }: StreamFacts) =>
  outcome.failures.some(
    (failure) => failure.stream === label || failure.message.includes(stream.name),
  );

/** Paths that only the recordings of this stream ask for. */
function ownPaths(lab: Lab, { label }: StreamFacts): Set<string> {
  const pathsOf = (isOwn: boolean) =>
    lab.recordings
      .filter(
        ({ run }) => (run.streams?.length === 1 && labelOf(run.streams[0]) === label) === isOwn,
      )
      .flatMap(({ interactions }) =>
        interactions.map(({ request }) => `${request.method} ${new URL(request.url).pathname}`),
      );
  const others = new Set(pathsOf(false));
  return new Set(pathsOf(true).filter((path) => !others.has(path)));
}

const labelOf = (selection: { readonly name: string; readonly namespace?: string } | undefined) =>
  selection?.namespace ? `${selection.namespace}.${selection.name}` : selection?.name;

function forbidden({ answers }: Lab) {
  const own = answers?.answers["403"];
  const body =
    own?.body ?? '{"error":{"code":"forbidden","message":"The token lacks a permission."}}';
  return {
    status: 403,
    headers: { "content-type": "application/json", ...own?.headers },
    body: Buffer.from(body),
  };
}
