/**
 * DatetimeBasedCursor: the windows of time that are asked for, and the state that says which of them
 * are read. States are those of Airbyte: both of its forms are read, and its sequential one written.
 */
import { ConnectorError } from "../../contract/errors.ts";
import type { JsonObject, JsonValue } from "../../contract/json.ts";
import { isJsonObject } from "../../contract/json.ts";
import type { Component } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import { formatMoment, isFormat, momentOf, parseMoment } from "../expressions/dates.ts";
import { clockName, type Scope } from "../expressions/evaluate.ts";
import { addSpan, Moment, parseSpan, type Span, second } from "../expressions/moment.ts";
import type { Template } from "../expressions/template.ts";
import { toText } from "../expressions/values.ts";
import type { Row } from "../records/selector.ts";
import { type Added, compileInject } from "../requests/request-option.ts";

/** A window of time, as expressions see it: by the names of its two ends. */
export type Window = { readonly [field: string]: string | number };

/** The cursor of a stream, or of one part of it. */
export interface Cursor {
  /** Those that are not read yet, in order. */
  windows(): Iterable<Window>;
  /** Takes note of a record, of the window that is being read. */
  observe(record: Row): void;
  /** Everything of the window is read. */
  close(window: Window): void;
  state(): JsonObject;
  /** Whether a record is as new as what is asked for. */
  isNew(record: Row): boolean;
}

export interface CursorPlan {
  readonly fieldTemplate: Template;
  readonly isClientSide: boolean;
  readonly isDataFeed: boolean;
  readonly isGlobal: boolean;
  inject(added: Added, window: Scope, scope: Scope): void;
  /** @throws STATE_INVALID · CONFIG_INVALID for a date that is none */
  open(scope: Scope): CursorFactory;
}

export interface CursorFactory {
  readonly field: string;
  /** @param lookbackSeconds how much earlier than the state it begins @throws STATE_INVALID */
  create(state: JsonObject, lookbackSeconds?: number): Cursor;
  /** The value of a record's cursor, as states have it. Undefined when it has none. */
  valueOf(record: Row): string | undefined;
  /** A value of a state, as this cursor writes it. @throws STATE_INVALID */
  normalize(value: JsonValue): string;
}

interface Interval {
  readonly start: Moment;
  end: Moment;
  newest: Moment | undefined;
}

const defaultFormat = "%Y-%m-%dT%H:%M:%S.%f%z";

export function compileCursor(cursor: Component): CursorPlan {
  const fieldTemplate = cursor.required("cursor_field", cursor.template("cursor_field"));
  const format = formatAt(cursor, "datetime_format") ?? "";
  if (format === "") throw invalid(cursor.at("datetime_format"), "is missing");
  const more = cursor.get("cursor_datetime_formats") ?? [];
  if (!Array.isArray(more)) throw invalid(cursor.at("cursor_datetime_formats"), "must be a list");
  const formats = [...more.map(String), format];
  for (const one of formats) checkFormat(one, cursor.at("cursor_datetime_formats"));
  const start = compileBoundary(cursor, "start_datetime", format);
  const startAt = cursor.required("start_datetime", start);
  const endAt = compileBoundary(cursor, "end_datetime", format);
  const spanAt = (name: string) => {
    const template = cursor.template(name);
    const read = (scope: Scope): Span | undefined => {
      const text = template ? toText(template.value(scope)) : "";
      if (text === "") return undefined;
      const span = parseSpan(text);
      if (!span || span.micros < 0n || (span.micros === 0n && span.months === 0 && name === "step"))
        throw invalid(cursor.at(name), "must be a duration, as P1D");
      return span;
    };
    if (template?.isPlain) read({});
    return read;
  };
  const [step, lookback] = [spanAt("step"), spanAt("lookback_window")];
  const granularity = spanAt("cursor_granularity")({});
  if ((cursor.get("step") === undefined) !== (granularity === undefined))
    throw invalid(cursor.at("step"), "and cursor_granularity need each other");
  const names = [
    cursor.get("partition_field_start") ?? "start_time",
    cursor.get("partition_field_end") ?? "end_time",
  ].map(String) as [string, string];
  const injects = (["start_time_option", "end_time_option"] as const).map((name) => {
    const option = cursor.child(name, "RequestOption");
    return option && compileInject(option);
  });
  const isStrict = cursor.get("is_compare_strictly") === true;

  return {
    fieldTemplate,
    isClientSide: cursor.get("is_client_side_incremental") === true,
    isDataFeed: cursor.get("is_data_feed") === true,
    isGlobal: cursor.get("global_substream_cursor") === true,
    inject(added, window, scope) {
      for (const [index, inject] of injects.entries())
        inject?.(added, window[names[index] ?? ""], scope);
    },
    open(scope) {
      const field = toText(fieldTemplate.value(scope));
      return createFactory({
        ...{ field, names, formats, format, granularity, isStrict },
        start: startAt(scope),
        end: () => endAt?.(scope) ?? momentOf(Number(scope[clockName])),
        step: step(scope),
        lookback: lookback(scope),
      });
    },
  };
}

interface Settings {
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
}

