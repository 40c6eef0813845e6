/**
 * Failures of the server, of `pg` and of the connection as errors of the table, by SQLSTATE. No
 * text of theirs goes on.
 */
import { ConnectorError, type ErrorCode } from "svc-connectors";

type Failure = readonly [code: ErrorCode, reason?: string];

/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html (read 2026-07) */
const failures: Readonly<Record<string, Failure>> = {
  "0A000": [
    "DATABASE_UNUSABLE",
    "something made by others, such as a view, depends on a column whose type must change",
  ],
  "2BP01": [
    "DATABASE_UNUSABLE",
    "something made by others depends on a table that must be replaced",
  ],
  "25006": ["DATABASE_UNUSABLE", "it is read-only"],
  "3D000": ["DATABASE_UNUSABLE", "the database does not exist"],
  "3F000": ["DATABASE_UNUSABLE", "the schema does not exist"],
  "42501": ["PERMISSION_DENIED", "the role may not do this in the database"],
  "42P01": ["DATABASE_UNUSABLE", "a table was removed while it was written"],
  "42703": ["DATABASE_UNUSABLE", "a column was removed while its table was written"],
  "53100": ["OUTPUT_FAILED", "the disk of the server is full"],
  "53200": ["OUTPUT_FAILED", "the server is out of memory"],
  "53300": ["PROVIDER_UNAVAILABLE"],
  "54000": ["DATABASE_UNUSABLE", "a row or a key is too large for the server"],
  "54011": ["DATABASE_UNUSABLE", "the table would have more than 1,600 columns"],
  "55P03": ["PROVIDER_TIMEOUT"],
  "57014": ["PROVIDER_TIMEOUT"],
  "40001": ["PROVIDER_UNAVAILABLE"],
  "40P01": ["PROVIDER_UNAVAILABLE"],
  "58030": ["OUTPUT_FAILED", "the disk of the server failed"],
};

export function toFailure(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = sqlState(error);
  if (code === undefined || isLoss(code))
    return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
  const known = failures[code];
  if (known) {
    const [failure, reason] = known;
    if (failure === "PROVIDER_TIMEOUT")
      return new ConnectorError(failure, { phase: code === "55P03" ? "lock" : "statement" });
    return new ConnectorError(failure, reason === undefined ? {} : { reason });
  }
  return new ConnectorError("OUTPUT_FAILED", { reason: `SQLSTATE ${code}` });
}

/**
 * Connection exceptions, a server that stops or starts, and sessions that it ended: idle for too
 * long, or by a successor.
 */
const isLoss = (code: string) => code.startsWith("08") || /^57P/.test(code) || code === "25P03";

export function sqlState(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
