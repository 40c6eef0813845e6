/** The state sweep: what becomes of states in stores, editors and upgrades. */
import type { JsonObject, JsonValue } from "svc-connectors";
import { type Moment, momentOf, writeLike } from "../rows/moments.ts";

export interface StateLeaf {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** Scalars and empty containers of a state, with their paths. */
export function leavesOfState(state: JsonValue, path: readonly string[] = []): StateLeaf[] {
  if (typeof state !== "object" || state === null) return [{ path, value: state }];
  return Object.entries(state).flatMap(([name, part]) => leavesOfState(part, [...path, name]));
}

export const pathText = (path: readonly string[]) =>
  path.length === 0 ? "the state" : path.join(".");

/** A copy with another value there. */
export function withLeaf(
  state: JsonValue,
  [step, ...rest]: readonly string[],
  value: JsonValue,
): JsonValue {
  if (step === undefined || typeof state !== "object" || state === null) return value;
  if (Array.isArray(state))
    return state.map((part, at) => (String(at) === step ? withLeaf(part, rest, value) : part));
  return { ...state, [step]: withLeaf(state[step] ?? null, rest, value) };
}

export interface TimedLeaf extends StateLeaf {
  readonly moment: Moment;
}

/** Leaves that say a time. Plain numbers count where one of the cursors given says the same. */
export function timedLeaves(
  state: JsonValue | undefined,
  cursors: readonly unknown[] = [],
): TimedLeaf[] {
  if (state === undefined) return [];
  const numbers = new Set(
    cursors.map(momentOf).flatMap((moment) => (moment?.kind === "number" ? [moment.value] : [])),
  );
  return leavesOfState(state).flatMap((leaf) => {
    const moment = momentOf(leaf.value);
    return moment && (moment.kind === "time" || numbers.has(moment.value))
      ? [{ ...leaf, moment }]
      : [];
  });
}

export interface BadState {
  /** "since is a number". */
  readonly name: string;
  readonly state: JsonValue;
}

/** `{}` and `null` are a beginning in every connector: they must only not crash. */
export const beginnings: readonly BadState[] = [
  { name: "{}", state: {} },
  { name: "null", state: null },
];

/** States that the connector never wrote, made from one that it did. */
export function badStates(good: JsonValue, label: string): BadState[] {
  const text = JSON.stringify(good);
  const foreign: JsonObject = { [label === "other" ? "another" : "other"]: good };
  return [
    { name: "a list", state: [good] },
    { name: "an empty list", state: [] },
    { name: "a number", state: 42 },
    { name: "a text", state: "state" },
    { name: "its JSON as text, cut in half", state: text.slice(0, Math.ceil(text.length / 2)) },
    { name: "the state of another stream around it", state: foreign },
    ...leavesOfState(good).flatMap(({ path, value }) =>
      badLeaves(value).map(({ name, state }) => ({
        name: `${pathText(path)} ${name}`,
        state: withLeaf(good, path, state),
      })),
    ),
    { name: "a later version of it", state: { version: 99, data: good } },
  ].filter(({ state }) => JSON.stringify(state) !== text);
}

function badLeaves(value: JsonValue): BadState[] {
  const object = { name: "is an object", state: { a: 1 } };
  if (typeof value === "string") {
    const cut =
      momentOf(value)?.kind === "time" && value.includes("-")
        ? [{ name: "is cut off", state: `${value.slice(0, 9)}x` }]
        : [];
    return [
      { name: "is true", state: true },
      { name: "is a list", state: [value] },
      object,
      ...cut,
    ];
  }
  if (typeof value === "number") return [{ name: "is a word", state: "soon" }, object];
  return value === null ? [] : [{ name: "is a word", state: "soon" }, object];
}

const farYears = 100;
const yearMs = 365.25 * 86_400_000;
/** Beyond every number that is in use, and still exact. */
const farNumber = 9_007_199_254_740_000;

/** The state with every time a hundred years on; undefined when it says none. */
export function farFuture(state: JsonValue, cursors: readonly unknown[]): JsonValue | undefined {
  const leaves = timedLeaves(state, cursors);
  if (leaves.length === 0) return undefined;
  return leaves.reduce((changed, { path, value, moment }) => {
    const value2 = moment.kind === "time" ? moment.value + farYears * yearMs : farNumber;
    return withLeaf(changed, path, writeLike(value, value2) as JsonValue);
  }, state);
}

/**
 * Leaves of `after` that say less than the same leaf of `before`, or nothing where it said
 * something.
 */
export function regressions(
  before: JsonValue | undefined,
  after: JsonValue | undefined,
  cursors: readonly unknown[] = [],
): string[] {
  return timedLeaves(before, cursors).flatMap(({ path, value, moment }) => {
    const now = path.reduce<JsonValue | undefined>(
      (part, step) =>
        typeof part === "object" && part !== null ? (part as JsonObject)[step] : undefined,
      after,
    );
    const then = momentOf(now);
    const isLower = then === undefined || then.kind !== moment.kind || then.value < moment.value;
    return isLower
      ? [`${pathText(path)} went from ${JSON.stringify(value)} to ${JSON.stringify(now ?? null)}`]
      : [];
  });
}
