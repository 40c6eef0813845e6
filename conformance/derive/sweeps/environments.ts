/** The environment sweep: the same reads in other time zones, languages and at another time. */
import { requestText } from "../../contract/evidence.ts";
import type { Lab } from "../../contract/lab.ts";
import type { Exchange } from "../../contract/network.ts";
import type { Command, Observation } from "../../contract/observation.ts";
import { momentOf } from "../rows/moments.ts";
import {
  type CanonicalLog,
  canonicalLog,
  inAnyOrder,
  settledStates,
  windowOf,
} from "./canonical-log.ts";

/**
 * With a half and a three-quarter hour, east and west, with and without summer time; a language
 * with letters of its own.
 */
export const environments = [
  { TZ: "UTC", LANG: "C.UTF-8", LC_ALL: "C.UTF-8" },
  { TZ: "Asia/Kathmandu", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
  { TZ: "America/St_Johns", LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8" },
] as const;

/** Another day, hour and minute. */
export const clockShiftMs = 26 * 3_600_000 + 11 * 60_000;

export interface CommandCase {
  readonly name: string;
  readonly command: Command;
}

/** Commands of recordings that succeeded, each once. */
export function recordedCommands(lab: Lab, verbs: readonly Command["verb"][]): CommandCase[] {
  return lab.recordings
    .filter(({ run, outcome }) => outcome.status === "succeeded" && verbs.includes(run.verb))
    .map((recording) => ({ name: recording.name, command: lab.commandOf(recording) }));
}

export interface SettledRun {
  readonly observation: Observation;
  /** Its requests. */
  readonly asked: readonly string[];
  readonly log: CanonicalLog;
}

/**
 * A run against the learned provider, and its log. Without the kit's clock, what the real one said
 * counts.
 */
export async function settledRun(
  lab: Lab,
  command: Command,
  runOptions: Parameters<Lab["run"]>[1] = {},
): Promise<SettledRun> {
  const beganMs = lab.can("clock")
    ? Date.parse(lab.recordings[0]?.metadata.clock_origin ?? "") + (runOptions.clockShiftMs ?? 0)
    : Date.now() - 1_000;
  const observation = await lab.run(command, runOptions);
  const window = lab.can("clock")
    ? windowOf(beganMs, observation)
    : { fromMs: beganMs, toMs: Date.now() + 1_000 };
  const asked = observation.exchanges.map(requestText);
  return isOrdered(lab)
    ? { observation, asked, log: canonicalLog(observation, window) }
    : {
        observation,
        asked: asked.sort(),
        log: inAnyOrder(canonicalLog(settledStates(observation), window)),
      };
}

/**
 * Whether rows and requests come in an order. A source of Airbyte's CDK reads several partitions at
 * a time, and which comes first is chance.
 */
export const isOrdered = ({ target }: Pick<Lab, "target">): boolean => target.kind !== "container";

/** "message 3"; "a message" where they have no order. */
export const numbered = (lab: Pick<Lab, "target">, kind: "message" | "request", at: number) =>
  isOrdered(lab) ? `${kind} ${at + 1}` : `a ${kind}`;

/** "same" · "follows": what differs are times that moved with the clock · "differs". */
export function compareRequests(
  before: readonly Exchange[],
  after: readonly Exchange[],
  shiftMs: number,
): "same" | "follows" | "differs" {
  // A request with a moved time has no recorded answer: nothing can be said of what comes
  // behind it.
  const unanswered = after.findIndex(({ unmatched }) => unmatched !== undefined);
  const end = unanswered === -1 ? undefined : unanswered + 1;
  const [one, other] = [
    before.slice(0, end).map(requestLine),
    after.slice(0, end).map(requestLine),
  ];
  if (one.join("\n") === other.join("\n")) return "same";
  if (!one.every((line, at) => isShifted(line, other[at] ?? "", shiftMs))) return "differs";
  // A connector that reads by windows of time has more of them at a later moment.
  const further = other.slice(one.length);
  const known = new Set(one.map(withoutTimes));
  return further.every((line) => known.has(withoutTimes(line))) ? "follows" : "differs";
}

const requestLine = ({ request }: Exchange) =>
  `${request.method} ${request.url.pathname}?${[...request.url.searchParams].map(([name, value]) => `${name}=${value}`).join("&")} ${request.body}`;

const dayMs = 86_400_000;

const time =
  /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\b\d{10}(?:\d{3})?\b/g;
const withoutTimes = (line: string) => line.replaceAll(time, "<time>");

/** Everything but times is the same, and the times moved by the shift, to the day. */
function isShifted(one: string, other: string, shiftMs: number): boolean {
  const [times, others] = [one.match(time) ?? [], other.match(time) ?? []];
  if (withoutTimes(one) !== withoutTimes(other) || times.length !== others.length) return false;
  return times.every((text, at) => {
    const [was, is] = [momentOf(text), momentOf(others[at])];
    return (
      text === others[at] ||
      (was !== undefined && is !== undefined && Math.abs(is.value - was.value - shiftMs) <= dayMs)
    );
  });
}
