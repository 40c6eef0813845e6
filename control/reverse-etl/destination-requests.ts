/** Requests for reverse ETL destinations, checked without asking anybody. */
import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { Handle, Name, OneOf, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { findByHandle, findCredential } from "../credentials/rows.ts";
import { mergePatch } from "../sources/merge-patch.ts";
import { activationTypes, checkDestinationParts } from "./destination-parts.ts";
import { findReverseDestination } from "./rows.ts";

const Configuration = Type.Object({}, { additionalProperties: true });

export const CreateReverseDestination = StrictObject({
  ...workspaceInput,
  name: Name,
  type: OneOf(activationTypes, { description: "webhook · postgres · mailer." }),
  credentialHandle: Handle,
  configuration: Type.Optional(Configuration),
});

/** The destination as it will be. */
export async function partsOfNewDestination(
  ctx: OperationContext,
  body: Static<typeof CreateReverseDestination>,
) {
  const { name, type, credentialHandle } = body;
  const configuration = (body.configuration ?? {}) as JsonObject;
  const target = await checkDestinationParts(
    ctx,
    { type, entered: configuration, configuration },
    () => findByHandle(ctx.db, ctx.workspaceId, credentialHandle),
  );
  return { name, target };
}

export const UpdateReverseDestination = StrictObject({
  ...workspaceInput,
  name: Type.Optional(Name),
  type: Type.Optional(Type.Unknown({ description: "Refused: a destination keeps its type." })),
  credentialHandle: Type.Optional(Handle),
  configuration: Type.Optional(
    Type.Object(
      {},
      { additionalProperties: true, description: "A JSON merge patch: null takes a setting away." },
    ),
  ),
});

/** The destination as it will be; without `target` nothing changes that a test could judge. */
export async function partsOfChangedDestination(
  ctx: OperationContext,
  id: string,
  entered: Static<typeof UpdateReverseDestination>,
) {
  const { db, workspaceId } = ctx;
  if (entered.type !== undefined) throw refuseField("immutable_field", "type", "cannot be changed");
  const row = await findReverseDestination(db, workspaceId, id);
  ctx.expectVersion(row.version);
  const { name = row.name, credentialHandle: handle } = entered;
  if (handle === undefined && entered.configuration === undefined)
    return { version: row.version, name };
  const patch = (entered.configuration ?? {}) as JsonObject;
  const configuration = mergePatch(row.configuration as JsonObject, patch);
  const target = await checkDestinationParts(
    ctx,
    { type: row.type, entered: patch, configuration },
    async () => {
      if (handle !== undefined) return findByHandle(db, workspaceId, handle);
      return row.credential_id === null ? null : findCredential(db, workspaceId, row.credential_id);
    },
  );
  return { version: row.version, name, target };
}
