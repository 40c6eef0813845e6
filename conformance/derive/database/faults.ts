/** Faults between a connector and its database: statements that are refused, sessions that end. */
import type { DatabaseError, QueryFault } from "../../contract/database.ts";
import type { GoldenRun, Lab } from "../../contract/lab.ts";
import type { Observation } from "../../contract/observation.ts";
import { plantsOf } from "../leaks/plants.ts";
import { undisturbed } from "../rows/losses.ts";
import type { Fault, FaultRun } from "../sweeps/faults.ts";

interface DatabaseFault extends Pick<Fault, "name" | "kind" | "isTransient"> {
  readonly type: QueryFault["type"];
}

const error = (sqlState: string, message: string, isTransient: boolean): DatabaseFault => ({
  name: `answered ${sqlState} (${message})`,
  kind: "status",
  isTransient,
  type: { severity: "ERROR", sqlState, message },
});

/** @see PostgreSQL, appendix A: the codes that a reader meets */
export const databaseFaults: readonly DatabaseFault[] = [
  error("42501", "permission denied for table notes", false),
  error("42P01", 'relation "notes" does not exist', false),
  error("22P02", "invalid input syntax for type integer", false),
  error("XX001", "invalid page in block 7 of relation base/1/2", false),
  error("40001", "canceling statement due to conflict with recovery", true),
  error("57014", "canceling statement due to statement timeout", true),
  error("53200", "out of memory", true),
  {
    name: "answered 57P01 and the end of the session",
    kind: "connection",
    isTransient: true,
    type: {
      severity: "FATAL",
      sqlState: "57P01",
      message: "terminating connection due to administrator command",
    },
  },
  { name: "broken by a reset", kind: "connection", isTransient: true, type: "reset" },
];

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
  for (const { type, ...fault } of databaseFaults)
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

/** SQLSTATE of errors of a statement, and of those that end the session. */
const statementErrors = [
  "42501",
  "42P01",
  "42703",
  "22P02",
  "57014",
  "40001",
  "55000",
  "53200",
  "P0001",
  "XX000",
];
const sessionErrors = ["57P01", "53300", "28000"];

/**
 * Errors that say too much: the password in turn as it is and as connection strings have it, and
 * more of the server's own.
 */
export function talkativeDatabaseErrors(lab: Lab, password: string): readonly DatabaseError[] {
  const { value } = plantsOf(lab).payload;
  const role = lab.database?.role ?? "";
  const shapes = [
    `${value} refused for ${role}, password ${password}`,
    `${value} refused for postgres://${role}:${encodeURIComponent(password)}@database.example.net/shop`,
  ];
  const errors = [
    ...statementErrors.map((sqlState) => ({ sqlState, severity: "ERROR" as const })),
    ...sessionErrors.map((sqlState) => ({ sqlState, severity: "FATAL" as const })),
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
