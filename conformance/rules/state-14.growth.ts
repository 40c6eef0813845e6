/** Whether the states of many runs grow without a bound. */
import type { JsonValue } from "svc-connectors";
import { textOf } from "../derive/rows/moments.ts";
import { stateText } from "../derive/sweeps/reads.ts";
import type { Life } from "./state-14.lives.ts";

/** Characters that a state may gain from run to run: less than any id. */
const gainPerRun = 2;

/** Undefined for a state that stays as it is, or is no larger than what there is asks for. */
export function growthOf({ runs, fresh }: Pick<Life, "runs" | "fresh">) {
  const half = Math.floor(runs.length / 2) - 1;
  const [middle, last] = [weightOf(runs[half]?.state), weightOf(runs.at(-1)?.state)];
  const perRun = (last - middle) / (runs.length - 1 - half);
  const first = weightOf(fresh);
  if (perRun <= gainPerRun || last <= first) return undefined;
  return {
    perRun: Math.round(perRun),
    to: last,
    fresh: first,
    end: stateText(runs.at(-1)?.state).slice(-120),
  };
}

/** The size of a state in characters. */
const weightOf = (state: JsonValue | undefined) => textOf(JSON.stringify(state))?.length ?? 0;
