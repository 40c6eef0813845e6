/** Values that order rows: times in the forms that providers write them, and other numbers. */

export interface Moment {
  /** A time, or a number without a meaning in time (a sequence, an id). */
  readonly kind: "time" | "number";
  /** ms since 1970 for times, with microseconds as a fraction; else the number itself. */
  readonly value: number;
  /** How long it lasts: a date is a day, "12:00:05" a second. In the unit of `value`. */
  readonly span: number;
}

const dayMs = 86_400_000;
const isoForm =
  /^(\d{4}-\d\d-\d\d)(?:([T ])(\d\d:\d\d)(?::(\d\d)(\.\d+)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;
/** Of seconds since 1970 between 2001 and 2286; the next ones are milliseconds and microseconds. */
const epochUnits = [
  { digits: 10, perMs: 1 / 1_000 },
  { digits: 13, perMs: 1 },
  { digits: 16, perMs: 1_000 },
] as const;

/**
 * Undefined for what has no place in an order: null, words, opaque tokens. Times without a zone are
 * taken for UTC.
 */
export function momentOf(value: unknown): Moment | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) return numberMoment(text);
  const [, date = "", , clock = "", seconds = "", fraction = "", zone = "Z"] =
    isoForm.exec(text) ?? [];
  if (date === "") return undefined;
  if (clock === "") return timeMoment(Date.parse(`${date}T00:00:00Z`), dayMs);
  const whole = Date.parse(
    `${date}T${clock}:${seconds || "00"}${fraction.slice(0, 4)}${fullZone(zone)}`,
  );
  const finer = fraction.length > 4 ? Number(`0.${fraction.slice(4)}`) : 0;
  const span = seconds === "" ? 60_000 : fraction === "" ? 1_000 : 10 ** (4 - fraction.length);
  return timeMoment(whole + finer, span);
}

const timeMoment = (value: number, span: number): Moment | undefined =>
  Number.isNaN(value) ? undefined : { kind: "time", value, span };

function numberMoment(text: string): Moment {
  const whole = text.replace(/\..*$/, "");
  const unit = epochUnits.find(({ digits }) => whole.length === digits && !whole.startsWith("-"));
  if (!unit) return { kind: "number", value: Number(text), span: 0 };
  return {
    kind: "time",
    value: Number(text) / unit.perMs,
    span: whole === text ? 1 / unit.perMs : 0,
  };
}

const fullZone = (zone: string) =>
  /^z$/i.test(zone) ? "Z" : `${zone.slice(0, 3)}:${zone.slice(3).replace(":", "") || "00"}`;

/** Scalars as text; numbers that a double cannot hold by their digits. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null || !("rawJSON" in value)) return undefined;
  return String(value.rawJSON);
}

/**
 * The time (ms; for a plain number the number) in the form of the sample: same type, separator,
 * digits and kind of zone.
 */
export function writeLike(sample: unknown, ms: number): unknown {
  const text = textOf(sample) ?? "";
  const moment = momentOf(sample);
  if (moment?.kind === "number")
    return typeof sample === "string" ? String(Math.round(ms)) : Math.round(ms);
  const unit = epochUnits.find(
    ({ digits }) => /^\d+(\.\d+)?$/.test(text) && text.replace(/\..*$/, "").length === digits,
  );
  if (unit) {
    const number = Math.round(ms * unit.perMs);
    return typeof sample === "string" ? String(number) : number;
  }
  const [, , separator = "T", clock = "", seconds = "", fraction = "", zone = ""] =
    isoForm.exec(text) ?? [];
  const iso = new Date(Math.floor(ms)).toISOString();
  if (clock === "") return iso.slice(0, 10);
  const micros = Math.round((ms - Math.floor(ms)) * 1_000);
  const digits = `${iso.slice(20, 23)}${String(micros).padStart(3, "0")}000`.slice(
    0,
    Math.max(0, fraction.length - 1),
  );
  const offset =
    zone === "" || /^z$/i.test(zone) ? zone : zone.replaceAll(/[1-9]/g, "0").replace("-", "+");
  return `${iso.slice(0, 10)}${separator}${iso.slice(11, 16)}${seconds === "" ? "" : iso.slice(16, 19)}${digits === "" ? "" : `.${digits}`}${offset}`;
}

/** Below zero when `one` comes first; 0 also for what cannot be compared. */
export function compareMoments(one: Moment | undefined, other: Moment | undefined): number {
  return one === undefined || other === undefined || one.kind !== other.kind
    ? 0
    : one.value - other.value;
}

/** True when the value lies within the moment: a row of that day, second or microsecond. */
export function isWithin(value: unknown, moment: Moment): boolean {
  const own = momentOf(value);
  if (own === undefined || own.kind !== moment.kind) return false;
  // A saved position is rarely finer than a millisecond.
  const span = moment.kind === "time" ? Math.max(moment.span, 1) : moment.span;
  const start = moment.kind === "time" && moment.span < 1 ? Math.floor(moment.value) : moment.value;
  return own.value >= start && own.value <= start + span;
}

/** The latest of the values, as it is written; undefined when none has a place in an order. */
export const latest = (values: readonly unknown[]): unknown =>
  values
    .filter((value) => momentOf(value) !== undefined)
    .toSorted((one, other) => compareMoments(momentOf(other), momentOf(one)))[0];
