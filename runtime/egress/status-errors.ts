import { ConnectorError, type ErrorCode } from "../contract/errors.ts";

/** The error of an answer that is not 2xx and for which no error rule of the connector fits. */
export function statusCode(status: number): ErrorCode {
  if (status === 401) return "CREDENTIALS_REJECTED";
  if (status === 403) return "PERMISSION_DENIED";
  if (status === 404 || status === 410) return "RESOURCE_NOT_FOUND";
  if (status === 429) return "RATE_LIMITED";
  // 408 Request Timeout and 425 Too Early ask for the same request later, as 5xx does.
  if (status >= 500 || status === 408 || status === 425) return "PROVIDER_UNAVAILABLE";
  return "REQUEST_REJECTED";
}

/** An error for this answer. Its text names the status and nothing that the provider wrote. */
export function statusError(
  status: number,
  code: ErrorCode = statusCode(status),
  retryAfterMs?: number,
): ConnectorError {
  return new ConnectorError(code, { status }, retryAfterMs);
}
