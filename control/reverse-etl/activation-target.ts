/** Reverse ETL destinations as they are opened for their activation connectors. */
import {
  type ActivationOptions,
  type ConnectorReference,
  findActivationConnector,
  type JsonObject,
} from "svc-connectors/host";
import { type CredentialRow, findCredential } from "../credentials/rows.ts";
import { openSecret, type RunContext } from "../sources/runs.ts";
import type { ReverseDestinationRow } from "./rows.ts";

export interface ActivationTarget {
  readonly type: string;
  readonly credential: CredentialRow | null;
  readonly configuration: JsonObject;
  /** The base URL to which the credential is bound, of a target that is being checked. */
  readonly baseUrl?: string | undefined;
}

/** The arguments that `services.activations` takes. */
export interface OpenedActivation {
  readonly reference: ConnectorReference;
  /** The whole configuration, secrets included. It goes to the host and nowhere else. */
  readonly config: JsonObject;
  readonly options: ActivationOptions;
}

/** @throws not_found */
export async function activationTargetOf(
  { db }: Pick<RunContext, "db">,
  row: ReverseDestinationRow,
): Promise<ActivationTarget> {
  return {
    type: row.type,
    credential:
      row.credential_id === null
        ? null
        : await findCredential(db, row.workspace_id, row.credential_id),
    configuration: row.configuration as JsonObject,
  };
}

/** Somebody waits for the answer: what a run may wait for in peace ends here within a minute. */
const impatient = {
  maxAttempts: 2,
  retryBudgetMs: 20_000,
  headersTimeoutMs: 20_000,
  totalTimeoutMs: 30_000,
  maxRateLimitWaitMs: 5_000,
};

/** Opens the credential for one use. @throws credential_not_usable */
export async function openActivation(
  ctx: RunContext,
  { type, credential, configuration }: ActivationTarget,
  purpose: "check" | "objects" | "run",
): Promise<OpenedActivation> {
  const reference = findActivationConnector(type);
  const opened = {
    reference,
    options: {
      signal: ctx.signal,
      ...ctx.services.telemetry.watch(reference.name),
      ledger: credential ? ctx.services.providerRates(credential.id) : undefined,
      ...(purpose === "run" ? {} : { http: impatient }),
    },
  };
  if (!credential) return { ...opened, config: configuration };
  const secret = await openSecret(
    ctx,
    ctx.services.connectors.get(credential.connector_id),
    credential,
    `reverse_etl_${purpose}`,
  );
  return {
    ...opened,
    config: { ...configuration, ...(credential.metadata as JsonObject), ...secret.fields },
  };
}
