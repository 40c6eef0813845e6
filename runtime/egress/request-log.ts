/** Times of recent requests, oldest first. Adding and dropping take constant time on average. */
export interface RequestLog {
  readonly size: number;
  /** Times must not decrease. */
  add(timeMs: number): void;
  /** Drops all at or before that time. */
  dropBefore(timeMs: number): void;
  /** The time of the n-th oldest; Infinity when there are fewer. */
  at(index: number): number;
}

export function createRequestLog(): RequestLog {
  let times: number[] = [];
  let first = 0;
  return {
    get size() {
      return times.length - first;
    },
    add(timeMs) {
      times.push(timeMs);
    },
    dropBefore(timeMs) {
      while (first < times.length && (times[first] ?? 0) <= timeMs) first++;
      if (first > 1_024 && first * 2 > times.length) {
        times = times.slice(first);
        first = 0;
      }
    },
    at: (index) => times[first + index] ?? Number.POSITIVE_INFINITY,
  };
}
