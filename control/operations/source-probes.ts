/**
 * Questions to a source's provider that change nothing: whether the connection works, and
 * what there is to choose from.
 */
import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { namedConnector, requireEnabled } from "../connectors/registry.ts";
import { defineCompute, type OperationContext } from "../contract/operation.ts";
import { ControlError, refuseField } from "../contract/reasons.ts";
import { Handle, IdInput, StrictObject, workspaceInput } from "../contract/schemas.ts";
import {
  findByHandle,
  findCredential,
  requireConnector,
  requireUsable,
} from "../credentials/rows.ts";
import { Entities, toEntities } from "../sources/entities.ts";
import { ProviderId, withTextIds } from "../sources/named-settings.ts";
import { findSource } from "../sources/rows.ts";
import { openRun } from "../sources/runs.ts";

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
  operationId: "listSourceEntities",
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

export const sourceProbeOperations = [listEntities];
