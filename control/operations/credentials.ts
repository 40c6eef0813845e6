/**
 * Credentials: secrets of a connector under a handle. What is stored here is never read again by
 * anybody but a run.
 */
import { Type } from "typebox";
import { type AnyManifest, isEnabled, namedConnector } from "../connectors/registry.ts";
import { defineRead, defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import {
  Id,
  IdInput,
  List,
  namedListQuery,
  OneOf,
  StrictObject,
  Time,
  workspaceInput,
} from "../contract/schemas.ts";
import { changeCredential } from "../credentials/change.ts";
import {
  ChangeBody,
  checkChange,
  checkEnd,
  checkNew,
  NewCredentialBody,
  requireGeneralPath,
} from "../credentials/requests.ts";
import { endAccount, type Revocation, revocations } from "../credentials/revocation.ts";
import { type CredentialRow, findCredential, findLiving, lockLiving } from "../credentials/rows.ts";
import { Credential, toCredential } from "../credentials/schemas.ts";
import { storeCredential } from "../credentials/store.ts";
import { requireUnused } from "../credentials/uses.ts";
import { readPage } from "../door/pages.ts";
import { credentialStatuses } from "../store/tables.ts";

const credentialParams = StrictObject({ credential_id: IdInput("The credential.") });
const ofWorkspace = StrictObject(workspaceInput);

export const listCredentials = defineRead({
  id: "credential.list",
  area: "Credentials",
  path: "/credentials",
  summary: "List credentials",
  description: "Deleted ones are listed only when their status is asked for.",
  permission: "read",
  query: StrictObject({
    ...namedListQuery,
    connector_id: Type.Optional(IdInput("Only credentials of this connector.")),
    status: Type.Optional(OneOf(credentialStatuses)),
  }),
  data: List(Credential),
  errors: ["invalid_cursor", "not_found"],
  async run(ctx, { query: { limit = 50, cursor, search, sort, connector_id, status } }) {
    const { db, workspaceId } = ctx;
    const connectorId =
      connector_id === undefined ? undefined : namedConnector(ctx, connector_id).id;
    const filters = { list: "credentials", workspaceId, connectorId, status };
    let rows = db.selectFrom("credentials").selectAll().where("workspace_id", "=", workspaceId);
    rows =
      status === undefined
        ? rows.where("status", "!=", "revoked")
        : rows.where("status", "=", status);
    if (connectorId !== undefined) rows = rows.where("connector_id", "=", connectorId);
    const page = await readPage(rows, { cursor, limit, filters, search, sort });
    return { ...page, items: page.items.map(toCredential) };
  },
});

export const getCredential = defineRead({
  id: "credential.get",
  area: "Credentials",
  path: "/credentials/{credential_id}",
  summary: "Get a credential",
  permission: "read",
  params: credentialParams,
  query: ofWorkspace,
  data: Credential,
  errors: ["not_found"],
  run: async ({ db, workspaceId }, { params }) =>
    toCredential(await findCredential(db, workspaceId, params.credential_id)),
});

export const createCredential = defineWrite({
  id: "credential.create",
  area: "Credentials",
  method: "POST",
  path: "/credentials",
  summary: "Store a credential",
  description:
    "The place for secrets besides connecting an account, except for connectors with one of their own (`auth.start_path` of their spec): those of the mailer are taken by POST /credentials/mailer/api-token only. Other requests use the credential_handle.",
  permission: "write",
  status: 201,
  resource: "credential",
  category: "credential_change",
  isRepeatable: true,
  secretFields: ["secrets"],
  body: NewCredentialBody,
  data: Credential,
  errors: ["not_found", "connector_disabled", "secret_not_allowed", "invalid_base_url"],
  guard: (ctx, { body }) => checkNew(ctx, body),
  async commit(tx, ctx, { body }, { definition, name, metadata, baseUrl }) {
    if (!(await isEnabled(tx, definition.id))) throw new ControlError("connector_disabled");
    const row = await storeCredential(tx, ctx, {
      connectorId: definition.id,
      name,
      authType: body.auth_type ?? "api_key",
      secret: { fields: body.secrets },
      metadata,
      baseUrl,
      secretsExpireAt: checkEnd(ctx, body),
    });
    return { data: toCredential(row), resourceId: row.id, location: `/credentials/${row.id}` };
  },
});

export const updateCredential = defineWrite({
  id: "credential.update",
  area: "Credentials",
  method: "PATCH",
  path: "/credentials/{credential_id}",
  summary: "Change a credential",
  description:
    "Secrets that are given replace those of the same names, under the same handle; the credential is active again. Connector, settings and base URL stay. A mailer token is replaced by POST /credentials/mailer/api-token.",
  permission: "write",
  status: 200,
  resource: "credential",
  category: "credential_change",
  isRepeatable: true,
  secretFields: ["secrets"],
  params: credentialParams,
  body: ChangeBody,
  data: Credential,
  errors: ["not_found", "version_mismatch", "immutable_field", "secret_not_allowed"],
  async guard(ctx, { params, body }) {
    const row = await findLiving(ctx.db, ctx.workspaceId, params.credential_id);
    if (body.secrets) requireGeneralPath(ctx.services.connectors.get(row.connector_id));
    const manifest = await manifestOf(ctx, row);
    await checkChange(ctx.db, ctx, row, body, manifest);
    return manifest;
  },
  async commit(tx, ctx, { params, body }, manifest) {
    const row = await lockLiving(tx, ctx.workspaceId, params.credential_id);
    await checkChange(tx, ctx, row, body, manifest);
    const secretsExpireAt = checkEnd(ctx, body);
    const changed = await changeCredential(tx, ctx, row, { ...body, secretsExpireAt });
    return { data: toCredential(changed), resourceId: row.id };
  },
});

export const deleteCredential = defineWrite({
  id: "credential.delete",
  area: "Credentials",
  method: "DELETE",
  path: "/credentials/{credential_id}",
  summary: "Delete a credential",
  description:
    "Asks the provider to end the tokens of a connected account, and destroys what is stored, whatever the provider says. What remains is the fact that there was one.",
  permission: "write",
  limit: "provider",
  status: 200,
  resource: "credential",
  category: "credential_change",
  isRepeatable: true,
  params: credentialParams,
  body: ofWorkspace,
  data: StrictObject({
    credential_id: Id("credential"),
    deleted: Type.Literal(true),
    revocation: OneOf(Object.keys(revocations) as Revocation[], {
      description: "What became of the tokens at the provider.",
    }),
    deleted_at: Time,
  }),
  errors: ["not_found", "version_mismatch", "credential_in_use"],
  async guard(ctx, { params }) {
    const row = await findLiving(ctx.db, ctx.workspaceId, params.credential_id);
    ctx.expectVersion(row.version);
    await requireUnused(ctx.db, row);
    return row;
  },
  asks: ({ auth_type }) => auth_type === "oauth2",
  async prepare(ctx, _input, row) {
    return await endAccount(ctx, row, await manifestOf(ctx, row));
  },
  async commit(tx, ctx, { params }, revocation) {
    const { services, workspaceId, now } = ctx;
    const row = await lockLiving(tx, workspaceId, params.credential_id);
    ctx.expectVersion(row.version);
    await requireUnused(tx, row);
    await services.vault.shred(tx, row.id);
    const at = now.toISOString();
    await tx
      .updateTable("credentials")
      .set((eb) => ({
        status: "revoked" as const,
        version: eb("version", "+", 1),
        updated_at: now,
        expires_at: null,
        last_error:
          revocation === "failed" ? JSON.stringify({ reason: "revocation_failed", at }) : null,
      }))
      .where("id", "=", row.id)
      .where("workspace_id", "=", workspaceId)
      .execute();
    const data = { credential_id: row.id, deleted: true as const, revocation, deleted_at: at };
    return { data, resourceId: row.id, remark: revocations[revocation] };
  },
});

const manifestOf = (
  { services }: OperationContext,
  { connector_id }: CredentialRow,
): Promise<AnyManifest> => services.connectors.describe(services.connectors.get(connector_id));

export const credentialOperations = [
  listCredentials,
  createCredential,
  getCredential,
  updateCredential,
  deleteCredential,
];
