import { ConnectorError } from "svc-connectors";
import { outputFailed } from "svc-connectors/destination";

/** Another process, or a program of this one that did not come this way, has the file open. */
const busy = /could not set lock|conflicting lock|unique file handle/i;

/** DuckDB's errors have no codes. Only whether a text fits is used; none of it is passed on. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [/no space left|disk is full|out of disk/i, "the disk is full"],
  [/permission denied|operation not permitted/i, "no permission"],
  [/read-only file system|read-only mode/i, "the file system is read-only"],
  [/file too large/i, "the file would be too large"],
  [/is a directory/i, "it is a folder, not a file"],
  [/no such file or directory/i, "its folder does not exist"],
  [/database has been invalidated/i, "an earlier failure closed the database"],
  [
    /not a valid duckdb|different version|newer version|older version|serializ|corrupt|checksum/i,
    "it is not a DuckDB file that this version reads",
  ],
  [
    /out of memory|(?:failed to|could not) (?:pin|allocate)/i,
    "DuckDB needed more than its 1 GiB of memory, in which 2,048 rows of a table have to fit; leave the large column out, or write such rows as JSON lines or into PostgreSQL",
  ],
  [/depend/i, "an index or a view depends on the table"],
  [
    /malformed json|json transform|conversion error|out of range/i,
    "a value does not fit any DuckDB type",
  ],
];

/** OUTPUT_BUSY, or OUTPUT_FAILED for a failure of DuckDB or of the file system. */
export function duckdbFailed(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  if (error instanceof Error && !("code" in error)) {
    if (busy.test(error.message)) return new ConnectorError("OUTPUT_BUSY");
    const reason = reasons.find(([pattern]) => pattern.test(error.message))?.[1];
    return new ConnectorError("OUTPUT_FAILED", { reason: reason ?? "DuckDB refused it" });
  }
  return outputFailed(error);
}

/** Runs `work` and turns whatever it throws into a ConnectorError. */
export async function working<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw duckdbFailed(error);
  }
}

/** Something of that name was made by somebody else in the meantime. */
export const isTaken = (error: unknown) =>
  error instanceof Error && /already exists/i.test(error.message);
