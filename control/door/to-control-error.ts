import { ConnectorError, type ErrorCode, errorTable } from "svc-connectors/host";
import { ControlError, type Reason } from "../contract/reasons.ts";
import type { Log, LogFields } from "../services/log.ts";

/**
 * The reasons that failures of a connector's run have for the caller, where its status alone would
 * not say.
 */
const ofCode: Partial<Record<ErrorCode, Reason>> = {
  BASE_URL_REFUSED: "invalid_base_url",
  CONFIG_INVALID: "invalid_configuration",
  CREDENTIALS_REJECTED: "credential_not_usable",
  REAUTHORIZATION_NEEDED: "credential_not_usable",
  ENTITIES_UNSUPPORTED: "entities_not_supported",
  CONNECTOR_UNKNOWN: "not_found",
  QUERY_REFUSED: "query_refused",
  QUERY_FAILED: "query_failed",
  CONNECTOR_DISABLED: "connector_disabled",
  CONNECTOR_CHANGED: "connector_disabled",
  CONNECTOR_REMOVED: "connector_disabled",
  RATE_LIMITED: "provider_failed",
  CANCELLED: "overloaded",
};

const ofStatus: Readonly<Record<number, Reason>> = {
  422: "provider_refused",
  409: "provider_refused",
  502: "provider_failed",
  503: "overloaded",
  504: "provider_timeout",
};

/**
 * Database failures that pass: connections that are gone, serialisation, too many of them, locks
 * that last, shutdown.
 */
const passing = /^(08|25P03|40|53|55P03|57)/;

/**
 * Maps whatever was thrown. What is neither ours nor the runtime's becomes "internal"; of it only
 * the kind is logged, never its text, which may quote anything.
 */
export function toControlError(thrown: unknown, log: Log, facts: LogFields): ControlError {
  if (thrown instanceof ControlError) return thrown;
  if (thrown instanceof ConnectorError) return ofConnector(thrown);
  const { name, code } =
    thrown instanceof Error
      ? (thrown as Error & { code?: unknown })
      : { name: typeof thrown, code: undefined };
  const shortCode = typeof code === "string" && /^[A-Z0-9_]{1,40}$/.test(code) ? code : undefined;
  log.error("an operation failed", {
    ...facts,
    error_name: /^\w{1,60}$/.test(name) ? name : "Error",
    error_code: shortCode,
  });
  const isPassing =
    shortCode !== undefined &&
    (passing.test(shortCode) || /^E(CONN|PIPE|TIMEDOUT)/.test(shortCode));
  return isPassing
    ? new ControlError("overloaded", {}, { "retry-after": "1" })
    : new ControlError("internal");
}

/** Its message names no value: it is safe, and says what to do. */
function ofConnector(error: ConnectorError): ControlError {
  const reason = ofCode[error.code] ?? ofStatus[errorTable[error.code].http] ?? "internal";
  if (reason === "internal") return new ControlError("internal", { error: error.code });
  const { rule, field, path, problem } = error.details;
  if (error.code === "BASE_URL_REFUSED")
    return new ControlError(reason, {
      rule,
      errors: [{ path: String(field), reason: String(rule), message: error.message }],
    });
  if (error.code === "CONFIG_INVALID")
    return new ControlError(reason, {
      errors: [{ path: String(path), reason: "invalid", message: String(problem) }],
    });
  const retry =
    error.retryAfterMs === undefined
      ? {}
      : { retry_after_seconds: Math.ceil(error.retryAfterMs / 1_000) };
  return new ControlError(reason, { error: error.code, explanation: error.message, ...retry });
}
