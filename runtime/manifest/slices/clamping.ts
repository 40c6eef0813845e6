/** Clamping: windows that begin and end with a day, a week or a month. */
import { ConnectorError } from "../../contract/errors.ts";
import { isJsonObject } from "../../contract/json.ts";
import type { Component } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import {
  addSpan,
  day,
  fromParts,
  type Moment,
  partsOf,
  Span,
  second,
} from "../expressions/moment.ts";
import { compileTemplate } from "../expressions/template.ts";

/** Where the period begins that a moment is moved to. */
export type Clamp = (moment: Moment) => Moment;

export interface Clamping {
  /** Of both ends of a window: the beginning of the next period, but for one that begins there. */
  readonly clamp: Clamp;
  /** Of the end of the whole reading: the last unit before the period that has begun. */
  readonly end: Clamp;
}

const weekdays = ["SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"];
const unclamped: Clamping = { clamp: (moment) => moment, end: (moment) => moment };
const oneDay = new Span(day);

/** @throws CONNECTOR_INVALID, and CONFIG_INVALID (its result) for a period that is none */
export function compileClamping(
  cursor: Component,
  granularity: Span | undefined,
): (scope: Scope) => Clamping {
  const clamping = cursor.get("clamping");
  if (clamping === undefined || clamping === null) return () => unclamped;
  const place = cursor.at("clamping");
  if (!isJsonObject(clamping) || typeof clamping.target !== "string")
    throw invalid(`${place}.target`, "must be DAY, WEEK or MONTH");
  const target = compileTemplate(clamping.target, `${place}.target`);
  const { target_details: details } = clamping;
  const named = isJsonObject(details) ? String(details.weekday).toUpperCase() : "";
  const floors: Readonly<Record<string, Clamp>> = {
    DAY: midnight,
    WEEK: (moment) => {
      const { weekday } = partsOf(moment);
      const days = (weekday - weekdays.indexOf(named) + 7) % 7;
      return shifted(midnight(moment), new Span(BigInt(days) * day), -1);
    },
    MONTH: (moment) => {
      const { day: dayOfMonth } = partsOf(moment);
      return shifted(midnight(moment), new Span(BigInt(dayOfMonth - 1) * day), -1);
    },
  };
  const ceilings: Readonly<Record<string, Clamp>> = {
    DAY: (moment) => {
      const floor = midnight(moment);
      return floor.micros === moment.micros ? floor : shifted(floor, oneDay, 1);
    },
    // A week and a month begin with their first day, whatever its hour is.
    WEEK: (moment) => {
      const floor = floors.WEEK?.(moment) ?? moment;
      return floor.micros === midnight(moment).micros
        ? floor
        : shifted(floor, new Span(7n * day), 1);
    },
    MONTH: (moment) => {
      const floor = floors.MONTH?.(moment) ?? moment;
      return floor.micros === midnight(moment).micros ? floor : shifted(floor, new Span(0n, 1), 1);
    },
  };
  return (scope) => {
    const period = target.text(scope);
    const [floor, clamp] = [floors[period], ceilings[period]];
    if (!floor || !clamp)
      throw new ConnectorError("CONFIG_INVALID", {
        path: `${place}.target`,
        problem: "must be DAY, WEEK or MONTH",
      });
    if (period === "WEEK" && !weekdays.includes(named))
      throw invalid(`${place}.target_details.weekday`, "must name a day, as MONDAY");
    const unit = granularity ?? (period === "DAY" ? new Span(second) : oneDay);
    return { clamp, end: (moment) => shifted(floor(moment), unit, -1) };
  };
}

const midnight = (moment: Moment): Moment =>
  fromParts(
    { ...partsOf(moment), ...{ hour: 0, minute: 0, second: 0, micro: 0 } },
    moment.offsetMinutes,
  ) ?? moment;

const shifted = (moment: Moment, span: Span, sign: 1 | -1): Moment =>
  addSpan(moment, span, sign) ?? moment;
