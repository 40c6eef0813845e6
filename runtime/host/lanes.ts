/** How several workers share the streams of a read, and one receiver. */

/**
 * Gives out the items, several at a time: large shares first, so that few workers are started, and
 * single items at the end, so that no lane waits for another. With one lane all are one share.
 */
export function shareOut<T>(items: readonly T[], laneCount: number): () => T[] | undefined {
  let next = 0;
  return () => {
    const left = items.length - next;
    if (left === 0) return undefined;
    const size = laneCount === 1 ? left : Math.ceil(left / (2 * laneCount));
    next += size;
    return items.slice(next - size, next);
  };
}

/** Lets one piece of work run at a time, in the order in which they came. */
export function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => undefined);
    return mine;
  };
}
