/**
 * Why an attempt failed, in words that may leave: from the codes of the runtime and the reasons of
 * control.
 */
import { ConnectorError, type ErrorCode, type ErrorRecord, errorTable } from "svc-connectors/host";
import type { AttemptResult } from "../contract/job.ts";
import { ControlError, type Reason } from "../contract/reasons.ts";
import type { Failure } from "../store/tables.ts";

type ErrorKind = (typeof errorTable)[ErrorCode]["kind"];

const typeOfKind = {
  config: "config_error",
  transient: "transient_error",
  source: "system_error",
  connector: "system_error",
  system: "system_error",
  cancelled: "manual_cancellation",
} as const satisfies Record<ErrorKind, Failure["type"]>;

/** Where the code says more than its kind. */
const typeOfCode: { readonly [code in ErrorCode]?: Failure["type"] } = {
  CREDENTIALS_REJECTED: "auth_error",
  REAUTHORIZATION_NEEDED: "auth_error",
  PERMISSION_DENIED: "auth_error",
  RATE_LIMITED: "rate_limited",
  PROVIDER_TIMEOUT: "timeout",
  CONNECTOR_TIMEOUT: "timeout",
};

/** Codes that only a destination gives. */
const ofDestinations: ReadonlySet<ErrorCode> = new Set([
  "OUTPUT_FAILED",
  "OUTPUT_FENCED",
  "OUTPUT_BUSY",
  "TABLE_CONFLICT",
  "QUERY_REFUSED",
  "QUERY_FAILED",
]);

/** Kinds after which another try may do better without anyone acting. */
const retryableKinds: ReadonlySet<ErrorKind> = new Set(["transient", "source", "system"]);

/** @param origin who failed, where the code does not say it */
export function toFailure(error: ErrorRecord, origin: Failure["origin"], at: Date): Failure {
  const { kind } = errorTable[error.code];
  const isOurs = kind === "system" || kind === "cancelled";
  return {
    origin: ofDestinations.has(error.code) ? "destination" : isOurs ? "platform" : origin,
    type: typeOfCode[error.code] ?? typeOfKind[kind],
    code: error.code,
    message: error.message,
    retryable: retryableKinds.has(kind),
    ...(error.stream === undefined ? {} : { stream: error.stream }),
    at: at.toISOString(),
  };
}

/** The runtime's codes for the reasons for which a run cannot begin. */
const codeOfReason: {
  readonly [reason in Reason]?: (details: ControlError["details"]) => ConnectorError;
} = {
  credential_not_usable: () => new ConnectorError("REAUTHORIZATION_NEEDED"),
  credential_mismatch: () => new ConnectorError("CREDENTIALS_REJECTED"),
  invalid_base_url: ({ rule }) =>
    new ConnectorError("BASE_URL_REFUSED", { field: "base_url", rule: String(rule) }),
  connector_disabled: () => new ConnectorError("CONNECTOR_DISABLED"),
  invalid_configuration: () => new ConnectorError("CONFIG_INVALID"),
  oauth_app_missing: () =>
    new ConnectorError("ACCESS_MISSING", {
      reason: "the operator has registered no OAuth application for it",
    }),
  not_found: () =>
    new ConnectorError("RESOURCE_NOT_FOUND", { reason: "what the job needs was deleted" }),
};

/**
 * Any error as one of the runtime's table. What is foreign becomes INTERNAL: nothing of it is
 * passed on.
 */
export function toConnectorError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const known =
    error instanceof ControlError ? codeOfReason[error.reason]?.(error.details) : undefined;
  return known ?? new ConnectorError("INTERNAL");
}

/** How an attempt ends that threw. @throws what is a fault of svc itself */
export function toAttemptResult(
  error: unknown,
  origin: Failure["origin"],
  at: Date,
): AttemptResult {
  const known = toConnectorError(error);
  if (known.code === "CANCELLED") return { status: "cancelled" };
  if (known.code === "INTERNAL") throw error;
  const { retryAfterMs } = known;
  return {
    status: "failed",
    failure: toFailure(known.toRecord(), origin, at),
    retryAfterMs,
  };
}

/** The failure of what somebody has stopped. */
export const cancellation = (at: Date): Failure =>
  toFailure(new ConnectorError("CANCELLED").toRecord(), "platform", at);
