/** The message logs of runs, compared byte for byte: only what a clock says may differ. */
import { canonicalize } from "svc-connectors/host";
import type { Observation } from "../../contract/observation.ts";
import { momentOf } from "../rows/moments.ts";

/** The first and last time of a clock during a run; ms. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Slack for what is written after the last message has been seen. */
const slackMs = 600_000;

export const windowOf = (
  fromMs: number,
  { messages, exchanges }: Pick<Observation, "messages" | "exchanges">,
): TimeWindow => ({
  fromMs,
  toMs: Math.max(fromMs, messages.at(-1)?.atMs ?? 0, exchanges.at(-1)?.atMs ?? 0) + slackMs,
});

export interface CanonicalLog {
  /** Each message but LOG, as it was written, in order. */
  readonly lines: readonly string[];
  readonly window: TimeWindow;
}

export const canonicalLog = (
  { messages }: Pick<Observation, "messages">,
  window: TimeWindow,
): CanonicalLog => ({
  lines: messages.flatMap(({ message, line }) => (message.type === "LOG" ? [] : [line])),
  window,
});

/** The same for runs that give the same messages in another order. */
export const inAnyOrder = ({ lines, window }: CanonicalLog): CanonicalLog => ({
  lines: lines
    .map((line) => [line.replaceAll(times, ""), line] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, line]) => line),
  window,
});

/** Only the last state of each stream: those before say how far each of its partitions was. */
export function settledStates({
  messages,
}: Pick<Observation, "messages">): Pick<Observation, "messages"> {
  const last = new Map(
    messages.flatMap(({ message }, at) =>
      message.type === "STATE"
        ? [[canonicalize(message.state.stream?.stream_descriptor ?? null), at] as const]
        : [],
    ),
  );
  const kept = new Set(last.values());
  return {
    messages: messages.filter(({ message }, at) => message.type !== "STATE" || kept.has(at)),
  };
}

export interface LineDifference {
  readonly at: number;
  readonly lines: readonly [string, string];
}

/**
 * The first line that differs, as both runs wrote it; times that each run's own clock said count as
 * the same.
 */
export function firstLogDifference(
  one: CanonicalLog,
  other: CanonicalLog,
): LineDifference | undefined {
  return firstDifference(one.lines, other.lines, (line, same) =>
    isSameButClock(line, same, one.window, other.window),
  );
}

export function firstDifference(
  one: readonly string[],
  other: readonly string[],
  isEqual: (line: string, same: string) => boolean = Object.is,
): LineDifference | undefined {
  const length = Math.max(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [line, same] = [one[at], other[at]];
    if (line === undefined || same === undefined || !isEqual(line, same))
      return { at, lines: [line ?? "(nothing)", same ?? "(nothing)"] };
  }
  return undefined;
}

/** Texts that are a time, and numbers of 10 or 13 digits, in a line of JSON. */
const times =
  /"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[^"]{0,24})?"|(?<=[:,[]\s*)\d{10}(?:\d{3})?(?:\.\d+)?(?=\s*[,}\]])/g;

function isSameButClock(
  one: string,
  other: string,
  window: TimeWindow,
  otherWindow: TimeWindow,
): boolean {
  if (one === other) return true;
  if (one.replaceAll(times, "<time>") !== other.replaceAll(times, "<time>")) return false;
  const [found, others] = [one.match(times) ?? [], other.match(times) ?? []];
  return found.every(
    (text, at) =>
      text === others[at] || (isOfClock(text, window) && isOfClock(others[at] ?? "", otherWindow)),
  );
}

/** A date of the clock is the whole day. */
function isOfClock(text: string, { fromMs, toMs }: TimeWindow): boolean {
  const moment = momentOf(text.replaceAll('"', ""));
  return moment?.kind === "time" && moment.value + moment.span > fromMs && moment.value <= toMs;
}

/** Where two texts begin to differ, with some of what stands before. */
export function contrast([one, other]: readonly [string, string]): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const start = Math.max(0, at - 60);
  return `…${one.slice(start, at + 60)} and …${other.slice(start, at + 60)}`;
}
