import type { ErrorCode } from "svc-connectors/host";
import type { Db } from "../store/database.ts";
import type { CredentialRow } from "./rows.ts";

/** Why a credential has to be connected again, wherever that is told as a reason. */
export const lostAuthorization = "reauthorization_needed";

/**
 * Notes with a credential what a run with it has shown. One whose authorisation is lost is not
 * tried again until the account is connected anew, or its secrets are replaced; if that has
 * happened while the run was under way, the run says nothing of it.
 * @param failure undefined: it worked
 */
export async function noteOutcome(
  db: Db,
  credential: CredentialRow,
  failure: ErrorCode | undefined,
  now: Date,
): Promise<void> {
  const noted = db
    .updateTable("credentials")
    .where("id", "=", credential.id)
    .where("workspace_id", "=", credential.workspace_id)
    .where("version", "=", credential.version)
    .where("status", "=", "active");
  const error = (reason: string) => JSON.stringify({ reason, at: now.toISOString() });
  if (failure === undefined) await noted.set({ last_verified_at: now, last_error: null }).execute();
  if (failure === "CREDENTIALS_REJECTED")
    await noted.set({ last_error: error("credentials_rejected") }).execute();
  if (failure === "REAUTHORIZATION_NEEDED") {
    const lost = {
      status: "needs_reauth",
      last_error: error(lostAuthorization),
      updated_at: now,
    } as const;
    await noted.set(lost).execute();
  }
}

/**
 * Binds secrets that are bound to no base URL yet to the first one that has taken them: from then
 * on they go nowhere else. Those that are bound already stay where they are.
 */
export async function bindToBaseUrl(
  db: Db,
  { id, workspace_id, version, base_url }: CredentialRow,
  baseUrl: string,
): Promise<void> {
  if (base_url !== null) return;
  await db
    .updateTable("credentials")
    .set({ base_url: baseUrl })
    .where("id", "=", id)
    .where("workspace_id", "=", workspace_id)
    .where("version", "=", version)
    .where("base_url", "is", null)
    .execute();
}
