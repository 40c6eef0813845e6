/** Turns the failures of opening an instance into one line for the person at the terminal. */
import { CommandFailed, ConnectorError, printable, UsageError } from "svc-connectors/host";
import { OperatorError } from "../operator/operator-error.ts";
import type { DatabaseOptions } from "../store/database.ts";
import { KeyFileError } from "../vault/keyring.ts";

/**
 * The meaning of the codes of PostgreSQL and of the network. The driver's own words may quote the
 * URL.
 */
const databaseProblems: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses the connection",
  ENOTFOUND: "has a host name that is not known",
  EAI_AGAIN: "has a host name that cannot be looked up now",
  ETIMEDOUT: "does not answer",
  EHOSTUNREACH: "cannot be reached",
  ENETUNREACH: "cannot be reached",
  ECONNRESET: "broke the connection",
  "28P01": "does not accept the password",
  "28000": "does not let this user in",
  "3D000": "does not exist on its server",
  "42501": "does not give this user the permissions that are needed",
  "53300": "has no connections left",
  "57P03": "is still starting, or stopping",
};

/** The error that tells the person; an error that is not about opening comes back as it is. */
export function explain(error: unknown, database: DatabaseOptions): unknown {
  if (error instanceof UsageError) return error;
  if (error instanceof KeyFileError) return new UsageError(error.message);
  const folder = "folder" in database ? `"${printable(database.folder ?? "")}"` : undefined;
  if (error instanceof ConnectorError) {
    const isLocked = error.code === "OUTPUT_FAILED" && folder !== undefined;
    if (isLocked)
      return new UsageError(
        `the folder ${folder} is in use by another svc, or cannot be written; one process at a time can have it open`,
      );
    return error.code === "CONFIG_INVALID" ? new UsageError(error.message) : error;
  }
  const text = error instanceof Error ? error.message : "";
  if (text.startsWith("corrupted migrations"))
    return new CommandFailed(
      "the database was written by a newer version of svc: install that version again",
    );
  if (folder !== undefined)
    return new CommandFailed(`the database in ${folder} cannot be opened${writable(error)}`);
  const code = codeOf(error);
  const problem =
    databaseProblems[code] ??
    (/timeout/i.test(text) ? "does not answer" : `cannot be used (${code})`);
  return new CommandFailed(`the database ${problem}`);
}

/** Why an address cannot be listened to. @param remedy what gives another port, as a command */
export function failedListen(
  error: unknown,
  host: string,
  port: number,
  remedy: string,
): UsageError | CommandFailed {
  const where = `port ${port} of ${printable(host)}`;
  const code = codeOf(error);
  if (code === "EADDRINUSE")
    return new UsageError(`${where} is in use: stop what listens there, or ${remedy}`);
  if (code === "EACCES") return new UsageError(`${where} needs more rights: ${remedy} above 1023`);
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return new UsageError(`this machine has no address ${printable(host)}`);
  return new CommandFailed(`${where} cannot be listened to`);
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? code : "unknown fault";
}

const writable = (error: unknown) =>
  ["EACCES", "EPERM", "EROFS"].includes(codeOf(error))
    ? ": no permission"
    : codeOf(error) === "ENOSPC"
      ? ": the disk is full"
      : "; it may be damaged: restore it from your backup";

/** An action that gives the refusals of the instance to the person, who can put them right. */
export function failingInOneLine<Arguments extends readonly unknown[]>(
  action: (...words: Arguments) => Promise<void>,
): (...words: Arguments) => Promise<void> {
  return async (...words) => {
    try {
      await action(...words);
    } catch (error) {
      throw error instanceof OperatorError ? new UsageError(error.message) : error;
    }
  };
}
