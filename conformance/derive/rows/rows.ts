/** Rows as the sweeps compare them: by primary key and content, numbers by their digits. */

import { parseExact } from "svc-connectors";
import { canonicalize } from "svc-connectors/host";
import type { StreamFacts } from "../../contract/lab.ts";
import type { Observation, ObservedMessage } from "../../contract/observation.ts";
import { recordLines } from "../../fixtures/records.ts";

export interface OutputRow {
  /** The primary key as JSON; the whole row where there is none. */
  readonly key: string;
  /** The whole row in canonical form. */
  readonly content: string;
  readonly data: { readonly [field: string]: unknown };
}

export function outputRows(
  messages: readonly ObservedMessage[],
  { label, primaryKey }: Pick<StreamFacts, "label" | "primaryKey">,
): OutputRow[] {
  const isOfRun = timesOfRun(messages);
  return recordLines(messages, label).map((text) => {
    const data = parseExact(text) as OutputRow["data"];
    // A field that a connector stamps with the time of its run has another value in every run,
    // which is no loss.
    const timeless = Object.fromEntries(
      Object.entries(data).map(([name, value]) => [
        name,
        isOfRun(value) ? "the time of the run" : value,
      ]),
    );
    const content = canonicalize(timeless);
    const key =
      primaryKey.length === 0
        ? content
        : canonicalize(primaryKey.map((field) => timeless[field] ?? null));
    return { key, content, data };
  });
}

/** Recognises moments between the first and the last message. */
function timesOfRun(messages: readonly ObservedMessage[]): (value: unknown) => boolean {
  const times = messages.map(({ atMs }) => atMs);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  return (value) => {
    if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(value)) return false;
    const ms = Date.parse(value);
    return ms >= first && ms <= last;
  };
}

export interface Difference {
  /** Keys that are expected and did not come. */
  readonly missing: readonly string[];
  /** Keys that came and are not expected. */
  readonly extra: readonly string[];
  /** Keys whose rows differ. */
  readonly changed: readonly string[];
}

/** Compares as sets: how often a row came does not count; the last of several with one key does. */
export function compareRows(
  expected: readonly OutputRow[],
  given: readonly OutputRow[],
): Difference {
  const wanted = new Map(expected.map((row) => [row.key, row.content]));
  const got = new Map(given.map((row) => [row.key, row.content]));
  return {
    missing: [...wanted.keys()].filter((key) => !got.has(key)),
    extra: [...got.keys()].filter((key) => !wanted.has(key)),
    changed: [...wanted].flatMap(([key, content]) =>
      got.has(key) && got.get(key) !== content ? [key] : [],
    ),
  };
}

export const isSame = ({ missing, extra, changed }: Difference) =>
  missing.length + extra.length + changed.length === 0;

/** "2 rows missing (["n1"], ["n2"]), 1 changed (…)". */
export function describeDifference(difference: Difference): string {
  const part = (keys: readonly string[], word: string) =>
    keys.length === 0
      ? []
      : [
          `${keys.length} ${keys.length === 1 ? "row" : "rows"} ${word} (${keys.slice(0, 3).join(", ")}${keys.length > 3 ? ", …" : ""})`,
        ];
  return [
    ...part(difference.missing, "missing"),
    ...part(difference.extra, "too many"),
    ...part(difference.changed, "changed"),
  ].join(", ");
}

/** The states of a stream, in order, each with the number of the message that brought it. */
export function statesOf({ messages }: Pick<Observation, "messages">, label: string) {
  return messages.flatMap(({ message }, index) => {
    if (message.type !== "STATE" || !message.state.stream) return [];
    const { stream_descriptor: descriptor, stream_state: state = null } = message.state.stream;
    const own = descriptor.namespace
      ? `${descriptor.namespace}.${descriptor.name}`
      : descriptor.name;
    return own === label ? [{ index, state }] : [];
  });
}
