/** Parts of values: own properties, elements, and slices. Nothing else is reached. */
import { EvaluationError, UndefinedError } from "./evaluation-error.ts";
import { type ClockParts, day, Moment, partsOf, Span, second } from "./moment.ts";
import { charactersOf, number, present } from "./operands.ts";
import { isMapping, Namespace, type PlainValue, Tuple, toText, tupleOf } from "./values.ts";

/** An own property or element; nothing for what is not there, as in Jinja. */
export function itemOf(of: PlainValue, key: PlainValue): PlainValue {
  if (of === undefined) throw new UndefinedError("asks what is not there for a part");
  if (typeof of === "string") return typeof key === "number" ? charactersOf(of).at(key) : undefined;
  if (Array.isArray(of)) {
    if (typeof key === "number") return of.at(key);
    const at = of instanceof Tuple && typeof key === "string" ? of.names.indexOf(key) : -1;
    return at === -1 ? undefined : of[at];
  }
  const name = toText(key);
  if (of instanceof Namespace) return of.values.get(name);
  if (of instanceof Span)
    return Object.hasOwn(spanParts, name) ? spanParts[name]?.(of.micros) : undefined;
  if (of instanceof Moment) {
    const part = Object.hasOwn(clockParts, name) ? clockParts[name] : undefined;
    return part && (!of.isDate || dateParts.has(part)) ? partsOf(of)[part] : undefined;
  }
  if (!isMapping(of)) return undefined;
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

/** Attributes of dates, by Python's names. */
const clockParts: Readonly<Record<string, keyof ClockParts>> = {
  ...{ year: "year", month: "month", day: "day" },
  ...{ hour: "hour", minute: "minute", second: "second", microsecond: "micro" },
};
const dateParts: ReadonlySet<string> = new Set(["year", "month", "day"]);

/** Python's days go downwards, and the rest of them upwards. */
const spanParts: Readonly<Record<string, (micros: bigint) => number>> = {
  days: (micros) => Number((micros - restOf(micros, day)) / day),
  seconds: (micros) => Number(restOf(micros, day) / second),
  microseconds: (micros) => Number(restOf(micros, second)),
};
const restOf = (micros: bigint, unit: bigint) => ((micros % unit) + unit) % unit;

/** As Python's slices; a step backwards turns the order round. */
export function sliceOf(
  of: PlainValue,
  from?: PlainValue,
  to?: PlainValue,
  step?: PlainValue,
): PlainValue {
  present(of);
  const list = typeof of === "string" ? charactersOf(of) : Array.isArray(of) ? of : undefined;
  if (list === undefined) throw new EvaluationError("takes a part of what is no list");
  const by = step === undefined || step === null ? 1 : number(step);
  if (!Number.isInteger(by) || by === 0) throw new EvaluationError("takes a part in steps of none");
  const at = (bound: PlainValue, usual: number) => {
    if (bound === undefined || bound === null) return usual;
    const given = number(bound);
    if (!Number.isInteger(given)) throw new EvaluationError("takes a part from what is no place");
    const index = given < 0 ? given + list.length : given;
    return by > 0
      ? Math.max(0, Math.min(index, list.length))
      : Math.max(-1, Math.min(index, list.length - 1));
  };
  const [first, last] =
    by > 0 ? [at(from, 0), at(to, list.length)] : [at(from, list.length - 1), at(to, -1)];
  const found: PlainValue[] = [];
  for (let index = first; by > 0 ? index < last : index > last; index += by)
    found.push(list[index]);
  if (typeof of === "string") return found.join("");
  return of instanceof Tuple ? tupleOf(found) : found;
}
