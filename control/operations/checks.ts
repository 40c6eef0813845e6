/**
 * Checks of what is saved: whether a source or a destination works as it is. What comes of it is
 * noted with it.
 */
import type { CheckResult, ErrorCode, JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { defineCompute, type OperationContext } from "../contract/operation.ts";
import { Id, IdInput, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { findCredential } from "../credentials/rows.ts";
import { checkDestination } from "../destinations/open.ts";
import { checkParts as checkDestinationParts } from "../destinations/parts.ts";
import { type DestinationRow, findDestination } from "../destinations/rows.ts";
import { toConnectorError } from "../jobs/failure.ts";
import { partsOfSource } from "../pipelines/catalogs.ts";
import { findSource, type SourceRow } from "../sources/rows.ts";
import { runCheck } from "../sources/runs.ts";
import { Check } from "../sources/schemas.ts";

const answer =
  "A connection that does not work is an answer and no error, also when it cannot even be tried: the credential has to be connected anew, the operator has disabled the connector. The result is noted as last_check, and in the status.";

const CheckedSource = StrictObject(
  { source_id: Id("source"), connector_id: Type.String(), ...Check.properties },
  { title: "CheckedSource" },
);

export const checkSource = defineCompute({
  id: "source.check",
  area: "Sources",
  path: "/sources/{source_id}/check",
  summary: "Check a source",
  description: `Tries the connection as it is saved. ${answer}`,
  permission: "run",
  params: StrictObject({ source_id: IdInput("The source.") }),
  body: StrictObject(workspaceInput),
  data: CheckedSource,
  errors: ["not_found"],
  guard: ({ db, workspaceId }, { params }) => findSource(db, workspaceId, params.source_id),
  async run(ctx, _input, row) {
    const checked = await noteCheck(ctx, "sources", row, async () =>
      runCheck(ctx, await partsOfSource(ctx, row)),
    );
    return { source_id: row.id, connector_id: row.connector_id, ...checked };
  },
});

const CheckedDestination = StrictObject(
  { destination_id: Id("destination"), connector_id: Type.String(), ...Check.properties },
  { title: "CheckedDestination" },
);

export const checkSavedDestination = defineCompute({
  id: "destination.check",
  area: "Destinations",
  path: "/destinations/{destination_id}/check",
  summary: "Check a destination",
  description: `Writes and removes a table, with the settings as they are saved. ${answer}`,
  permission: "run",
  params: StrictObject({ destination_id: IdInput("The destination.") }),
  body: StrictObject(workspaceInput),
  data: CheckedDestination,
  errors: ["not_found"],
  guard: ({ db, workspaceId }, { params }) =>
    findDestination(db, workspaceId, params.destination_id),
  async run(ctx, _input, row) {
    const checked = await noteCheck(ctx, "destinations", row, () => tryDestination(ctx, row));
    return { destination_id: row.id, connector_id: row.connector_id, ...checked };
  },
});

async function tryDestination(ctx: OperationContext, row: DestinationRow): Promise<CheckResult> {
  const { db, workspaceId, services } = ctx;
  const { credential_id: credentialId } = row;
  const parts = await checkDestinationParts(
    ctx,
    services.connectors.get(row.connector_id),
    { entered: {}, configuration: row.configuration as JsonObject },
    async () => (credentialId === null ? null : findCredential(db, workspaceId, credentialId)),
  );
  return await checkDestination(ctx, { ...parts, workspaceId });
}

/**
 * Failures that say nothing about the connection: it was not tried, because another run holds the
 * place, or for a fault of svc itself.
 */
const saysNothing: ReadonlySet<ErrorCode> = new Set([
  "OUTPUT_BUSY",
  "SANDBOX_UNAVAILABLE",
  "INTERNAL",
]);

/**
 * Checks, and writes the result beside what was checked; what was changed meanwhile was not. It is
 * no change that anybody has asked for: the version stays.
 */
async function noteCheck(
  { db, now }: OperationContext,
  table: "sources" | "destinations",
  { id, workspace_id, version }: SourceRow | DestinationRow,
  check: () => Promise<CheckResult>,
): Promise<Static<typeof Check>> {
  const result = await check().catch(resultOf);
  const failure = result.status === "failed" ? result.error : undefined;
  const noted: Static<typeof Check> = {
    status: result.status,
    error: failure?.code ?? null,
    message: failure?.message ?? null,
    checked_at: now.toISOString(),
  };
  if (failure && saysNothing.has(failure.code)) return noted;
  await db
    .updateTable(table)
    .set({ last_check: JSON.stringify(noted), status: failure ? "error" : "active" })
    .where("id", "=", id)
    .where("workspace_id", "=", workspace_id)
    .where("version", "=", version)
    .execute();
  return noted;
}

/**
 * The result of a check that failed or could not be made.
 * @throws errors that say nothing about the connection
 */
function resultOf(error: unknown): CheckResult {
  const known = toConnectorError(error);
  if (known.code === "INTERNAL" || known.code === "CANCELLED") throw error;
  return { status: "failed", error: known.toRecord() };
}

export const checkOperations = [checkSource, checkSavedDestination];
