/** Faults between a connector and its database: statements that are refused, sessions that end. */
import type { DatabaseError } from "../../contract/database.ts";
import type { DatabaseFault } from "../../contract/database-sql.ts";
import type { GoldenRun, Lab } from "../../contract/lab.ts";
import type { Observation } from "../../contract/observation.ts";
import { plantsOf } from "../leaks/plants.ts";
import { undisturbed } from "../rows/losses.ts";
import type { FaultRun } from "../sweeps/faults.ts";

export const databaseFaults = (lab: Lab): readonly DatabaseFault[] =>
  lab.database?.sql.faults.sweep ?? [];

/** The first statement of a session is the runtime's own: it makes it read-only. */
export const ownStatements = 1;
/** A connector that waits for ever for a session that is gone is not waited for. */
export const databaseDeadlineMs = 8_000;
/** Statements that each fault meets in a default run. */
const sampledPlaces = 6;

/** Each fault at statements of each read. */
export async function databaseFaultSweep(
  lab: Lab,
  golden: readonly GoldenRun[],
): Promise<readonly FaultRun[]> {
  const runs: FaultRun[] = [];
  const places = golden.flatMap((run) =>
    run.observation.traces.queries.map((_, at) => ({ run, at })).slice(ownStatements),
  );
  for (const { type, ...fault } of databaseFaults(lab))
    for (const { run, at } of lab.sample(places, sampledPlaces)) {
      const { recording } = run;
      const observation = await lab.run(lab.commandOf(recording), {
        database: { fault: { at, type } },
        deadlineMs: databaseDeadlineMs,
      });
      const whole = await undisturbed(lab, recording);
      const name = `${recording.name}, statement ${at + 1} ${fault.name}`;
      runs.push({
        name,
        golden: run,
        undisturbed: whole,
        at,
        fault: { ...fault, apply: (truth) => truth },
        observation,
      });
      if (observation.outcome.status === "hung") break;
    }
  return runs;
}

/**
 * Errors that say too much: the password in turn as it is and as connection strings have it, and
 * more of the server's own.
 */
export function talkativeDatabaseErrors(lab: Lab, password: string): readonly DatabaseError[] {
  if (!lab.database) return [];
  const { role, sql } = lab.database;
  const { scheme, statementErrors, sessionErrors } = sql.faults;
  const { value } = plantsOf(lab).payload;
  const shapes = [
    `${value} refused for ${role}, password ${password}`,
    `${value} refused for ${scheme}://${role}:${encodeURIComponent(password)}@database.example.net/shop`,
  ];
  const errors = [
    ...statementErrors.map((code) => ({ ...code, severity: "ERROR" as const })),
    ...sessionErrors.map((code) => ({ ...code, severity: "FATAL" as const })),
  ];
  return errors.flatMap((error) =>
    shapes.map((message) => ({ ...error, message, detail: `Detail: ${message}` })),
  );
}

/** The SQL of a run, for reports. */
export const statementsText = ({ traces }: Observation): string =>
  traces.queries
    .map(
      ({ sql, rowCount, error }, at) =>
        `${at + 1}. ${sql.replaceAll(/\s+/g, " ").trim().slice(0, 300)}\n   ${error === undefined ? `${rowCount} rows` : `SQLSTATE ${error}`}`,
    )
    .slice(0, 40)
    .join("\n");
