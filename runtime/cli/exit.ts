import type { ConnectorError, ErrorCode } from "../contract/errors.ts";

/** The exit codes of the process. A failed check is a result: `svc run … check` ends with `ok`. */
export const exitCode = { ok: 0, failed: 1, usage: 2, interrupted: 130, abandoned: 141 } as const;

/** Faults in what the person gave, found before anything was read. */
const usageCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "CONFIG_INVALID",
  "BASE_URL_REFUSED",
  "CATALOG_INVALID",
  "STATE_INVALID",
  "STREAM_UNKNOWN",
  "SYNC_MODE_UNSUPPORTED",
  "CONNECTOR_UNKNOWN",
]);

export function exitCodeOf({ code }: ConnectorError): number {
  if (code === "CANCELLED") return exitCode.interrupted;
  return usageCodes.has(code) ? exitCode.usage : exitCode.failed;
}
