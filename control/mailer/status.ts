import { ConnectorError, type ErrorCode, type ErrorRecord } from "svc-connectors/host";

/** The statuses of a mailer account, with the sentence for people. */
export const dataSourceStatuses = {
  ready: "The account can be read.",
  degraded: "The account can be read, but not all of its streams.",
  unauthorized: "The mailer did not accept the token.",
  forbidden: "The token may not read the account: one that may only send is not enough.",
  not_found: "There is no mailer API at this base URL.",
  rate_limited: "The mailer's rate limit is used up. Try again later.",
  unreachable: "The mailer cannot be reached.",
  invalid_response: "What answers at this base URL is not a mailer's API.",
} as const;
export type DataSourceStatus = keyof typeof dataSourceStatuses;

const ofCode: Partial<Record<ErrorCode, DataSourceStatus>> = {
  CREDENTIALS_REJECTED: "unauthorized",
  REAUTHORIZATION_NEEDED: "unauthorized",
  PERMISSION_DENIED: "forbidden",
  ACCESS_MISSING: "forbidden",
  RESOURCE_NOT_FOUND: "not_found",
  RATE_LIMITED: "rate_limited",
  HOST_UNKNOWN: "unreachable",
  ADDRESS_REFUSED: "unreachable",
  TLS_FAILED: "unreachable",
  CONNECTION_FAILED: "unreachable",
  PROVIDER_TIMEOUT: "unreachable",
  PROVIDER_UNAVAILABLE: "unreachable",
  CANCELLED: "unreachable", // the time for it was over
  REQUEST_REJECTED: "invalid_response",
  RESPONSE_INVALID: "invalid_response",
  RESPONSE_TOO_LARGE: "invalid_response",
  REDIRECT_REFUSED: "invalid_response",
  PAGING_LOOP: "invalid_response",
  DATA_CHANGED: "invalid_response",
};

/**
 * @throws ConnectorError when it says nothing of the account: the failure is ours, or the caller
 * has gone
 */
export function statusOf({ code, details, retryAfterMs }: ErrorRecord): DataSourceStatus {
  const status = ofCode[code];
  if (status === undefined) throw new ConnectorError(code, details, retryAfterMs);
  return status;
}