function createFactory(settings: Settings): CursorFactory {
  const { field, formats, format } = settings;
  const parse = (value: unknown): Moment | undefined => {
    const text = typeof value === "object" ? "" : toText(value as string);
    for (const one of formats) {
      const found = parseMoment(text, one);
      if (found) return found;
    }
    return undefined;
  };
  const fromState = (value: unknown): Moment => {
    const found = parse(value);
    if (found) return found;
    throw new ConnectorError("STATE_INVALID", {
      path: field,
      problem: `is no date in a format of the cursor: ${formats.join(", ").slice(0, 200)}`,
    });
  };
  const momentOfRecord = (record: Row) =>
    Object.hasOwn(record, field) ? parse(record[field]) : undefined;
  return {
    field,
    valueOf(record) {
      const found = momentOfRecord(record);
      return found && formatMoment(found, format);
    },
    normalize: (value) => formatMoment(fromState(value), format),
    create(state, lookbackSeconds = 0) {
      const given =
        lookbackSeconds > 0 && state[field] !== undefined
          ? {
              ...state,
              [field]: formatMoment(
                new Moment(fromState(state[field]).micros - BigInt(lookbackSeconds) * second),
                format,
              ),
            }
          : state;
      return createCursor(
        settings,
        readState(given, settings, fromState),
        momentOfRecord,
        fromState,
      );
    },
  };
}

interface Begun {
  readonly from: Moment;
  readonly intervals: Interval[];
  /** What else the state holds; it is kept. */
  readonly others: JsonObject;
}

/** `{ field: value }`, or `{ state_type: "date-range", slices: [{ start, end, … }] }`. */
function readState(
  state: JsonObject,
  { field, start }: Settings,
  fromState: (value: unknown) => Moment,
): Begun {
  if (state.state_type === "date-range") {
    const slices = Array.isArray(state.slices) ? state.slices : [];
    const intervals = slices.filter(isJsonObject).map(
      (slice): Interval => ({
        start: fromState(slice.start),
        end: fromState(slice.end),
        newest:
          slice.most_recent_cursor_value === undefined || slice.most_recent_cursor_value === null
            ? undefined
            : fromState(slice.most_recent_cursor_value),
      }),
    );
    const [first] = intervals;
    if (first) return { from: first.newest ?? first.end, intervals, others: {} };
  }
  const saved = state[field];
  const known = saved === undefined || saved === null ? undefined : fromState(saved);
  const from = known && known.micros >= start.micros ? known : start;
  const others = state.state_type === "date-range" ? {} : state;
  return { from, others, intervals: [{ start, end: from, newest: from }] };
}

function createCursor(
  settings: Settings,
  { from, intervals: begun, others }: Begun,
  momentOfRecord: (record: Row) => Moment | undefined,
  fromText: (value: unknown) => Moment,
): Cursor {
  const { field, names, format, start, step, granularity, lookback, isStrict } = settings;
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
    const first = lower.micros < start.micros ? start : lower;
    if (first.micros > upper.micros) return;
    if (first.micros === upper.micros && (isStrict || !isEnd)) return;
    for (let at = first; ; ) {
      const reached = step && addSpan(at, step, 1);
      const isLast = !reached || reached.micros >= upper.micros;
      const end = isLast ? upper : reached;
      const isWhole = granularity === undefined || (isEnd && isLast);
      yield windowOf(at, isWhole ? end : earlier(end, granularity));
      if (isLast) return;
      at = end;
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

function formatAt(component: Component, name: string): string | undefined {
  const format = component.get(name);
  if (format === undefined || format === null || format === "") return undefined;
  checkFormat(String(format), component.at(name));
  return String(format);
}

function checkFormat(format: string, path: string): void {
  if (!isFormat(format))
    throw new Unsupported(path, "has a format code that is not supported here");
}

/** A date that a manifest names, alone or between two others. */
function compileBoundary(
  cursor: Component,
  name: string,
  usual: string,
): ((scope: Scope) => Moment) | undefined {
  const written = cursor.get(name);
  if (written === undefined || written === null || written === "") return undefined;
  const isText = typeof written !== "object";
  const bounds = isText ? undefined : cursor.child(name, "MinMaxDatetime");
  const text = bounds
    ? bounds.required("datetime", bounds.template("datetime"))
    : cursor.required(name, cursor.template(name));
  const format = (bounds && formatAt(bounds, "datetime_format")) ?? usual ?? defaultFormat;
  const read = (template: Template, scope: Scope): Moment | undefined => {
    const made = toText(template.value(scope));
    const found = made === "" ? undefined : parseMoment(made, format);
    if (made !== "" && !found)
      throw new ConnectorError("CONFIG_INVALID", {
        path: cursor.at(name),
        problem: `is no date in the format ${format}`,
      });
    return found;
  };
  const [least, most] = [bounds?.template("min_datetime"), bounds?.template("max_datetime")];
  return (scope) => {
    let made = read(text, scope);
    if (!made)
      throw new ConnectorError("CONFIG_INVALID", { path: cursor.at(name), problem: "is empty" });
    const [low, high] = [least && read(least, scope), most && read(most, scope)];
    if (low && low.micros > made.micros) made = low;
    if (high && high.micros < made.micros) made = high;
    return made;
  };
}
