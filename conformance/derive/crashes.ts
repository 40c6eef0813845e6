/** The crash sweep: the consumer goes after message k; the run is resumed from the last state that it has seen. */
import type { JsonValue } from "svc-connectors";
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { compareRows, type Difference, type OutputRow, outputRows, statesOf } from "./rows.ts";

export interface CrashRun {
  /** "notes, crash after message 5". */
  readonly name: string;
  readonly stream: StreamFacts;
  readonly after: number;
  readonly first: Observation;
  readonly resumed: Observation;
  /** What the run was resumed from; undefined = from the beginning. */
  readonly state: JsonValue | undefined;
  /** Rows up to that state, and those of the resumed run. */
  readonly covered: readonly OutputRow[];
  readonly again: readonly OutputRow[];
  /** Both together, against an undisturbed run. */
  readonly difference: Difference;
}

/** Crash points per stream that a default run samples. */
const sampledPoints = 12;

/** Done once for all rules. Streams that cannot be resumed are left out. */
export function crashSweep(lab: Lab): Promise<readonly CrashRun[]> {
  return lab.once("crash sweep", async () => {
    const runs: CrashRun[] = [];
    for (const stream of resumableStreams(lab)) runs.push(...(await crashesOf(lab, stream)));
    return runs;
  });
}

export const resumableStreams = (lab: Lab) =>
  lab.streams.filter(
    ({ isIncremental, stream, recording }) => recording && (isIncremental || stream.is_resumable === true),
  );

async function crashesOf(lab: Lab, stream: StreamFacts): Promise<CrashRun[]> {
  const syncMode = stream.isIncremental ? "incremental" : "full_refresh";
  const order = lab.readOrder([stream], { syncMode });
  const whole = await lab.once(`undisturbed ${stream.label}`, () => lab.run(order));
  const expected = outputRows(whole.messages, stream);
  const points = lab.sample([...whole.messages.keys()], sampledPoints);
  const runs: CrashRun[] = [];
  for (const after of points) {
    const first = await lab.run(order, { stopAfter: after });
    const last = statesOf(first, stream.label).at(-1);
    const state = last?.state;
    const covered = outputRows(first.messages.slice(0, last?.index ?? 0), stream);
    const resumed = await lab.run(
      lab.readOrder([stream], { syncMode, ...(state === undefined ? {} : { state: { [stream.label]: state } }) }),
    );
    const again = outputRows(resumed.messages, stream);
    const difference = compareRows(expected, [...covered, ...again]);
    runs.push({
      name: `${stream.label}, crash after message ${after}`,
      stream,
      after,
      first,
      resumed,
      state,
      covered,
      again,
      difference,
    });
  }
  return runs;
}
