import { realpathSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { ConnectorError } from "../contract/errors.ts";
import { outputFailed } from "../destination/failures.ts";
import { lockedReason } from "./output.ts";

/** SQLITE_BUSY: somebody else holds the lock. */
const sqliteBusy = 5;

/**
 * Takes a lock that the operating system itself gives back when the process ends, also after kill
 * -9: SQLite's lock on an empty file. Node has no file lock of its own, and a file with a process
 * id goes stale. The file stays; removing it would let two runs hold locks on two files of one
 * name.
 * @throws OUTPUT_FAILED when another run holds it, in this process or another.
 */
export function lockFile(path: string): Disposable {
  let database: DatabaseSync;
  try {
    database = new DatabaseSync(path);
  } catch (error) {
    throw outputFailed(error);
  }
  try {
    database.exec("PRAGMA journal_mode = MEMORY; PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    const isBusy = error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;
    throw isBusy
      ? new ConnectorError("OUTPUT_FAILED", { reason: lockedReason })
      : outputFailed(error);
  }
  return { [Symbol.dispose]: () => database.close() };
}

const held = new Set<string>();

/**
 * Keeps two sinks of this process off one file. DuckDB's own lock keeps other processes off, not
 * this one.
 * @throws OUTPUT_FAILED
 */
export function lockInProcess(path: string): Disposable {
  const key = realPath(path);
  if (held.has(key)) throw new ConnectorError("OUTPUT_FAILED", { reason: lockedReason });
  held.add(key);
  return { [Symbol.dispose]: () => void held.delete(key) };
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
