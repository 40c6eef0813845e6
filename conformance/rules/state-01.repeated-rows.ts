import { compareMoments, isWithin, latest, momentOf } from "../derive/rows/moments.ts";
import type { CrashRun } from "../derive/sweeps/crashes.ts";
import { timedLeaves } from "../derive/sweeps/states.ts";

/**
 * Keys of rows that the state covered and that came again, other than those at its cursor. A state
 * of many parts has a cursor for each.
 */
export function repeatedBeyondCursors({
  stream: { cursorField },
  state,
  covered,
  again,
}: Pick<CrashRun, "state" | "covered" | "again"> & {
  readonly stream: Pick<CrashRun["stream"], "cursorField">;
}): string[] {
  const known = new Set(covered.map(({ key }) => key));
  const repeated = again.filter(({ key }) => known.has(key));
  if (cursorField === undefined) return repeated.map(({ key }) => key);
  const cursors = covered.map(({ data }) => data[cursorField]);
  const newest = momentOf(latest(cursors));
  const borders = timedLeaves(state, cursors).map(({ moment }) => moment);
  return repeated
    .map(({ key, data }) => ({ key, cursor: data[cursorField] }))
    .filter(({ cursor }) => compareMoments(momentOf(cursor), newest) < 0)
    .filter(({ cursor }) => !borders.some((border) => isWithin(cursor, border)))
    .map(({ key }) => key);
}
