/**
 * Connecting an account in the browser. The start gives the provider's address, the callback turns
 * what came back into a credential. Only who began can finish; tokens go from the provider into the
 * vault and nowhere else.
 */
import { startAuthorization } from "svc-connectors/host";
import { Type } from "typebox";
import { namedConnector, requireEnabled } from "../connectors/registry.ts";
import { defineWrite, type OperationContext } from "../contract/operation.ts";
import { ControlError, type Reason, refuseField } from "../contract/reasons.ts";
import { Handle, Id, IdInput, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import type { CredentialRow } from "../credentials/rows.ts";
import { applyAccount, discardAccount, stageAccount, storeAccount } from "../oauth/account.ts";
import { CallbackBody, parametersOf } from "../oauth/callback.ts";
import { contextOf, finishSession } from "../oauth/finish.ts";
import { beginSession, findSession } from "../oauth/sessions.ts";
import { startParts, startProperties } from "../oauth/start.ts";
import { credentialStatuses } from "../store/tables.ts";

/**
 * The ways to connect: of any source connector, and of the task app, which is named by the path.
 */
interface Way {
  readonly id: string;
  readonly path: `/credentials/${string}/oauth`;
  readonly what: string;
  /** The connector that the path names; undefined: the body does. */
  readonly connectorId?: string | undefined;
}

const source: Way = {
  id: "source",
  path: "/credentials/source/oauth",
  what: "an account of a source",
};
const taskapp: Way = {
  id: "taskapp",
  path: "/credentials/taskapp/oauth",
  what: "an account of the task app",
  connectorId: "conn_taskapp",
};

const startErrors: readonly Reason[] = [
  "not_found",
  "connector_disabled",
  "oauth_not_supported",
  "oauth_app_missing",
  "redirect_uri_not_allowed",
  "credential_mismatch",
  "credential_not_usable",
  "secret_not_allowed",
  "invalid_configuration",
];

const SourceStart = StrictObject({ connector_id: IdInput("The connector."), ...startProperties });

const PresetStart = StrictObject({
  connector_id: Type.Optional(IdInput("The connector of the path; no other.")),
  ...startProperties,
});

/** @throws not_found, validation_failed when the body names another connector than the path */
function connectorOf(ctx: OperationContext, preset: string | undefined, named: string | undefined) {
  const definition = namedConnector(ctx, named ?? preset ?? "");
  if (preset !== undefined && definition.id !== preset)
    throw refuseField("validation_failed", "connector_id", "is not the connector of this path");
  return definition;
}

const defineStart = ({ id, path, what, connectorId: preset }: Way) =>
  defineWrite({
    id: `oauth.start_${id}`,
    area: "Credentials",
    method: "POST",
    path: `${path}/start`,
    summary: `Begin to connect ${what}`,
    description:
      "Gives the address to which the browser goes. The callback must come from the same session within ten minutes. With credential_id or source_id a credential is connected again: its id and handle stay.",
    permission: "write",
    limit: "provider",
    status: 200,
    resource: "oauth_session",
    isFree: true,
    isRepeatable: true,
    // Where the path names the connector, the body need not.
    body: (preset === undefined ? SourceStart : PresetStart) as typeof SourceStart,
    data: StrictObject(
      {
        authorization_url: Type.String({
          description: "It holds the state: for this browser only.",
        }),
        state: Type.String(),
        oauth_session_id: Id("oauthSession"),
        expires_at: Time,
        connector_id: Type.String(),
      },
      { title: "OauthStart" },
    ),
    errors: startErrors,
    guard: (ctx, { body }) => startParts(ctx, connectorOf(ctx, preset, body.connector_id), body),
    async prepare(ctx, { body }, { definition, manifest, client, config, credential }) {
      const started = await startAuthorization({
        manifest,
        config,
        client,
        redirectUri: body.redirect_uri,
        context: contextOf(ctx, definition.id),
        clock: ctx.services.clock,
        scopes: body.scopes,
      });
      return { definition, credential, ...started };
    },
    async commit(tx, ctx, { body }, { definition, credential, url, pending }) {
      const session = await beginSession(tx, ctx, {
        connectorId: definition.id,
        pending,
        credentialId: credential?.id ?? null,
        name: body.name ?? null,
      });
      return {
        data: {
          authorization_url: url,
          state: new URL(url).searchParams.get("state") ?? "",
          oauth_session_id: session.id,
          expires_at: session.expires_at.toISOString(),
          connector_id: definition.id,
        },
        resourceId: session.id,
      };
    },
  });

const defineCallback = ({ id, path, what, connectorId: preset }: Way) =>
  defineWrite({
    id: `oauth.finish_${id}`,
    area: "Credentials",
    method: "POST",
    path: `${path}/callback`,
    summary: `Finish connecting ${what}`,
    description:
      "Takes the parameters with which the browser came back, as they are or in query_params. The tokens stay in the service.",
    permission: "write",
    limit: "provider",
    status: 201,
    resource: "credential",
    category: "credential_change",
    mustFinish: true,
    secretFields: ["code", "state", "query_params"],
    body: CallbackBody,
    data: StrictObject(
      {
        credential_handle: Handle,
        credential_id: Id("credential"),
        connector_id: Type.String(),
        status: OneOf(credentialStatuses),
        granted_scopes: Type.Array(Type.String()),
        expires_at: Type.Optional(Time),
      },
      { title: "ConnectedAccount" },
    ),
    errors: [
      "not_found",
      "connector_disabled",
      "oauth_state_unknown",
      "oauth_other_session",
      "oauth_state_used",
      "oauth_state_expired",
      "oauth_denied",
      "oauth_callback_invalid",
      "provider_exchange_failed",
      "credential_not_usable",
    ],
    guard: (ctx, { body }) => sessionOf(ctx, preset ?? body.connector_id, body),
    prepare: (ctx, _input, { session, parameters }) => finishSession(ctx, session, parameters),
    commit: async (tx, ctx, _input, account) => toOutcome(await storeAccount(tx, ctx, account)),
    hold: {
      stage: (tx, ctx, _input, account) => stageAccount(tx, ctx, account),
      apply: async (tx, ctx, held) => toOutcome(await applyAccount(tx, ctx, held)),
      discard: (tx, services, held, now) => discardAccount(tx, services, held, now),
    },
  });

/**
 * The session that a callback belongs to. The connector, where the caller names one, must be the
 * one of the start.
 */
async function sessionOf(
  ctx: OperationContext,
  named: string | undefined,
  body: Parameters<typeof parametersOf>[0],
) {
  const parameters = parametersOf(body);
  const session = await findSession(ctx, parameters.state);
  if (named !== undefined && namedConnector(ctx, named).id !== session.connector_id)
    throw new ControlError("oauth_other_session");
  await requireEnabled(ctx.db, ctx.services.connectors.get(session.connector_id));
  return { parameters, session };
}

const toOutcome = (row: CredentialRow) => ({
  data: {
    credential_handle: row.handle,
    credential_id: row.id,
    connector_id: row.connector_id,
    status: row.status,
    granted_scopes: [...row.granted_scopes],
    ...(row.expires_at ? { expires_at: row.expires_at.toISOString() } : {}),
  },
  resourceId: row.id,
  location: `/credentials/${row.id}`,
});

export const oauthOperations = [source, taskapp].flatMap((way) => [
  defineStart(way),
  defineCallback(way),
]);
