import { createId } from "../contract/ids.ts";
import type { Db } from "../store/database.ts";
import type { Vault } from "../vault/vault.ts";
import type { CredentialRow } from "./rows.ts";
import { type StoredSecret, secretOwner } from "./stored-secret.ts";

/** Time from taking a lease to opening the secret. */
const leaseMs = 60_000;

/**
 * Leave to open one credential once. Who queues work hands over a lease, never a secret; who does
 * the work redeems it. The rows say afterwards what each secret was opened for.
 */
export async function takeLease(
  db: Db,
  credential: CredentialRow,
  purpose: string,
  now: Date,
): Promise<string> {
  const id = createId("lease");
  await db
    .insertInto("leases")
    .values({
      id,
      workspace_id: credential.workspace_id,
      credential_id: credential.id,
      purpose,
      created_at: now,
      expires_at: new Date(now.getTime() + leaseMs),
      used_at: null,
    })
    .execute();
  return id;
}

/**
 * The secret, to the first who asks. Undefined: the lease was used, has expired, or the credential
 * is gone.
 */
export async function redeemLease(
  db: Db,
  vault: Vault,
  id: string,
  now: Date,
): Promise<{ readonly version: number; readonly secret: StoredSecret } | undefined> {
  const lease = await db
    .updateTable("leases")
    .set({ used_at: now })
    .where("id", "=", id)
    .where("used_at", "is", null)
    .where("expires_at", ">", now)
    .returning(["workspace_id", "credential_id"])
    .executeTakeFirst();
  if (!lease) return undefined;
  const opened = await vault.open(
    db,
    secretOwner({ id: lease.credential_id, workspace_id: lease.workspace_id }),
  );
  return opened && { version: opened.version, secret: opened.value as unknown as StoredSecret };
}
