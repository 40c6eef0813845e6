/**
 * Failures of the server, of `pg` and of the connection as errors of the table, by SQLSTATE. No
 * text of theirs goes on.
 */
import { ConnectorError } from "svc-connectors";

/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html (read 2026-07) */
export function toFailure(error: unknown, stream?: string): ConnectorError {
  if (error instanceof ConnectorError) return withStream(error, stream);
  const code = sqlState(error);
  const named = stream === undefined ? {} : { stream };
  switch (code) {
    case undefined: // the connection ended
      return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
    case "42501":
      return new ConnectorError("PERMISSION_DENIED", named);
    case "42P01":
    case "3F000":
      return new ConnectorError("STREAM_UNKNOWN", named);
    case "42883": // no such operator
      return new ConnectorError("SYNC_MODE_UNSUPPORTED", {
        ...named,
        syncMode: "incremental",
        problem: "the cursor field has no order",
      });
    case "40001": // a standby server gave up an old snapshot
    case "40P01":
    case "42703": // a column went while its table was read
      return new ConnectorError("DATA_CHANGED");
    case "57014":
      return new ConnectorError("PROVIDER_TIMEOUT", { phase: "statement" });
    case "55P03":
      return new ConnectorError("PROVIDER_TIMEOUT", { phase: "lock" });
    case "55000":
      return new ConnectorError("DATABASE_UNUSABLE", {
        reason: "the materialised view was never filled",
      });
  }
  if (/^(53|57P|25P)/.test(code)) return new ConnectorError("PROVIDER_UNAVAILABLE");
  if (code.startsWith("08")) return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
  return new ConnectorError("REQUEST_REJECTED", { reason: `SQLSTATE ${code}` });
}

/** What is said of a record has to say of which stream. */
const withStream = (error: ConnectorError, stream: string | undefined) =>
  error.code.startsWith("RECORD_") && stream !== undefined
    ? new ConnectorError(error.code, { ...error.details, stream })
    : error;

/** True when a value in the statement has the wrong form for its column. */
export function isDataException(error: unknown): boolean {
  return sqlState(error)?.startsWith("22") === true;
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
