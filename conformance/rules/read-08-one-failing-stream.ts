import type { Database } from "../contract/database.ts";
import { messageEvidence } from "../contract/evidence.ts";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Reporter } from "../contract/rule.ts";
import { defineRule } from "../contract/rule.ts";
import { copyOnce, revoke } from "../derive/database/copies.ts";
import { compareRows, describeDifference, outputRows } from "../derive/rows/rows.ts";
import { withAnswers } from "../replay/strict.ts";

export default defineRule({
  id: "READ-08",
  level: "MUST",
  profile: "core",
  since: "0.1.0",
  title: "When one stream fails the others finish, and the run as a whole does not succeed.",
  why: 'One forbidden stream must not hold up the rest. And a run that says "succeeded" while a stream was skipped hides that its table is out of date.',
  fix: "Catch a stream's failure, report it as that stream's INCOMPLETE with a TRACE ERROR, read the rest, exit with a failure.",
  good: "STARTED a, ERROR a, INCOMPLETE a, STARTED b, RECORD…, COMPLETE b; exit 1",
  bad: "catch (error) { log(error); continue; } // exit 0",
  notApplicable: (lab) =>
    (lab.database ? lab.streams.length > 1 : separable(lab).length > 0)
      ? undefined
      : "no stream has requests that no other stream needs",
  async run(lab, report) {
    if (lab.database) return await tryTables(lab, lab.database, report);
    for (const { stream, paths } of lab.sample(separable(lab), 4)) {
      const usual = await lab.undisturbed(lab.readCommand([stream]));
      if (usual.outcome.status !== "succeeded") {
        report.untried(`${stream.label}: its read fails also when it is allowed`);
        continue;
      }
      report.checked(`${stream.label} forbidden`);
      const forbidden = {
        status: 403,
        headers: { "content-type": "application/json" },
        body: Buffer.from(lab.answers?.answers["403"]?.body ?? "{}"),
      };
      const all = lab.streams.filter(({ recording }) => recording);
      const observation = await lab.run(lab.readCommand(all), {
        provider: withAnswers(lab.learned.provider(), (answer, { method, url }) =>
          paths.has(`${method} ${url.pathname}`) ? forbidden : answer,
        ),
      });
      const evidence = messageEvidence("The run", observation, []);
      if (observation.outcome.status === "succeeded")
        report.fail(
          `Every request of ${stream.label} was answered 403, and the run says that it succeeded.`,
          evidence,
        );
      else if (observation.outcome.failures.length === 0)
        report.fail(
          `Every request of ${stream.label} was answered 403, and no error says so.`,
          evidence,
        );
      for (const other of all) {
        if (other === stream) continue;
        const whole = await lab.undisturbed(lab.readCommand([other]));
        const difference = compareRows(
          outputRows(whole.messages, other),
          outputRows(observation.messages, other),
        );
        if (difference.missing.length > 0)
          report.fail(
            `${stream.label} failed, and ${other.label} did not finish: ${describeDifference({ ...difference, extra: [], changed: [] })}.`,
            evidence,
          );
      }
    }
  },
});

/** One table after another that the role may not read any more. */
async function tryTables(lab: Lab, database: Database, report: Reporter): Promise<void> {
  for (const stream of lab.sample(lab.streams, 4)) {
    report.checked(`${stream.label} without the right to read it`);
    const on = await copyOnce(
      lab,
      `without the right to ${stream.label}`,
      revoke(database, stream),
    );
    const observation = await lab.run(lab.readCommand([]), { database: { on } });
    const evidence = messageEvidence("The run", observation, []);
    const { status, failures } = observation.outcome;
    if (status === "succeeded")
      report.fail(
        `${stream.label} could not be read any more, and the run says that it succeeded.`,
        evidence,
      );
    else if (
      !failures.some(
        (failure) =>
          failure.stream === stream.label || failure.message.includes(stream.stream.name),
      )
    )
      report.fail(`${stream.label} could not be read any more, and no error says so.`, evidence);
    for (const other of lab.streams.filter((one) => one !== stream)) {
      const whole = await lab.undisturbed(lab.readCommand([other]));
      const { missing } = compareRows(
        outputRows(whole.messages, other),
        outputRows(observation.messages, other),
      );
      if (missing.length > 0)
        report.fail(
          `${stream.label} failed, and ${other.label} did not finish: ${describeDifference({ missing, extra: [], changed: [] })}.`,
          evidence,
        );
    }
  }
}

/** Streams with paths of their own: what fails there fails no other stream. */
function separable(
  lab: Lab,
): { readonly stream: StreamFacts; readonly paths: ReadonlySet<string> }[] {
  const pathsOf = ({ recording }: StreamFacts) =>
    new Set(
      recording?.interactions.map(
        ({ request }) => `${request.method} ${new URL(request.url).pathname}`,
      ),
    );
  const streams = lab.streams.filter(
    ({ recording }) => recording && recording.interactions.length > 0,
  );
  if (streams.length < 2) return [];
  return streams.flatMap((stream) => {
    const shared = new Set(
      streams.filter((other) => other !== stream).flatMap((other) => [...pathsOf(other)]),
    );
    const paths = new Set([...pathsOf(stream)].filter((path) => !shared.has(path)));
    return paths.size > 0 ? [{ stream, paths }] : [];
  });
}
