import { checkFailed } from "../connectors/check-failed.ts";
import { refuseSecretValues } from "../connectors/configuration.ts";
import type { OperationContext } from "../contract/operation.ts";
import type { SourceParts } from "./parts.ts";
import { runCheck } from "./runs.ts";

/**
 * Save & Test: what is to be saved is tried first. Only now that the credential is open can be seen
 * whether a setting, or the name, holds one of its secrets.
 * @throws connection_check_failed, secret_not_allowed, credential_not_usable
 */
export async function tryConnection(
  ctx: OperationContext,
  parts: SourceParts,
  name: string,
): Promise<void> {
  const result = await runCheck(ctx, parts);
  if (result.status === "failed") throw checkFailed(result.error);
  refuseSecretValues(ctx, { name });
  refuseSecretValues(ctx, parts.configuration, "configuration");
}
