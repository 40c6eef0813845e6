/** Requests for reverse ETL destinations, checked without asking anybody. */
import type { JsonObject } from "svc-connectors/host";
import { Type } from "typebox";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { Handle, Name, OneOf } from "../contract/schemas.ts";
import { findByHandle, findCredential } from "../credentials/rows.ts";
import { mergePatch } from "../sources/merge-patch.ts";
import { aliased, requireFields, unaliased } from "./aliases.ts";
import { activationTypes, checkDestinationParts } from "./destination-parts.ts";
import { findReverseDestination } from "./rows.ts";

const Configuration = Type.Object({}, { additionalProperties: true });

const createProperties = {
  name: Name,
  type: OneOf(activationTypes, { description: "webhook · postgres · mailer." }),
  credentialHandle: Handle,
  configuration: Configuration,
};
export const CreateReverseDestination = aliased(createProperties);

/** The destination as it will be. */
export async function partsOfNewDestination(ctx: OperationContext, body: object) {
  const entered = unaliased(createProperties, body);
  requireFields(entered, ["name", "type", "credentialHandle"]);
  const { name, type, credentialHandle } = entered;
  const configuration = (entered.configuration ?? {}) as JsonObject;
  const target = await checkDestinationParts(
    ctx,
    { type, entered: configuration, configuration },
    () => findByHandle(ctx.db, ctx.workspaceId, credentialHandle),
  );
  return { name, target };
}

const updateProperties = {
  name: Name,
  type: Type.Unknown({ description: "Refused: a destination keeps its type." }),
  credentialHandle: Handle,
  configuration: Type.Object(
    {},
    { additionalProperties: true, description: "A JSON merge patch: null takes a setting away." },
  ),
};
export const UpdateReverseDestination = aliased(updateProperties);

/** The destination as it will be; without `target` nothing changes that a test could judge. */
export async function partsOfChangedDestination(ctx: OperationContext, id: string, body: object) {
  const { db, workspaceId } = ctx;
  const entered = unaliased(updateProperties, body);
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
