/** How a failed test of a connection is told: what was found, and at which setting. */
import type { CheckResult } from "svc-connectors/host";
import { ControlError } from "../contract/reasons.ts";

/** @param error its message names no value */
export function checkFailed({
  code,
  message,
  details = {},
}: Extract<CheckResult, { readonly status: "failed" }>["error"]): ControlError {
  const { path, problem } = details;
  const isPlaced = code === "CONFIG_INVALID" && typeof path === "string" && path !== "";
  return new ControlError("connection_check_failed", {
    check: { status: "failed", error: code, message },
    ...(isPlaced ? { errors: [{ path, reason: "invalid", message: String(problem) }] } : {}),
  });
}
