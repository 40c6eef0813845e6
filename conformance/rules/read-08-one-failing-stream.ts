import type { Lab, StreamFacts } from "../contract/lab.ts";
import { defineRule } from "../contract/rule.ts";
import { compareRows, describeDifference, outputRows } from "../derive/rows.ts";
import { messageEvidence } from "../evidence.ts";
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
  notApplicable: (lab) => (separable(lab).length > 0 ? undefined : "no stream has requests that no other stream needs"),
  async run(lab, look) {
    for (const { stream, paths } of lab.sample(separable(lab), 4)) {
      look.at(`${stream.label} forbidden`);
      const forbidden = {
        status: 403,
        headers: { "content-type": "application/json" },
        body: Buffer.from(lab.answers?.answers["403"]?.body ?? "{}"),
      };
      const all = lab.streams.filter(({ recording }) => recording);
      const observation = await lab.run(lab.readOrder(all), {
        provider: withAnswers(lab.learned.provider(), (answer, { method, url }) =>
          paths.has(`${method} ${url.pathname}`) ? forbidden : answer,
        ),
      });
      const evidence = messageEvidence("The run", observation, []);
      if (observation.outcome.status === "succeeded")
        look.fail(`Every request of ${stream.label} was answered 403, and the run says that it succeeded.`, evidence);
      else if (observation.outcome.failures.length === 0)
        look.fail(`Every request of ${stream.label} was answered 403, and no error says so.`, evidence);
      for (const other of all) {
        if (other === stream) continue;
        const whole = await lab.once(`undisturbed full refresh of ${other.label}`, () =>
          lab.run(lab.readOrder([other])),
        );
        const difference = compareRows(outputRows(whole.messages, other), outputRows(observation.messages, other));
        if (difference.missing.length > 0)
          look.fail(
            `${stream.label} failed, and ${other.label} did not finish: ${describeDifference({ ...difference, extra: [], changed: [] })}.`,
            evidence,
          );
      }
    }
  },
});

/** Streams with paths of their own: what fails there fails no other stream. */
function separable(lab: Lab): { readonly stream: StreamFacts; readonly paths: ReadonlySet<string> }[] {
  const pathsOf = ({ recording }: StreamFacts) =>
    new Set(recording?.interactions.map(({ request }) => `${request.method} ${new URL(request.url).pathname}`));
  const streams = lab.streams.filter(({ recording }) => recording && recording.interactions.length > 0);
  if (streams.length < 2) return [];
  return streams.flatMap((stream) => {
    const shared = new Set(streams.filter((other) => other !== stream).flatMap((other) => [...pathsOf(other)]));
    const paths = new Set([...pathsOf(stream)].filter((path) => !shared.has(path)));
    return paths.size > 0 ? [{ stream, paths }] : [];
  });
}
