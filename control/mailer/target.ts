import type { JsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { type ConnectorDefinition, namedConnector } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { Handle, IdInput, StrictObject, workspaceInput } from "../contract/schemas.ts";
import { findByHandle } from "../credentials/rows.ts";
import { BaseUrl, ConnectionMethod } from "../sources/named-settings.ts";
import { checkParts } from "../sources/parts.ts";
import type { RunTarget } from "../sources/runs.ts";

export const mailerId = "conn_mailer_product_edm";

/** Properties of every request about the mailer. */
export const mailerFields = {
  ...workspaceInput,
  connector_id: Type.Optional(IdInput("Only the mailer's; that is the default.")),
  connection_method: Type.Optional(ConnectionMethod),
};

export const mailerAccount = {
  ...mailerFields,
  credential_handle: Handle,
  base_url: BaseUrl,
};
const MailerAccount = StrictObject(mailerAccount);

/** @throws not_found, validation_failed when it is another connector */
export function mailerConnector(
  ctx: OperationContext,
  connectorId = mailerId,
): ConnectorDefinition {
  const definition = namedConnector(ctx, connectorId);
  if (definition.id === mailerId) return definition;
  throw refuseField("validation_failed", "connector_id", `must be ${mailerId}`);
}

export type ConnectionMethodName = Static<typeof ConnectionMethod>;

/** The mailer with a credential at a base URL, looked up and checked without asking anybody. */
export async function mailerTarget(
  ctx: OperationContext,
  { connector_id, credential_handle, base_url, connection_method }: Static<typeof MailerAccount>,
): Promise<RunTarget & { readonly connectionMethod: ConnectionMethodName }> {
  const definition = mailerConnector(ctx, connector_id);
  const configuration: JsonObject = {
    base_url,
    ...(connection_method && { connection_method }),
  };
  const parts = await checkParts(
    ctx,
    definition,
    { entered: configuration, configuration, place: "" },
    () => findByHandle(ctx.db, ctx.workspaceId, credential_handle),
  );
  const settings = { ...(parts.credential.metadata as JsonObject), ...parts.configuration };
  return { ...parts, connectionMethod: connectionMethodOf(settings) };
}

/** Configurations that were saved before there was such a setting lack it. */
export const connectionMethodOf = ({ connection_method }: JsonObject) =>
  (connection_method ?? "self_hosted") as ConnectionMethodName;
