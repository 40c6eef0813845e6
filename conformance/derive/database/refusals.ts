/**
 * Checks against a database that cannot be used: who may not log in, where nobody answers, what is
 * gone.
 */

import { withSetting } from "../../contract/config-setting.ts";
import type { QueryFault } from "../../contract/database.ts";
import { databaseEgress } from "../../contract/database-kind.ts";
import { isOfClass, type Lab, type RunOptions } from "../../contract/lab.ts";
import type { Command, ErrorClass, Observation } from "../../contract/observation.ts";
import { copyOnce } from "./copies.ts";
import { ownStatements } from "./faults.ts";

export interface RefusedCheck {
  /** "the role has another password". */
  readonly name: string;
  readonly command: Command;
  readonly runOptions: RunOptions;
  /** Classes that the failure may be of. */
  readonly expected: readonly ErrorClass[];
}

/** The login or the rights are refused. */
export async function refusedLogins(lab: Lab): Promise<readonly RefusedCheck[]> {
  const { database, manifest, config } = lab;
  const egress = databaseEgress(manifest?.egress);
  if (!database || !egress) return [];
  const own: Command = { verb: "check", config };
  const { revokeAccess, revokeAll } = database.sql.statements;
  const { role } = database;
  return [
    {
      name: "the role has another password",
      command: own,
      runOptions: { database: { password: "another-password" } },
      expected: ["auth"],
    },
    {
      name: "there is no such role",
      command: commandWith(own, egress.username, "nobody_by_that_name"),
      runOptions: {},
      expected: ["auth"],
    },
    {
      name: "the role may not connect to the database",
      command: own,
      runOptions: { database: { on: await copyOnce(lab, "without access", revokeAccess(role)) } },
      expected: ["auth", "permission"],
    },
    {
      name: "the role may read no table",
      command: own,
      runOptions: { database: { on: await copyOnce(lab, "without rights", revokeAll(role)) } },
      expected: ["permission", "auth", "config"],
    },
  ];
}

/**
 * Nobody answers, or not as a database does. A connection that is never made is given up by the
 * runtime after ten seconds.
 */
export function unreachableDatabases(lab: Lab): readonly RefusedCheck[] {
  const { database, manifest, config } = lab;
  const egress = databaseEgress(manifest?.egress);
  if (!database || !egress) return [];
  const { shutdown, goneDatabase } = database.sql.faults;
  const own: Command = { verb: "check", config };
  const atFirst = (type: QueryFault["type"]): RunOptions => ({
    database: { fault: { at: ownStatements, type } },
  });
  return [
    {
      name: "the database's host cannot be resolved",
      command: own,
      runOptions: { connection: { fault: "unknown-host" } },
      expected: ["config", "transient"],
    },
    {
      name: "connections are refused",
      command: own,
      runOptions: { connection: { fault: "refused" } },
      expected: ["config", "transient"],
    },
    {
      name: "the database is gone",
      command: commandWith(own, egress.database, "gone_for_good"),
      runOptions: {},
      expected: goneDatabase,
    },
    {
      name: "the server shuts down",
      command: own,
      runOptions: atFirst(shutdown),
      expected: ["transient"],
    },
    {
      name: "the session breaks",
      command: own,
      runOptions: atFirst("reset"),
      expected: ["transient"],
    },
    {
      name: "connections are never made",
      command: own,
      runOptions: { connection: { fault: "connect-hang" } },
      expected: ["config", "transient"],
    },
  ];
}

function commandWith(command: Command, field: string, value: string): Command {
  if (command.verb === "spec") return command;
  return { ...command, config: withSetting(command.config, field.split("."), value) as never };
}

/**
 * Describes how a check that has to fail ended instead; undefined when it failed with one of the
 * classes.
 */
export function refusalProblem(
  { outcome, messages }: Observation,
  expected: readonly ErrorClass[],
): string | undefined {
  const { status, failures } = outcome;
  const [failure] = failures;
  if (status === "hung") return "had not ended in time; it has to fail";
  if (status === "succeeded") return "succeeded; it has to fail";
  if (status !== "failed" || !failure)
    return `${status} with "${failure?.message ?? "no message"}"; it has to fail with a reason`;
  if (!messages.some(({ message }) => message.type === "CONNECTION_STATUS"))
    return "gave no CONNECTION_STATUS message";
  if (failures.some((one) => isOfClass(one, ...expected))) return undefined;
  return `failed with "${failure.message}" as ${failure.classes.join(" or ") || "no class"}; ${expected.join(" or ")} is expected`;
}
