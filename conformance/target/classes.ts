import { type ErrorCode, errorTable } from "svc-connectors/host";
import { type ErrorClass, errorClasses } from "../contract/observation.ts";

/** The class of each error code of svc. */
export const classOfCode: Readonly<Record<ErrorCode, ErrorClass>> = {
  CONFIG_INVALID: "config",
  BASE_URL_REFUSED: "config",
  ADDRESS_REFUSED: "config",
  LOCAL_REFUSED: "config",
  RESOURCE_NOT_FOUND: "config",
  CATALOG_INVALID: "config",
  STREAM_UNKNOWN: "config",
  SYNC_MODE_UNSUPPORTED: "config",
  TOO_MANY_TABLES: "config",
  CATALOG_TOO_LARGE: "config",
  ENTITIES_UNSUPPORTED: "config",
  CONNECTOR_UNKNOWN: "config",
  CONNECTOR_DISABLED: "config",
  CONNECTOR_CHANGED: "config",
  CONNECTOR_REMOVED: "config",
  SCHEMA_CHANGED: "config",
  HOST_UNKNOWN: "config",
  TLS_FAILED: "config",
  TUNNEL_FAILED: "config",
  DATABASE_UNUSABLE: "config",
  TABLE_CONFLICT: "config",
  DELETES_REFUSED: "config",
  QUERY_REFUSED: "config",
  QUERY_FAILED: "config",
  CREDENTIALS_REJECTED: "auth",
  REAUTHORIZATION_NEEDED: "auth",
  AUTHORIZATION_FAILED: "auth",
  PERMISSION_DENIED: "permission",
  ACCESS_MISSING: "permission",
  RATE_LIMITED: "rate_limit",
  OUTPUT_BUSY: "transient",
  OUTPUT_FENCED: "internal",
  PROVIDER_UNAVAILABLE: "transient",
  CONNECTION_FAILED: "transient",
  PROVIDER_TIMEOUT: "transient",
  DATA_CHANGED: "transient",
  CHANGES_LOST: "transient",
  REQUEST_REJECTED: "provider",
  RESPONSE_INVALID: "provider",
  RESPONSE_TOO_LARGE: "provider",
  REDIRECT_REFUSED: "provider",
  PAGING_LOOP: "provider",
  RECORD_INVALID: "schema",
  RECORD_TOO_LARGE: "schema",
  STATE_INVALID: "state",
  SYNC_STATE_EXPIRED: "state",
  STATE_TOO_LARGE: "state",
  CANCELLED: "cancelled",
  CONNECTOR_INVALID: "internal",
  CONNECTOR_FAILED: "internal",
  CONNECTOR_EXITED: "internal",
  CONNECTOR_OUT_OF_MEMORY: "internal",
  CONNECTOR_TIMEOUT: "internal",
  CONNECTOR_PROTOCOL: "internal",
  CONNECTOR_FORBIDDEN: "internal",
  LEAK_BLOCKED: "internal",
  SANDBOX_UNAVAILABLE: "internal",
  OUTPUT_FAILED: "internal",
  WORKER_LOST: "internal",
  INTERNAL: "internal",
};

/** The classes that each of Airbyte's failure types may mean. */
const classesOfType: Readonly<Record<string, readonly ErrorClass[]>> = {
  config_error: ["config", "auth", "permission", "state"],
  transient_error: ["rate_limit", "transient", "cancelled"],
  system_error: ["provider", "schema", "state", "internal"],
};

/** A stable code: one word. */
const codeForm = /^[A-Za-z][\w.:-]{1,79}$/;

/**
 * The classes that an Airbyte error may be of, and its code: `internal_message` when it is one
 * word. A code that svc knows, or that begins with the name of a class ("rate_limit",
 * "auth:expired"), says the class; else `failure_type` leaves several.
 */
export function classify(failureType: string | undefined, internalMessage: string | undefined) {
  const code =
    internalMessage !== undefined && codeForm.test(internalMessage) ? internalMessage : undefined;
  const own = classOf(code);
  return {
    classes: own ? [own] : (classesOfType[failureType ?? ""] ?? []),
    code,
  };
}

function classOf(code: string | undefined): ErrorClass | undefined {
  if (code === undefined) return undefined;
  if (Object.hasOwn(errorTable, code)) return classOfCode[code as ErrorCode];
  return errorClasses.find((one) => code === one || code.startsWith(`${one}:`));
}
