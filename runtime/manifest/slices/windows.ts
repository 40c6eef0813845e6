/**
 * The windows of time that a DatetimeBasedCursor asks for, and those of them that are read: windows
 * that touch one another are one.
 */
import type { JsonObject } from "../../contract/json.ts";
import { formatMoment } from "../expressions/dates.ts";
import { addSpan, type Moment, type Span } from "../expressions/moment.ts";
import type { PlainRecord } from "../records/selector.ts";
import type { Clamp } from "./clamping.ts";
import type { Cursor, Window } from "./cursor.ts";

/** A window that is read, and the newest value in it. */
export interface Interval {
  readonly start: Moment;
  end: Moment;
  newest: Moment | undefined;
}

/** The cursor of a manifest, for the settings of a run. */
export interface Settings {
  readonly field: string;
  readonly names: readonly [string, string];
  readonly formats: readonly string[];
  readonly format: string;
  readonly start: Moment;
  readonly end: () => Moment;
  readonly step: Span | undefined;
  readonly granularity: Span | undefined;
  readonly lookback: Span | undefined;
  readonly isStrict: boolean;
  readonly clamp: Clamp;
}

/** Where a cursor begins. */
export interface Begun {
  readonly from: Moment;
  readonly intervals: Interval[];
  /** The other properties of the state; they are kept. */
  readonly others: JsonObject;
}

/** The cursor of a stream, or of one part of it, from what its state holds. */
export function createCursor(
  settings: Settings,
  { from, intervals: begun, others }: Begun,
  momentOfRecord: (record: PlainRecord) => Moment | undefined,
  fromText: (value: unknown) => Moment,
): Cursor {
  const { field, names, format, start, step, granularity, lookback, isStrict, clamp } = settings;
  const write = (moment: Moment) => formatMoment(moment, format);
  const earlier = (moment: Moment, span: Span | undefined) =>
    span ? (addSpan(moment, span, -1) ?? start) : moment;
  const windowOf = (lower: Moment, upper: Moment): Window => ({
    [names[0]]: write(lower),
    [names[1]]: write(upper),
  });
  let intervals = begun;
  let newest: Moment | undefined;
  const merge = () => {
    intervals = mergeIntervals(intervals, granularity);
  };

  function* split(lower: Moment, upper: Moment, isEnd: boolean): Iterable<Window> {
    if (lower.micros > upper.micros || (lower.micros === upper.micros && !granularity)) return;
    if (upper.micros < start.micros) return;
    const first = clamp(lower.micros < start.micros ? start : lower);
    if (first.micros > upper.micros) return;
    if (first.micros === upper.micros && (isStrict || !isEnd)) return;
    for (let at = first, isFirst = true; ; isFirst = false) {
      const reached = step && addSpan(at, step, 1);
      const isBeyond = !reached || reached.micros >= upper.micros;
      // The end of a list is clamped already, but for a list of one window.
      const isKept = isBeyond && !(isFirst && !(isEnd && granularity));
      const end = isKept ? upper : clamp(isBeyond ? upper : reached);
      const isLast = isBeyond || end.micros === upper.micros;
      if (!(isFirst && isBeyond) && at.micros >= end.micros) return;
      const isWhole = granularity === undefined || (isEnd && isLast);
      yield windowOf(at, isWhole ? end : earlier(end, granularity));
      if (isLast) return;
      at = clamp(end);
    }
  }

  return {
    *windows() {
      merge();
      const [first, ...rest] = intervals;
      if (!first) return;
      if (start.micros < first.start.micros) yield* split(start, first.start, false);
      let last = first;
      for (const next of rest) {
        const after = granularity ? (addSpan(last.end, granularity, 1) ?? last.end) : last.end;
        yield* split(after, next.start, false);
        last = next;
      }
      yield* split(earlier(last.end, lookback), settings.end(), true);
    },
    observe(record) {
      const value = momentOfRecord(record);
      if (value && (!newest || newest.micros < value.micros)) newest = value;
    },
    close(window) {
      const [lower, upper] = [fromText(window[names[0]]), fromText(window[names[1]])];
      intervals.push({ start: lower, end: upper, newest });
      newest = undefined;
      merge();
    },
    state() {
      const [first] = mergeIntervals(intervals, granularity);
      return first ? { ...others, [field]: write(first.newest ?? first.start) } : others;
    },
    isNew(record) {
      const value = momentOfRecord(record);
      if (!value) return true;
      const floor = earlier(from, lookback);
      const least = from.micros < start.micros ? from : start;
      const lowest = lookback && floor.micros < least.micros ? least : floor;
      return lowest.micros <= value.micros && value.micros <= settings.end().micros;
    },
  };
}

/** Windows that touch one another are one. */
function mergeIntervals(intervals: readonly Interval[], granularity: Span | undefined): Interval[] {
  const sorted = [...intervals].sort((a, b) =>
    a.start.micros === b.start.micros
      ? Number(a.end.micros - b.end.micros)
      : Number(a.start.micros - b.start.micros),
  );
  const merged: Interval[] = [];
  for (const next of sorted) {
    const last = merged.at(-1);
    const reach = last && (granularity ? addSpan(last.end, granularity, 1) : undefined);
    const until = reach?.micros ?? (last ? last.end.micros + 1000n : 0n);
    if (!last || until < next.start.micros) {
      merged.push({ ...next });
      continue;
    }
    if (next.end.micros > last.end.micros) last.end = next.end;
    const isNewer = next.newest && (!last.newest || next.newest.micros > last.newest.micros);
    if (isNewer) last.newest = next.newest;
  }
  return merged;
}
