/**
 * Failures of the server, of `pg` and of the connection, by SQLSTATE. No text of theirs goes on.
 */
import { ConnectorError } from "svc-connectors";
import type { FailedRow } from "svc-connectors/destination";

/** @see https://www.postgresql.org/docs/current/errcodes-appendix.html (read 2026-07) */
export function toFailure(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = sqlState(error);
  switch (code) {
    case undefined: // the connection ended
      return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
    case "42501":
      return new ConnectorError("PERMISSION_DENIED", {
        reason: "the role may not do this in the database",
      });
    case "42P01":
    case "3F000":
      return new ConnectorError("RESOURCE_NOT_FOUND", { reason: "the table is not there" });
    case "42703":
    case "42P10":
      return new ConnectorError("DATABASE_UNUSABLE", {
        reason: "a column, or the unique index of the identifier, is not there any more",
      });
    case "25006":
      return new ConnectorError("DATABASE_UNUSABLE", { reason: "it is read-only" });
    case "57014":
      return new ConnectorError("PROVIDER_TIMEOUT", { phase: "statement" });
    case "55P03":
      return new ConnectorError("PROVIDER_TIMEOUT", { phase: "lock" });
  }
  if (/^(40|53|57P|25P)/.test(code)) return new ConnectorError("PROVIDER_UNAVAILABLE");
  if (code.startsWith("08")) return new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
  return new ConnectorError("REQUEST_REJECTED", { reason: `SQLSTATE ${code}` });
}

/** The fault of a single row; undefined: it is not the row's. */
export function rowFailure(error: unknown): Omit<FailedRow, "key"> | undefined {
  const code = sqlState(error);
  if (code === undefined) return undefined;
  const word = `sqlstate_${code.toLowerCase()}`;
  if (code === "23505") return { reason: "row_exists", word };
  if (code.startsWith("23") || code.startsWith("44"))
    return { reason: "constraint_violated", word };
  // 42804, 42846: a JSON value that no cast leads from; 54: too large for a row or an index; P0001:
  // raised by a trigger.
  if (code.startsWith("22") || code === "42804" || code === "42846" || code.startsWith("54"))
    return { reason: "value_invalid", word };
  return code === "P0001" || code.startsWith("38") || code === "428C9"
    ? { reason: "rejected", word }
    : undefined;
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
