/** Authorisations that were begun: a row for each, and its secrets in the vault until it ends. */
import type { Selectable } from "kysely";
import { hashState, type PendingAuthorization } from "svc-connectors/host";
import { createId } from "../contract/ids.ts";
import type { Caller, OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Services } from "../services/services.ts";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import type { SecretOwner } from "../vault/vault.ts";

export type OAuthSession = Selectable<Tables["oauth_sessions"]>;

/** The parts of a session beside the authorisation that the runtime keeps. */
export interface NewOAuthSession {
  readonly connectorId: string;
  readonly pending: PendingAuthorization;
  /** The credential that is connected again; null: there will be a new one. */
  readonly credentialId: string | null;
  readonly name: string | null;
}

const owner = ({ id, workspace_id }: Pick<OAuthSession, "id" | "workspace_id">): SecretOwner => ({
  workspaceId: workspace_id,
  ownerId: id,
  kind: "oauth",
});

/** Writes it down for whoever asks. What nobody has finished in time is destroyed meanwhile. */
export async function beginSession(
  tx: Db,
  {
    services,
    workspaceId,
    caller,
    now,
  }: Pick<OperationContext, "services" | "workspaceId" | "caller" | "now">,
  { connectorId, pending, credentialId, name }: NewOAuthSession,
): Promise<OAuthSession> {
  await destroyUnfinished(tx, now);
  const row = await tx
    .insertInto("oauth_sessions")
    .values({
      id: createId("oauthSession"),
      workspace_id: workspaceId,
      connector_id: connectorId,
      user_id: caller.user.id,
      session_id: caller.session.id,
      state_hash: pending.stateHash,
      redirect_uri: pending.redirectUri,
      credential_id: credentialId,
      name,
      created_at: now,
      expires_at: new Date(pending.expiresAtMs),
      used_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await services.vault.put(tx, owner(row), 0, { ...pending });
  return row;
}

async function destroyUnfinished(tx: Db, now: Date): Promise<void> {
  await tx
    .deleteFrom("secrets")
    .where("kind", "=", "oauth")
    .where("owner_id", "in", (query) =>
      query
        .selectFrom("oauth_sessions")
        .select("oauth_sessions.id")
        .where("oauth_sessions.expires_at", "<=", now),
    )
    .execute();
}

/**
 * The session of a state, if the caller may finish it: who began it, in the same session and
 * workspace. Looked at in this order, so that anybody else learns nothing but "no".
 * @throws oauth_state_unknown, oauth_other_session, oauth_state_used, oauth_state_expired
 */
export async function findSession(
  { db, caller, workspaceId, now }: Pick<OperationContext, "db" | "caller" | "workspaceId" | "now">,
  state: string,
): Promise<OAuthSession> {
  const row = await db
    .selectFrom("oauth_sessions")
    .selectAll()
    .where("state_hash", "=", hashState(state))
    .executeTakeFirst();
  if (!row) throw new ControlError("oauth_state_unknown");
  if (row.workspace_id !== workspaceId || !isOf(caller, row))
    throw new ControlError("oauth_other_session");
  if (row.used_at !== null) throw new ControlError("oauth_state_used");
  if (row.expires_at <= now) throw new ControlError("oauth_state_expired");
  return row;
}

const isOf = ({ user, session }: Caller, row: OAuthSession) =>
  row.user_id === user.id && row.session_id === session.id;

/**
 * Takes what was kept for it: whoever is first gets it, and nobody a second time, on whatever
 * server.
 * @throws oauth_state_used
 */
export async function takePending(
  db: Db,
  { vault }: Pick<Services, "vault">,
  session: OAuthSession,
  now: Date,
): Promise<PendingAuthorization> {
  const taken = await db
    .updateTable("oauth_sessions")
    .set({ used_at: now })
    .where("id", "=", session.id)
    .where("used_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  const opened = taken && (await vault.open(db, owner(session)));
  if (!opened) throw new ControlError("oauth_state_used");
  await vault.shred(db, session.id);
  return opened.value as unknown as PendingAuthorization;
}
