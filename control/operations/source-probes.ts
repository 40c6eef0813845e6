/**
 * Questions to a source's provider that change nothing: whether the connection works, and
 * what there is to choose from.
 */
import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { namedConnector, requireEnabled } from "../connectors/registry.ts";
import { defineCompute, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import {
  Handle,
  Id,
  IdInput,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import {
  findByHandle,
  findCredential,
  requireConnector,
  requireUsable,
} from "../credentials/rows.ts";
import { Entities, toEntities } from "../sources/entities.ts";
import { ProviderId, withTextIds } from "../sources/named-settings.ts";
import { checkParts } from "../sources/parts.ts";
import { findSource } from "../sources/rows.ts";
import { openRun, runCheck } from "../sources/runs.ts";

async function partsOfSaved(ctx: OperationContext, id: string) {
  const { db, workspaceId, services } = ctx;
  const row = await findSource(db, workspaceId, id);
  const configuration = row.configuration as JsonObject;
  // Looked at anew: an approval of its host may have been withdrawn since.
  return checkParts(
    ctx,
    services.connectors.get(row.connector_id),
    { entered: {}, configuration, place: "configuration" },
    () => findCredential(db, workspaceId, row.credential_id),
  );
}

export const checkSource = defineCompute({
  id: "source.check",
  area: "Sources",
  path: "/sources/{source_id}/check",
  summary: "Check a source",
  description:
    "Tries the connection as it is saved. A connection that fails is an answer, not an error.",
  permission: "run",
  params: StrictObject({ source_id: IdInput("The source.") }),
  body: StrictObject(workspaceInput),
  data: StrictObject({
    source_id: Id("source"),
    connector_id: Type.String(),
    status: OneOf(["succeeded", "failed"]),
    error: Nullable(Type.String({ description: "Code of what is wrong." })),
    message: Nullable(Type.String()),
    checked_at: Time,
  }),
  errors: [
    "not_found",
    "connector_disabled",
    "invalid_base_url",
    "invalid_configuration",
    "credential_mismatch",
    "credential_not_usable",
  ],
  guard: (ctx, { params }) => partsOfSaved(ctx, params.source_id),
  async run(ctx, { params }, parts) {
    const result = await runCheck(ctx, parts);
    const failure = result.status === "failed" ? result.error : undefined;
    return {
      source_id: params.source_id,
      connector_id: parts.definition.id,
      status: result.status,
      error: failure?.code ?? null,
      message: failure?.message ?? null,
      checked_at: ctx.now.toISOString(),
    };
  },
});

const ListEntities = StrictObject({
  ...workspaceInput,
  connector_id: Type.Optional(IdInput("Default: the credential's.")),
  credential_handle: Type.Optional(Handle),
  source_id: Type.Optional(
    IdInput("A saved source: its credential, where none is named, and its settings count."),
  ),
  portal_id: Type.Optional(ProviderId),
  brand_ids: Type.Optional(Type.Array(ProviderId, { maxItems: 1_000 })),
});

async function entitiesTarget(ctx: OperationContext, body: Static<typeof ListEntities>) {
  const { db, workspaceId, services } = ctx;
  const { connector_id, credential_handle: handle, source_id } = body;
  const named = connector_id === undefined ? undefined : namedConnector(ctx, connector_id);
  const source = source_id === undefined ? undefined : await findSource(db, workspaceId, source_id);
  if (handle === undefined && source === undefined)
    throw refuseField("validation_failed", "credential_handle", "is missing");
  const credential =
    handle === undefined
      ? await findCredential(db, workspaceId, source?.credential_id ?? "")
      : await findByHandle(db, workspaceId, handle);
  const definition = named ?? services.connectors.get(credential.connector_id);
  if (source && source.connector_id !== definition.id)
    throw refuseField("validation_failed", "source_id", "is a source of another connector");
  await requireEnabled(db, definition);
  requireConnector(credential, definition.id);
  requireUsable(credential);
  if (definition.type !== "source") throw new ControlError("entities_not_supported");
  const manifest = await services.connectors.manifest(definition);
  if (!manifest.hasEntities) throw new ControlError("entities_not_supported");
  const input = Object.entries({ portal_id: body.portal_id, brand_ids: body.brand_ids }).flatMap(
    ([name, value]) => (value === undefined ? [] : [[name, withTextIds(name, value)]]),
  );
  return {
    target: { definition, credential, configuration: (source?.configuration ?? {}) as JsonObject },
    input: Object.fromEntries(input) as JsonObject,
  };
}

export const listEntities = defineCompute({
  id: "source.entities",
  area: "Sources",
  path: "/sources/entities",
  summary: "List what a source can be made of",
  description:
    "Portals, brands and channels of a connected social account. portal_id narrows brands and channels, brand_ids channels. " +
    "`options` has the same under the names of the settings, for forms.",
  permission: "run",
  body: ListEntities,
  data: Entities,
  errors: [
    "not_found",
    "connector_disabled",
    "credential_mismatch",
    "credential_not_usable",
    "entities_not_supported",
    "invalid_configuration",
    "provider_refused",
    "provider_failed",
    "provider_timeout",
  ],
  guard: (ctx, { body }) => entitiesTarget(ctx, body),
  async run(ctx, _input, { target, input }) {
    const { config, options } = await openRun(ctx, target, "entities");
    const found = await ctx.services.host.entities(
      target.definition.reference,
      config,
      input,
      options,
    );
    return toEntities(target, found);
  },
});

export const sourceProbeOperations = [checkSource, listEntities];
