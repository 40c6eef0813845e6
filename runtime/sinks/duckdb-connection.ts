import type { DuckDBConnection } from "@duckdb/node-api";
import { ConnectorError } from "../errors.ts";
import { lockedReason, outputFailed } from "./output.ts";

/** Runs `work` in a transaction; whatever it throws, nothing of it stays. */
export async function transaction(connection: DuckDBConnection, work: () => Promise<void>): Promise<void> {
  await connection.run("BEGIN");
  try {
    await work();
    await connection.run("COMMIT");
  } catch (error) {
    // A failed COMMIT has rolled back already; then there is nothing left to roll back.
    await connection.run("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** DuckDB's errors have no codes. Only whether a text fits is used; none of it is passed on. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/could not set lock|conflicting lock|unique file handle/i, lockedReason],
  [/no space left|disk is full|out of disk/i, "the disk is full"],
  [/permission denied|operation not permitted/i, "no permission"],
  [/read-only file system|read-only mode/i, "the file system is read-only"],
  [/is a directory/i, "it is a folder, not a file"],
  [/no such file or directory/i, "its folder does not exist"],
  [
    /not a valid duckdb|different version|newer version|older version|serializ|corrupt|checksum/i,
    "it is not a DuckDB file that this version reads",
  ],
  [/out of memory/i, "DuckDB ran out of memory"],
  [/malformed json|json transform|conversion error|out of range/i, "a value does not fit any DuckDB type"],
];

/** OUTPUT_FAILED for a failure of DuckDB or of the file system. */
export function duckdbFailed(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (error instanceof Error && !("code" in error)) {
    const reason = reasons.find(([pattern]) => pattern.test(error.message))?.[1];
    return new ConnectorError("OUTPUT_FAILED", { reason: reason ?? "DuckDB refused it" });
  }
  return outputFailed(error);
}
