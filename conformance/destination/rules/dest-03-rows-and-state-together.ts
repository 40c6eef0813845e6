import type { JsonValue } from "svc-connectors";
import type { Reporter } from "../../contract/rule.ts";
import { type DestinationLab, defineDestinationRule, type Place, type Step } from "../contract.ts";
import { type Batch, describeStream, integer, scriptOf, wholeStream } from "../streams.ts";

/** Two rows each; the state says which was the last. */
const batches: readonly Batch[] = Array.from({ length: 5 }, (_, batch) => ({
  lines: [{ id: batch * 2 + 1 }, { id: batch * 2 + 2 }],
  state: { last: batch * 2 + 2 },
}));
const everyId = batches.flatMap(({ lines }) =>
  lines.map((line) => Number((line as { id: number }).id)),
);

export default defineDestinationRule({
  id: "DEST-03",
  profile: "resumable",
  title:
    "append: rows and their state become durable together, so that after a crash anywhere no row is lost and none is there twice.",
  why: "A state that is ahead of its rows loses them for good, without an error; one that is behind doubles every sum that people make.",
  fix: "Write the rows and the state in one transaction of the place itself. Keep no state in memory, and none beside it.",
  good: "BEGIN; COPY rows; UPDATE state; COMMIT;",
  bad: "await saveState(state); await flushRows();",
  async run(lab, report) {
    const place = await lab.place();
    const steps = wholeStream(0, batches);
    const random = lab.random("DEST-03");
    for (let at = 0; at <= steps.length; at++) {
      const paced = steps.map(
        (step): Step => (step.do === "checkpoint" ? { ...step, isDue: random.below(3) > 0 } : step),
      );
      await tryCrash(lab, report, place, paced, at);
    }
    for (let round = 0; round < lab.effort(1, 10); round++)
      await tryKill(lab, report, place, steps, random.below(steps.length - 1));
  },
});

const stream = (name: string) => describeStream({ id: integer }, { name });

/** A crash is a writer that is never closed. */
async function tryCrash(
  lab: DestinationLab,
  report: Reporter,
  place: Place,
  steps: readonly Step[],
  at: number,
): Promise<void> {
  const { owner, name } = lab.fresh();
  const when =
    at === 0
      ? "before the stream started"
      : `after call ${at} of ${steps.length} (${steps[at - 1]?.do})`;
  report.checked(when);
  const one = await place.open(
    scriptOf({ owner, fence: 1 }, [{ stream: stream(name), batches: [] }]).command,
  );
  await one.perform(steps.slice(0, at));
  await goOn(report, place, { owner, name, when: `a crash ${when}` });
}

async function tryKill(
  lab: DestinationLab,
  report: Reporter,
  place: Place,
  steps: readonly Step[],
  index: number,
): Promise<void> {
  const { owner, name } = lab.fresh();
  const when = `kill -9 during call ${index + 1} of ${steps.length} (${steps[index]?.do})`;
  report.checked(when);
  const { command } = scriptOf({ owner, fence: 1 }, [{ stream: stream(name), batches: [] }]);
  const { commits } = await place.process(
    { command, steps },
    { kill: { at: "step", index, afterMs: 0 } },
  );
  await goOn(report, place, { owner, name, when, reportedState: commits.at(-1)?.state });
}

interface Attempt {
  readonly owner: string;
  readonly name: string;
  readonly when: string;
  /** The last state that was reported as durable. */
  readonly reportedState?: JsonValue | undefined;
}

/** The next attempt reads on from the saved state, as the runtime does. */
async function goOn(
  report: Reporter,
  place: Place,
  { owner, name, when, reportedState }: Attempt,
): Promise<void> {
  const two = await place.open(
    scriptOf({ owner, fence: 2 }, [{ stream: stream(name), batches: [] }]).command,
  );
  const last = lastOf(two.state());
  if (last < lastOf(reportedState))
    report.fail(
      `After ${when} the saved state is ${last}, although ${lastOf(reportedState)} was reported as durable.`,
    );
  const visible = await idsAt(place, two.location());
  const covered = everyId.filter((id) => id <= last);
  if (!isSame(visible, covered))
    report.fail(
      `After ${when} the saved state covers the rows ${list(covered)}, and the table holds ${list(visible)}.`,
    );
  const rest = wholeStream(
    0,
    batches.filter(({ state }) => lastOf(state) > last),
  );
  await two.perform(rest);
  await two.close();
  const all = await idsAt(place, two.location());
  if (!isSame(all, everyId))
    report.fail(
      `After ${when} and a second attempt to its end, the table holds ${list(all)} where ${list(everyId)} were read.`,
    );
}

const lastOf = (state: JsonValue | undefined) =>
  Number((state as { last?: number } | undefined)?.last ?? 0);
const isSame = (one: readonly number[], other: readonly number[]) =>
  JSON.stringify(one) === JSON.stringify(other);
const list = (ids: readonly number[]) => (ids.length === 0 ? "no rows" : ids.join(", "));
const idsAt = async (place: Place, location: string) =>
  location === ""
    ? []
    : (await place.rows(location)).map(({ id }) => Number(id)).sort((a, b) => a - b);
