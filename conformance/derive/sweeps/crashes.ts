/**
 * The crash sweep: the consumer goes after message k; the run is resumed from the last state that
 * it has seen. From the beginning and from a recorded state; once, and again and again.
 */
import type { JsonValue } from "svc-connectors";
import type { Lab, StreamFacts } from "../../contract/lab.ts";
import type { Observation } from "../../contract/observation.ts";
import {
  compareRows,
  type Difference,
  type OutputRow,
  outputRows,
  statesOf,
} from "../rows/rows.ts";
import { cutOff, readFrom, resumableStreams, undisturbed } from "./reads.ts";

export interface CrashRun {
  /** "notes, crash after message 5". */
  readonly name: string;
  readonly stream: StreamFacts;
  readonly after: number;
  readonly first: Observation;
  readonly resumed: Observation;
  /** False: the resumed read asked for what nobody recorded: nothing is known of its rows. */
  readonly isAnswered: boolean;
  /** The state that the last run was resumed from; undefined = from the beginning. */
  readonly state: JsonValue | undefined;
  /** Rows up to that state, and those of the resumed run. */
  readonly covered: readonly OutputRow[];
  readonly again: readonly OutputRow[];
  /** Both together, against an undisturbed run. */
  readonly difference: Difference;
}

/**
 * Crash points that a default run samples of all streams together: in reads from the beginning, and
 * from a saved state.
 */
const sampledPoints = 48;
const sampledResumedPoints = 12;
const mostPerStream = 12;
/** Streams that are cut off again and again. */
const sampledChains = 3;
/** A read that is cut off this often goes through in the end. */
const maxCrashes = 12;

/**
 * Done once for all rules. Streams that cannot be resumed are left out, and those whose reads fail
 * in any case.
 */
export function crashSweep(lab: Lab): Promise<readonly CrashRun[]> {
  return lab.once("crash sweep", async () => {
    const runs: CrashRun[] = [];
    const streams: StreamFacts[] = [];
    for (const stream of resumableStreams(lab))
      if ((await undisturbed(lab, stream)).outcome.status === "succeeded") streams.push(stream);
    const share = (points: number) =>
      Math.min(mostPerStream, Math.max(2, Math.floor(points / streams.length)));
    const points = {
      fresh: share(sampledPoints),
      resumed: Math.min(4, share(sampledResumedPoints)),
    };
    for (const stream of streams) runs.push(...(await crashesOf(lab, stream, points)));
    for (const stream of lab.sample(streams, sampledChains))
      runs.push(await crashAgainAndAgain(lab, stream));
    return runs;
  });
}

async function crashesOf(
  lab: Lab,
  stream: StreamFacts,
  points: { readonly fresh: number; readonly resumed: number },
): Promise<CrashRun[]> {
  const whole = await undisturbed(lab, stream);
  const runs: CrashRun[] = [];
  for (const after of lab.sample([...whole.messages.keys()], points.fresh)) {
    runs.push(
      await crash(lab, {
        stream,
        whole,
        cuts: [after],
        name: `${stream.label}, crash after message ${after}`,
      }),
    );
  }
  const saved = stream.resumed?.run.state?.find(
    ({ stream: one }) => one.name === stream.stream.name,
  )?.state;
  if (saved === undefined) return runs;
  const resumedWhole = await readFrom(lab, stream, saved);
  for (const after of lab.sample([...resumedWhole.messages.keys()], points.resumed)) {
    const name = `${stream.label} from the recorded state, crash after message ${after}`;
    runs.push(await crash(lab, { stream, whole: resumedWhole, cuts: [after], name, start: saved }));
  }
  return runs;
}

/** Each run is cut off as soon as it has written a state of its own. */
async function crashAgainAndAgain(lab: Lab, stream: StreamFacts): Promise<CrashRun> {
  const whole = await undisturbed(lab, stream);
  const firstState = statesOf(whole, stream.label)[0]?.index ?? whole.messages.length;
  const cuts = Array.from({ length: maxCrashes }, () => firstState + 1);
  return await crash(lab, {
    stream,
    whole,
    cuts,
    name: `${stream.label}, crash after each ${firstState + 1} messages`,
  });
}

const isAnswered = ({ exchanges }: Observation) =>
  exchanges.every(({ unmatched }) => unmatched === undefined);

interface CrashPlan {
  readonly stream: StreamFacts;
  readonly whole: Observation;
  /** How many messages each run may write before it is cut off; one more run is left alone. */
  readonly cuts: readonly number[];
  readonly name: string;
  readonly start?: JsonValue | undefined;
}

async function crash(lab: Lab, { stream, whole, cuts, name, start }: CrashPlan): Promise<CrashRun> {
  const covered: OutputRow[] = [];
  let state = start;
  let first: Observation | undefined;
  for (const stopAfter of cuts) {
    const known = state === start ? whole : undefined;
    const cut = await cutOff(lab, stream, { state, after: stopAfter, whole: known });
    first ??= cut;
    const last = statesOf(cut, stream.label).at(-1);
    if (first !== cut && (last === undefined || !cut.isStopped)) break;
    covered.push(...outputRows(cut.messages.slice(0, last?.index ?? 0), stream));
    state = last?.state ?? state;
  }
  const resumed = await readFrom(lab, stream, state);
  const again = outputRows(resumed.messages, stream);
  const difference = compareRows(outputRows(whole.messages, stream), [...covered, ...again]);
  return {
    name,
    stream,
    after: cuts[0] ?? 0,
    first: first ?? resumed,
    resumed,
    isAnswered: isAnswered(resumed),
    state,
    covered,
    again,
    difference,
  };
}
