import type { Reporter } from "../../contract/rule.ts";
import {
  type DestinationLab,
  defineDestinationRule,
  type KillMoment,
  type Place,
  type ProcessRun,
} from "../contract.ts";
import { describeStream, integer, scriptOf } from "../streams.ts";

const rowCount = 60;
const generationOf = (run: number) =>
  [0, 1, 2].map((batch) =>
    Array.from({ length: rowCount / 3 }, (_, index) => ({ id: batch * 20 + index, run })),
  );

export default defineDestinationRule({
  id: "DEST-04",
  profile: "resumable",
  title:
    "overwrite: people see the old rows or the new ones, never some of each and never none, also when it is killed in the middle.",
  why: "A report that runs during the swap shows half of the revenue; a crash between emptying and filling leaves an empty table until somebody notices.",
  fix: "Build the new table aside and put it in the old one's place in the same transaction that notes the state.",
  good: "BEGIN; DROP TABLE t; ALTER TABLE t_next RENAME TO t; UPDATE state; COMMIT;",
  bad: "await sql('DELETE FROM t'); await sql('INSERT INTO t SELECT * FROM t_next');",
  async run(lab, report) {
    const place = await lab.place();
    const { owner, name } = lab.fresh();
    const stream = describeStream(
      { id: integer, run: integer },
      { name, mode: "full_refresh", into: "overwrite" },
    );
    const script = (fence: number) =>
      scriptOf({ owner, fence }, [{ stream, batches: generationOf(fence) }]);
    const [location = ""] = await place.run(script(1));
    await watch(report, place, location, script(2));

    const whole = await place.process(script(3));
    let visible = 3;
    for (const [index, { kill, words }] of killMoments(
      lab,
      whole,
      script(3).steps.length,
    ).entries()) {
      const fence = 4 + index;
      report.checked(`kill -9 ${words}`);
      await place.process(script(fence), { kill });
      const problem = problemOf(await runsAt(place, location), [visible, fence]);
      if (problem !== undefined) report.fail(`After kill -9 ${words} of run ${fence}, ${problem}.`);
      visible = (await runsAt(place, location))[0] ?? visible;
    }
    await place.run(script(99));
    const problem = problemOf(await runsAt(place, location), [99]);
    if (problem !== undefined) report.fail(`After a run to its end, ${problem}.`);
  },
});

/** Looks at the table as people do, all the time. */
async function watch(
  report: Reporter,
  place: Place,
  location: string,
  script: Parameters<Place["run"]>[0],
): Promise<void> {
  const writer = await place.open(script.command);
  let seenCount = 0;
  let problem: string | undefined;
  for (const step of script.steps) {
    let isDone = false;
    const performing = writer.perform([step]).finally(() => {
      isDone = true;
    });
    do {
      const seen = await runsAt(place, location).catch(() => undefined);
      seenCount += 1;
      problem ??= seen ? problemOf(seen, [1, 2]) : "the table cannot be read";
      problem ??= seen && step.do !== "complete" ? problemOf(seen, [1]) : undefined;
    } while (!isDone);
    await performing;
  }
  await writer.close();
  report.checked(`${seenCount} looks while it was written`);
  if (problem !== undefined) report.fail(`While run 2 took the place of run 1, ${problem}.`);
  const after = problemOf(await runsAt(place, location), [2]);
  if (after !== undefined) report.fail(`After run 2, ${after}.`);
}

const runsAt = async (place: Place, location: string) =>
  (await place.rows(location)).map(({ run }) => Number(run));

function problemOf(seen: readonly number[], allowed: readonly number[]): string | undefined {
  const runs = [...new Set(seen)];
  if (seen.length === rowCount && runs.length === 1 && allowed.includes(runs[0] ?? -1))
    return undefined;
  const shown = runs
    .map((run) => `${seen.filter((one) => one === run).length} of run ${run}`)
    .join(" and ");
  return `people see ${shown || "no rows"} where ${rowCount} of run ${allowed.join(" or of run ")} are expected`;
}

interface SwapMoment {
  readonly kill: KillMoment;
  readonly words: string;
}

/**
 * Where the swap is: at each statement of the last call where they can be seen, else spread over
 * the time that it took.
 */
function killMoments(
  lab: DestinationLab,
  whole: ProcessRun,
  stepCount: number,
): readonly SwapMoment[] {
  const random = lab.random("DEST-04");
  const count = lab.effort(4, 25);
  const last = stepCount - 1;
  const from = whole.queriesAt.at(last) ?? 0;
  if (whole.queryCount > from)
    return random
      .sample(
        Array.from({ length: whole.queryCount - from }, (_, index) => from + index),
        count,
      )
      .map((index) => ({
        kill: { at: "query", index },
        words: `at statement ${index - from + 1} of ${whole.queryCount - from} of the last call`,
      }));
  const tookMs = whole.stepMs[last] ?? 1;
  return Array.from({ length: count }, (_, index) => {
    const afterMs = Math.round(tookMs * ((index + random.below(100) / 100) / count) * 10) / 10;
    return {
      kill: { at: "step", index: last, afterMs },
      words: `${afterMs} ms into the last call, which takes ${Math.round(tookMs)}`,
    };
  });
}
