import { join } from "node:path";
import type { CheckResult, DestinationOptions, JsonObject } from "svc-connectors/host";
import { checkFailed } from "../connectors/check-failed.ts";
import { refuseSecretValues } from "../connectors/configuration.ts";
import type { ConnectorDefinition } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { noteOutcome } from "../credentials/outcome.ts";
import { type CredentialRow, findCredential } from "../credentials/rows.ts";
import { openSecret, type RunContext } from "../sources/runs.ts";
import type { DestinationParts } from "./parts.ts";
import type { DestinationRow } from "./rows.ts";

export interface DestinationTarget {
  readonly definition: ConnectorDefinition;
  readonly credential: CredentialRow | null;
  readonly configuration: JsonObject;
  readonly workspaceId: string;
}

/** The arguments that `services.destinations` takes, besides the definition's reference. */
export interface OpenedDestination {
  /**
   * The whole configuration, secrets included. It goes to the destination host and nowhere else.
   */
  readonly config: JsonObject;
  readonly options: DestinationOptions;
}

/** A saved destination as it is opened. @throws not_found */
export async function targetOf(
  { services, db }: RunContext,
  row: DestinationRow,
): Promise<DestinationTarget> {
  return {
    definition: services.connectors.get(row.connector_id),
    credential:
      row.credential_id === null
        ? null
        : await findCredential(db, row.workspace_id, row.credential_id),
    configuration: row.configuration as JsonObject,
    workspaceId: row.workspace_id,
  };
}

/**
 * Opens the credential for one use. Its secrets are added to those that the answer is searched for.
 * @throws credential_mismatch, credential_not_usable
 */
export async function openDestination(
  ctx: RunContext,
  { definition, credential, configuration, workspaceId }: DestinationTarget,
  purpose: string,
): Promise<OpenedDestination> {
  const { services, signal } = ctx;
  const { warehouses } = services.settings;
  const options = {
    signal,
    folder: warehouses && join(warehouses, workspaceId),
  };
  if (!credential) return { config: configuration, options };
  const secret = await openSecret(ctx, definition, credential, purpose);
  return {
    config: { ...configuration, ...(credential.metadata as JsonObject), ...secret.fields },
    options,
  };
}

/**
 * Save & Test: a table is made, written, read and removed before anything is saved. Only now that
 * the credential is open can be seen whether a setting, or the name, holds one of its secrets.
 * @throws connection_check_failed, secret_not_allowed, credential_not_usable
 */
export async function tryDestination(
  ctx: OperationContext,
  parts: DestinationParts,
  name: string,
): Promise<void> {
  const result = await checkDestination(ctx, { ...parts, workspaceId: ctx.workspaceId });
  if (result.status === "failed") throw checkFailed(result.error);
  refuseSecretValues(ctx, { name });
  refuseSecretValues(ctx, parts.configuration, "configuration");
}

/** Tries whether rows can be written there, and notes the result with the credential. */
export async function checkDestination(
  ctx: RunContext,
  target: DestinationTarget,
): Promise<CheckResult> {
  const { config, options } = await openDestination(ctx, target, "check");
  const result = await ctx.services.destinations.check(
    target.definition.reference,
    config,
    options,
  );
  const failure = result.status === "failed" ? result.error.code : undefined;
  if (target.credential) await noteOutcome(ctx.db, target.credential, failure, ctx.now);
  return result;
}
