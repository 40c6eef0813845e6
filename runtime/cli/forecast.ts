import { type StreamDescriptor, streamKey } from "../contract/catalog.ts";

/**
 * About how many rows a read will bring of each of its streams; undefined where nobody knows, as
 * for what is new since the last run.
 */
export type ExpectedRows = readonly {
  readonly stream: StreamDescriptor;
  readonly rows: number | undefined;
}[];

/** The rest of a read. Each is undefined where it cannot be said. */
export interface Outlook {
  /** How much of the current stream has come, from 0 to 99. */
  readonly percent: number | undefined;
  /** About how many rows the whole read has. */
  readonly total: number | undefined;
  readonly restMs: number | undefined;
}

export interface Forecast {
  count(stream: StreamDescriptor, rows: number): void;
  end(stream: StreamDescriptor): void;
  look(current: StreamDescriptor | undefined, elapsedMs: number): Outlook;
}

/** A rest is only said after so long, and when so much of the whole has come. */
const leastMs = 5_000;
const leastShare = 0.01;

/** Compares what has come with what is expected. Estimates are only that: more may come. */
export function createForecast(expected: ExpectedRows): Forecast {
  const read = new Map<string, number>();
  const ended = new Set<string>();
  const estimates = new Map(expected.map(({ stream, rows }) => [streamKey(stream), rows]));
  const isKnown = expected.every(({ rows }) => rows !== undefined);
  const hasEstimate = expected.some(({ rows }) => rows !== undefined && rows > 0);

  const readOf = (key: string) => read.get(key) ?? 0;
  const expectedOf = (key: string) =>
    ended.has(key) ? readOf(key) : Math.max(estimates.get(key) ?? 0, readOf(key));

  return {
    count(stream, rows) {
      const key = streamKey(stream);
      read.set(key, readOf(key) + rows);
    },
    end: (stream) => void ended.add(streamKey(stream)),
    look(current, elapsedMs) {
      const key = current && streamKey(current);
      const estimate = key === undefined ? undefined : estimates.get(key);
      const percent =
        key === undefined || !estimate || ended.has(key)
          ? undefined
          : Math.min(99, Math.floor((100 * readOf(key)) / estimate));
      if (!isKnown || !hasEstimate) return { percent, total: undefined, restMs: undefined };
      const keys = [...estimates.keys()];
      const total = keys.reduce((sum, one) => sum + expectedOf(one), 0);
      const done = keys.reduce((sum, one) => sum + readOf(one), 0);
      const isForecast = elapsedMs >= leastMs && done >= total * leastShare && done < total;
      return {
        percent,
        total,
        restMs: isForecast ? (elapsedMs * (total - done)) / done : undefined,
      };
    },
  };
}
