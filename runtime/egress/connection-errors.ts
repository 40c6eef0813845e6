/**
 * Failures of sockets and of TLS as errors of the table, with reasons from a closed list: no
 * foreign text gets through.
 */
import { ConnectorError } from "../contract/errors.ts";

const connectionReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refused",
  ECONNRESET: "reset",
  ECONNABORTED: "reset",
  EPIPE: "reset",
  ENETUNREACH: "unreachable",
  EHOSTUNREACH: "unreachable",
  ENETDOWN: "unreachable",
  EADDRNOTAVAIL: "unreachable",
};

/**
 * Codes of Node's TLS sockets: OpenSSL's X509_V_ERR_* without the prefix, and Node's own for the
 * name check.
 */
const certificateReasons: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "certificate expired",
  CERT_NOT_YET_VALID: "certificate not yet valid",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate self-signed",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate for another host",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "certificate untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate untrusted",
  CERT_UNTRUSTED: "certificate untrusted",
  CERT_REJECTED: "certificate untrusted",
  CERT_REVOKED: "certificate untrusted",
  CERT_SIGNATURE_FAILURE: "certificate untrusted",
  CERT_CHAIN_TOO_LONG: "certificate untrusted",
  INVALID_CA: "certificate untrusted",
  INVALID_PURPOSE: "certificate untrusted",
};

/**
 * CONNECTION_FAILED with the reason refused, reset, unreachable or failed; PROVIDER_TIMEOUT when
 * the system gave up waiting.
 */
export function toConnectionError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const code = codeOf(error);
  if (code === "ETIMEDOUT") return new ConnectorError("PROVIDER_TIMEOUT", { phase: "connect" });
  return new ConnectorError("CONNECTION_FAILED", { reason: connectionReasons[code] ?? "failed" });
}

/**
 * TLS_FAILED with what is wrong with the certificate or "handshake failed"; a lost connection stays
 * CONNECTION_FAILED.
 */
export function toTlsError(error: unknown): ConnectorError {
  const code = codeOf(error);
  if (error instanceof ConnectorError || code === "ETIMEDOUT" || code in connectionReasons)
    return toConnectionError(error);
  return new ConnectorError("TLS_FAILED", {
    reason: certificateReasons[code] ?? "handshake failed",
  });
}

/**
 * HOST_UNKNOWN, or CONNECTION_FAILED when the name server itself did not answer: a later look-up
 * may succeed.
 */
export function toLookupError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const isTransient = ["EAI_AGAIN", "ETIMEOUT", "ESERVFAIL"].includes(codeOf(error));
  return isTransient
    ? new ConnectorError("CONNECTION_FAILED", { reason: "name lookup failed" })
    : new ConnectorError("HOST_UNKNOWN");
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "";
}
