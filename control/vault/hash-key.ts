import { randomBytes } from "node:crypto";
import type { Db } from "../store/database.ts";
import type { Vault } from "./vault.ts";

/**
 * The key of a workspace for hashed columns: made when it is first needed, and sealed from then on.
 * It goes to the host of a read and nowhere else.
 * @see docs/decisions/0039
 */
export async function openHashKey(db: Db, vault: Vault, workspaceId: string): Promise<Uint8Array> {
  const owner = { workspaceId, ownerId: `hash-key:${workspaceId}`, kind: "hash_key" };
  let found = await vault.open(db, owner);
  if (!found) {
    // Of two who are first, one is: both use what it made.
    await vault.put(db, owner, 0, { key: randomBytes(32).toString("base64") });
    found = await vault.open(db, owner);
  }
  const key = Buffer.from(String(found?.value.key ?? ""), "base64");
  if (key.length !== 32) throw new Error("the hash key of a workspace is damaged");
  return key;
}
