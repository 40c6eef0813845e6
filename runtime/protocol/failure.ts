/** The meaning of an image's failure, by the closed table: its own words never pass. */
import { ConnectorError, fromErrorRecord } from "../contract/errors.ts";
import type { ImageEnding } from "../contract/image.ts";

/** `failure_type` of a TRACE ERROR; "check" for a failed CONNECTION_STATUS. */
export type FailureType = "config_error" | "transient_error" | "system_error" | "check";

/** The protocol's own default. */
export const toFailureType = (value: unknown): FailureType =>
  value === "config_error" || value === "transient_error" ? value : "system_error";

/**
 * Why a run failed; undefined when it did not. What the host knows counts for more than what the
 * image says: first what it ended the program for, then what the provider answered last.
 * @param said the failure that the image told of
 */
export function failureOf(
  { exitCode, refusal, error }: ImageEnding,
  said: FailureType | undefined,
): ConnectorError | undefined {
  if (error) return fromErrorRecord(error);
  if (said === undefined && exitCode === 0) return undefined;
  if (refusal !== undefined) return fromErrorRecord(refusal);
  if (said === "check" || said === "config_error")
    return new ConnectorError("ACCESS_MISSING", {
      reason: "the image says that something is wrong with the settings or the account",
    });
  if (said === "transient_error")
    return new ConnectorError("CONNECTION_FAILED", {
      reason: "the image says that it will pass",
    });
  if (said === "system_error") return new ConnectorError("CONNECTOR_FAILED", { name: said });
  return new ConnectorError("CONNECTOR_EXITED", { reason: `exit code ${exitCode}` });
}
