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

/** Adds the stream to an error of a record. */
const withStream = (error: ConnectorError, stream: string | undefined) =>
  error.code.startsWith("RECORD_") && stream !== undefined
    ? new ConnectorError(error.code, { ...error.details, stream })
    : error;

/** True when a value in the statement has the wrong form for its column. */
export function isDataException(error: unknown): boolean {
  return sqlState(error)?.startsWith("22") === true;
}

/** Faults of a query that a person wrote, by SQLSTATE. */
const queryReasons: Readonly<Record<string, string>> = {
  "22012": "it divides by zero",
  "22P02": "a value does not fit its type",
  "42501": "the role may not read all that it reads",
  "42601": "its SQL has an error",
  "42702": "the name of a column could be of several tables",
  "42703": "it names a column that there is not",
  "42803": "a column is neither grouped nor aggregated",
  "42804": "types do not go together",
  "42883": "it calls a function or operator that there is not",
  "42P01": "it names a table that there is not",
  "42P18": "it has a parameter, such as $1, and there is no value for it",
};
const queryRefusals: Readonly<Record<string, string>> = {
  "0A000": "it is not a SELECT that only reads",
  "25006": "it writes",
};

/** Undefined: the failure is not the query's. */
export function queryReason(
  error: unknown,
): { readonly reason: string; readonly isRefusal: boolean } | undefined {
  const code = error instanceof ConnectorError ? undefined : sqlState(error);
  if (code === undefined) return undefined;
  const refusal = queryRefusals[code];
  if (refusal !== undefined) return { reason: refusal, isRefusal: true };
  const known = queryReasons[code] ?? (/^(22|42)/.test(code) ? `SQLSTATE ${code}` : undefined);
  if (known === undefined) return undefined;
  const place = Number((error as { readonly position?: unknown }).position);
  const where = Number.isSafeInteger(place) && place > 0 ? ` (character ${place})` : "";
  return { reason: `${known}${where}`, isRefusal: false };
}

export function sqlState(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
