/** The message log of a run in a form in which equal runs are equal, byte for byte. */
import type { Observation } from "../contract/observation.ts";
import { momentOf } from "./moments.ts";

/** What a clock said during a run; ms. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Slack for what is written after the last message has been seen. */
const slackMs = 600_000;

export const windowOf = (fromMs: number, { messages, exchanges }: Pick<Observation, "messages" | "exchanges">): TimeWindow => ({
  fromMs,
  toMs: Math.max(fromMs, messages.at(-1)?.atMs ?? 0, exchanges.at(-1)?.atMs ?? 0) + slackMs,
});

/**
 * One line for each message but LOG, as it was written, in order. Times of the clock (`emitted_at`, bounds, "synced at") stand as
 * "<clock>"; any other time of the present stays, and tells that two runs differ.
 */
export function canonicalLog({ messages }: Observation, window: TimeWindow): string[] {
  return messages.flatMap(({ message, line }) => (message.type === "LOG" ? [] : [withoutClock(line, window)]));
}

const times = /"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d[^"]{0,24})?)"|(?<=[:,[])(\d{10}(?:\d{3})?(?:\.\d+)?)(?=[,}\]])/g;

function withoutClock(line: string, { fromMs, toMs }: TimeWindow): string {
  return line.replaceAll(times, (whole, text?: string, number?: string) => {
    const moment = momentOf(text ?? number);
    if (moment?.kind !== "time") return whole;
    // A date of the clock is the whole day.
    return moment.value + moment.span > fromMs && moment.value <= toMs ? '"<clock>"' : whole;
  });
}

/** The first line that differs, as both runs wrote it. */
export function firstDifference(one: readonly string[], other: readonly string[]): { readonly at: number; readonly lines: readonly [string, string] } | undefined {
  const length = Math.max(one.length, other.length);
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return { at, lines: [one[at] ?? "(nothing)", other[at] ?? "(nothing)"] };
  return undefined;
}

/** Where two texts begin to differ, with some of what stands before. */
export function contrast([one, other]: readonly [string, string]): string {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  const start = Math.max(0, at - 60);
  return `…${one.slice(start, at + 60)} and …${other.slice(start, at + 60)}`;
}
