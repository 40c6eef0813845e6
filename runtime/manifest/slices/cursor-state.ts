/** The states of a DatetimeBasedCursor: both forms that Airbyte has are read. */
import { ConnectorError } from "../../contract/errors.ts";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { formatMoment, parseMoment } from "../expressions/dates.ts";
import { Moment, second } from "../expressions/moment.ts";
import { toText } from "../expressions/values.ts";
import type { PlainRecord } from "../records/selector.ts";
import type { CursorFactory } from "./cursor.ts";
import { type Begun, createCursor, type Interval, type Settings } from "./windows.ts";

/** Cursors that begin where a state says. */
export function createFactory(settings: Settings): CursorFactory {
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
  const momentOfRecord = (record: PlainRecord) =>
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
