/** A parent that a read does not find, and the next one does. */
import type { Lab, RunOptions, StreamFacts } from "../contract/lab.ts";
import type { Observation } from "../contract/observation.ts";
import { cursorColumn } from "../derive/rows/cursors.ts";
import { mostAsked, parentListings, refusing } from "../derive/rows/parents.ts";
import { compareRows, type Difference, outputRows } from "../derive/rows/rows.ts";
import { finalState, isBeyondRecordings, readFrom, stateText } from "../derive/sweeps/reads.ts";
import { laterOptions } from "./state-14.lives.ts";

export interface FoundAgain {
  readonly name: string;
  /** The read that did not find it. */
  readonly without: Observation;
  /** From its state: it is there. */
  readonly next: Observation;
  /** Against a next read that nothing came before. */
  readonly difference: Difference;
}

/** A text: why nothing can be said; undefined for a stream without parents. */
export async function readFoundAgain(
  lab: Lab,
  stream: StreamFacts,
): Promise<FoundAgain | string | undefined> {
  const [parent] = await parentListings(lab, stream);
  if (!parent) return undefined;
  const column = await cursorColumn(lab, stream);
  const options = (): RunOptions | undefined => column && laterOptions(lab, column);
  const state = finalState(await readFrom(lab, stream), stream);
  const usual = await readFrom(lab, stream, state, options());
  const expected = outputRows(usual.messages, stream);
  const lost = mostAsked(lab, parent, usual);
  if (usual.outcome.status !== "succeeded" || isBeyondRecordings(usual))
    return "the next read fails, or asks for what was not recorded";
  if (!lost || expected.length === 0)
    return `the next read asks about no row of ${parent.listing.id}, or gives no rows`;
  const without = await readFrom(lab, stream, undefined, { provider: refusing(lab, lost, 404) });
  if (without.outcome.status !== "succeeded")
    return `a read in which a row of ${parent.listing.id} is not found fails`;
  const saved = finalState(without, stream);
  const isSame = stateText(saved) === stateText(state);
  const next = isSame ? usual : await readFrom(lab, stream, saved, options());
  if (isBeyondRecordings(next)) return "the next read asks for what was not recorded";
  return {
    name: `${stream.label}: ${lost.key} of ${parent.listing.id} is not found by one read, and by the next it is`,
    without,
    next,
    difference: compareRows(expected, outputRows(next.messages, stream)),
  };
}
