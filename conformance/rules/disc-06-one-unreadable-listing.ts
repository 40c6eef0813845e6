import { streamLabel } from "svc-connectors/host";
import type { Database } from "../contract/database.ts";
import { exchangeEvidence, messageEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { Exchange } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import type { Reporter } from "../contract/rule.ts";
import { defineRule } from "../contract/rule.ts";
import { copyOnce, revoke } from "../derive/database/copies.ts";
import { newWarnings } from "../derive/rows/news.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";
import { withAnswers } from "../replay/strict.ts";

export default defineRule({
  id: "DISC-06",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title:
    "When one table or endpoint cannot be read, discover lists the others and says which one is missing.",
  why: "One table without a grant must not take all the others away from the user; and a stream that silently disappears from the catalog is dropped at the destination.",
  fix: "Catch a refused part, log a warning that names it, and go on; fail only when nothing can be listed.",
  good: 'ctx.log.warn("This table cannot be read and is left out.", { table: name });',
  bad: "try { … } catch { continue; }",
  notApplicable: (lab) =>
    lab.database || partsOf(lab).length > 0
      ? undefined
      : "discover asks the provider for nothing that could be missing in part",
  async run(lab, report) {
    if (lab.database) return await tryTables(lab, lab.database, report);
    const { command } = lab.first.discover;
    const undisturbed = await lab.run(command);
    for (const { request } of lab.sample(partsOf(lab), 4)) {
      const name = `${request.method} ${request.url.pathname} answered 403`;
      report.checked(name);
      const observation = await lab.run(command, {
        provider: withAnswers(lab.learned.provider(), (answer, { method, url, body }) =>
          method === request.method && url.href === request.url.href && body === request.body
            ? errorAnswer(lab, 403)
            : answer,
        ),
      });
      const listed = namesIn(observation);
      const missing = namesIn(undisturbed).filter((one) => !listed.includes(one));
      const { status, failures } = observation.outcome;
      if (status !== "succeeded" || listed.length === 0)
        report.fail(
          `${name}: discover lists nothing any more (${failures[0]?.message ?? status}), although the other requests were answered.`,
          exchangeEvidence(
            "Requests",
            observation.exchanges,
            ({ answer }) => answer?.status === 403,
          ),
        );
      else if (missing.length > 0 && newWarnings(observation, undisturbed).length === 0)
        report.fail(
          `${name}: ${missing.join(", ")} disappeared from the catalog without a warning.`,
          messageEvidence("The run", observation, []),
        );
      else if (missing.length > 1 && missing.length === namesIn(undisturbed).length - 1)
        report.fail(
          `${name}: only ${listed.join(", ")} is listed; ${missing.join(", ")} are gone with it.`,
          messageEvidence("The run", observation, []),
        );
    }
  },
});

/** One table after another that the role may not read. */
async function tryTables(lab: Lab, database: Database, report: Reporter): Promise<void> {
  const { command } = lab.first.discover;
  for (const stream of lab.sample(lab.streams, 4)) {
    const name = `${stream.label} without the right to read it`;
    report.checked(name);
    const on = await copyOnce(
      lab,
      `without the right to ${stream.label}`,
      revoke(database, stream),
    );
    const observation = await lab.run(command, { database: { on } });
    const { status, failures } = observation.outcome;
    const listed = namesIn(observation);
    const missing = lab.streams.filter(
      ({ label }) => label !== stream.label && !listed.includes(label),
    );
    const evidence = messageEvidence("The run", observation, []);
    if (status !== "succeeded" || missing.length > 0)
      report.fail(
        `${name}: discover ${status === "succeeded" ? `does not list ${missing.map(({ label }) => label).join(", ")}` : `lists nothing any more (${failures[0]?.message ?? status})`}, although the other tables can be read.`,
        evidence,
      );
    else if (
      !newWarnings(observation, lab.first.discover).some((text) =>
        mentions(text, stream.stream.name),
      )
    )
      report.fail(
        `${name}: ${listed.includes(stream.label) ? "it is listed all the same" : "it disappeared from the catalog"} without a warning that names it.`,
        evidence,
      );
  }
}

/** Names stand in log lines as they are, or as JSON has them. */
const mentions = (text: string, name: string) =>
  text.includes(name) || text.includes(JSON.stringify(name).slice(1, -1));

const namesIn = ({ messages }: Observation): readonly string[] =>
  messages.flatMap(({ message }) =>
    message.type === "CATALOG" ? message.catalog.streams.map((stream) => streamLabel(stream)) : [],
  );

/**
 * Requests that ask the same of several things: their paths, or their parameters, differ in one
 * place. What comes once, all may need.
 */
function partsOf({ first }: Lab): readonly Exchange[] {
  const { exchanges } = first.discover;
  return exchanges.filter((one) =>
    exchanges.some((other) => other !== one && differences(one, other) === 1),
  );
}

function differences({ request: one }: Exchange, { request: other }: Exchange): number {
  if (one.method !== other.method || one.url.origin !== other.url.origin)
    return Number.POSITIVE_INFINITY;
  const [left, right] = [one.url.pathname.split("/"), other.url.pathname.split("/")];
  if (left.length !== right.length || one.url.search !== other.url.search)
    return Number.POSITIVE_INFINITY;
  return left.filter((segment, at) => segment !== right[at]).length;
}
