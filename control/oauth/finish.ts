import {
  type AuthorizationContext,
  finishAuthorization,
  type JsonObject,
  type PendingAuthorization,
  type PendingStore,
} from "svc-connectors/host";
import type { OperationContext } from "../contract/operation.ts";
import { networkOf } from "../credentials/account.ts";
import type { ConnectedAccount } from "./account.ts";
import { exchangeError, toCallbackUrl, toExchangeFailure } from "./callback.ts";
import { type OAuthSession, takePending } from "./sessions.ts";

/** Who connects what: the callback must come with the same. */
export const contextOf = (
  { workspaceId, caller }: Pick<OperationContext, "workspaceId" | "caller">,
  connectorId: string,
): AuthorizationContext => ({
  workspace: workspaceId,
  connector: connectorId,
  user: caller.user.id,
  session: caller.session.id,
});

/**
 * Takes the pending authorisation, so that no callback counts twice, and exchanges the code.
 * Whatever comes of it, the code is never sent again.
 * @throws oauth_state_used, oauth_denied, oauth_callback_invalid, provider_exchange_failed
 */
export async function finishSession(
  ctx: OperationContext,
  session: OAuthSession,
  parameters: Readonly<Record<string, string>>,
): Promise<ConnectedAccount> {
  const { services, db, now, requestId } = ctx;
  const { connectors, log } = services;
  const definition = connectors.get(session.connector_id);
  const manifest = await connectors.manifest(definition);
  const pending = await takePending(db, services, session, now);
  try {
    const { tokens, grantedScopes, config } = await finishAuthorization({
      manifest,
      callbackUrl: toCallbackUrl(session.redirect_uri, parameters),
      context: contextOf(ctx, definition.id),
      pendings: holding(pending),
      ...networkOf(ctx),
    });
    return {
      connectorId: definition.id,
      name: session.name ?? definition.title,
      tokens,
      grantedScopes,
      metadata: { ...(pending.config as JsonObject), ...config },
      credentialId: session.credential_id,
    };
  } catch (error) {
    const failure = toExchangeFailure(error);
    if (!failure) throw error;
    log.warn("an authorisation was not completed", {
      request_id: requestId,
      connector_id: definition.id,
      cause: failure.cause,
    });
    throw exchangeError(failure);
  }
}

/** A store of the one authorisation that was taken out already. */
function holding(pending: PendingAuthorization): PendingStore {
  return {
    put: async () => undefined,
    take: async (stateHash) => (stateHash === pending.stateHash ? pending : undefined),
  };
}
