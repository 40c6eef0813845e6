/** Times in the ways that providers write them, down to the microsecond. */

import type { RowField } from "../derive/rows/row-fields.ts";
import type { ValueCase, ValuePlan } from "../derive/rows/values.ts";
import { toText } from "../learn/json.ts";

const form = /^(\d{4}-\d\d-\d\d)([Tt ])(\d\d:\d\d:\d\d)(?:\.(\d+))?\s?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * Offsets of a quarter and half an hour, and an hour of the night that summer time leaves out in
 * Berlin, New York and St. John's.
 */
const moments = [
  { date: "2026-05-02", clock: "10:15:00", fraction: "123456", zone: "+05:45" },
  { date: "2026-03-29", clock: "02:30:00", fraction: "999999", zone: "+01:00" },
  { date: "2026-01-31", clock: "23:59:59", fraction: "000001", zone: "-03:30" },
  { date: "2026-03-08", clock: "02:15:30", fraction: "5", zone: "-05:00" },
] as const;

/**
 * Times with microseconds and offsets. A cursor stays in its second: the provider and the connector
 * choose rows by it.
 */
export const times: ValuePlan = {
  name: "times",
  mayBeRefused: false,
  isForArrays: true,
  count: (field) => (isTime(field) ? moments.length : 0),
  caseAt: (field, n, before) => timeCase(field, before, moments[n % moments.length] ?? moments[0]),
  /** A whole second, as everybody writes it. It may come out in another form. */
  ordinary(field, n, before) {
    const one = timeCase(field, before, {
      date: "2026-05-02",
      clock: `10:15:${10 + (n % 40)}`,
      fraction: "",
      zone: "Z",
    });
    return { ...one, isSame: (given) => secondOf(given) === secondOf(one.value) };
  },
};

function isTime({ values, types, isKey, isRequested }: RowField): boolean {
  if (isKey || isRequested || (types.length > 0 && !types.includes("string"))) return false;
  return (
    values.length > 0 && values.every((value) => typeof value === "string" && form.test(value))
  );
}

interface TimestampParts {
  readonly date: string;
  readonly clock: string;
  readonly fraction: string;
  readonly zone: string;
}

function timeCase(
  { isCursor, values }: RowField,
  before: unknown,
  moment: TimestampParts,
): ValueCase {
  const sample = form.exec(String(before ?? "")) ?? form.exec(String(values[0])) ?? [];
  const [, ownDate = moment.date, separator = "T", ownClock = moment.clock, , ownZone = ""] =
    sample;
  const zone =
    ownZone === "" || (isCursor && moment.zone !== "Z" && zonesOf(values).size < 2)
      ? ownZone
      : moment.zone;
  const { date, clock } = isCursor ? inZone(ownDate, ownClock, ownZone, zone) : moment;
  const value = `${date}${separator}${clock}${moment.fraction === "" ? "" : `.${moment.fraction}`}${zone}`;
  const wanted = readTime(value);
  return {
    text: toText(value),
    value,
    isSame(given) {
      const made = readTime(given);
      if (!made || !wanted) return given === value;
      return (
        made.local === wanted.local &&
        made.fraction === wanted.fraction &&
        (made.offset === wanted.offset || (zone === "" && made.offset === "+00:00"))
      );
    },
  };
}

/** Undefined for what is no time. */
function secondOf(value: unknown): number | undefined {
  const time = readTime(value);
  return time && Date.parse(`${time.local.replace(" ", "T")}Z`) - minutesOf(time.offset) * 60_000;
}

const zonesOf = (values: readonly unknown[]) =>
  new Set(values.map((value) => readTime(value)?.offset));

/** The same second as a clock of another zone shows it. */
function inZone(
  date: string,
  clock: string,
  from: string,
  to: string,
): { readonly date: string; readonly clock: string } {
  const ms = Date.parse(`${date}T${clock}Z`) + minutesOf(to) * 60_000 - minutesOf(from) * 60_000;
  const iso = new Date(ms).toISOString();
  return { date: iso.slice(0, 10), clock: iso.slice(11, 19) };
}

function minutesOf(zone: string): number {
  const [, sign = "+", hours = "0", minutes = "0"] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/** "Z" is "+00:00", and zeros at the end say nothing. */
function readTime(value: unknown) {
  const [, date, , clock, fraction = "", zone = ""] = form.exec(String(value ?? "")) ?? [];
  if (date === undefined || clock === undefined) return undefined;
  const digits = zone.replaceAll(":", "");
  const offset =
    zone === ""
      ? ""
      : /^z$/i.test(zone)
        ? "+00:00"
        : `${digits.slice(0, 3)}:${digits.slice(3) || "00"}`;
  return {
    local: `${date} ${clock}`,
    fraction: fraction.replace(/0+$/, ""),
    offset: offset.replace("-00:00", "+00:00"),
  };
}
