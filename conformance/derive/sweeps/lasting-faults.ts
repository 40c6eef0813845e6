/**
 * Faults that do not pass: every request of a check, a discover and of reads is refused. What the
 * user sees in the end.
 */

import type { Lab } from "../../contract/lab.ts";
import type { Command, Observation } from "../../contract/observation.ts";
import { databaseDeadlineMs, databaseFaults, ownStatements } from "../database/faults.ts";
import { mostRefusals, refuse } from "../requests/rate-limits.ts";
import { errorAnswer, type Fault, faultsOf } from "./faults.ts";

export interface LastingFaultRun {
  /** "check, every request answered 500". */
  readonly name: string;
  /** "check", "read of notes". */
  readonly verb: string;
  readonly fault: Fault;
  readonly observation: Observation;
}

/** Streams whose reads are tried. */
const sampledStreams = 3;
const chosen = new Set([
  "answered 401",
  "answered 403",
  "answered 429 (Retry-After unreadable)",
  "answered 500",
  "answered 503",
  "broken by a reset",
]);

const chosenInRealTime = new Set(["answered 401", "answered 403", "answered 500"]);

/** Done once for all rules. Verbs that send no request are left out. */
export function lastingFaults(lab: Lab): Promise<readonly LastingFaultRun[]> {
  return lab.once("lasting faults", async () => {
    const runs: LastingFaultRun[] = [];
    // Where waits take real time, a connector that tries again for long would hold up everything.
    const wanted = lab.can("clock") ? chosen : chosenInRealTime;
    const faults =
      lab.egress === "http" ? faultsOf(lab).filter(({ name }) => wanted.has(name)) : [];
    const commands = commandsOf(lab);
    if (lab.database) return await lastingDatabaseFaults(lab, commands);
    for (const fault of faults) {
      for (const { verb, command } of commands) {
        const { observation } = await refuse(
          lab,
          { command, at: 0 },
          fault.apply(errorAnswer(lab, 500), 0),
          mostRefusals,
        );
        if (observation.exchanges.length > 0)
          runs.push({ name: `${verb}, every request ${fault.name}`, verb, fault, observation });
      }
    }
    return runs;
  });
}

/** Every statement of the connector's own is answered so. */
async function lastingDatabaseFaults(
  lab: Lab,
  commands: ReturnType<typeof commandsOf>,
): Promise<readonly LastingFaultRun[]> {
  const runs: LastingFaultRun[] = [];
  for (const { type, ...fault } of databaseFaults(lab))
    for (const { verb, command } of commands) {
      const observation = await lab.run(command, {
        database: { fault: { at: ownStatements, isLasting: true, type } },
        deadlineMs: databaseDeadlineMs,
      });
      const name = `${verb}, every statement ${fault.name}`;
      runs.push({ name, verb, fault: { ...fault, apply: (truth) => truth }, observation });
    }
  return runs;
}

/** Every verb that asks the provider, and reads of some streams. */
function commandsOf(lab: Lab): readonly { readonly verb: string; readonly command: Command }[] {
  const recorded = (verb: "check" | "discover") =>
    lab.recordings.find((one) => one.run.verb === verb && one.outcome.status === "succeeded");
  const config = (verb: "check" | "discover") => ({ ...lab.config, ...recorded(verb)?.run.config });
  const streams = lab.streams.filter(({ recording }) => recording !== undefined);
  return [
    { verb: "check", command: { verb: "check", config: config("check") } },
    { verb: "discover", command: { verb: "discover", config: config("discover") } },
    ...(lab.can("clock") ? lab.sample(streams, sampledStreams) : streams.slice(0, 1)).flatMap(
      ({ label, recording }) =>
        recording ? [{ verb: `read of ${label}`, command: lab.commandOf(recording) }] : [],
    ),
  ];
}
