import { createHmac, randomBytes } from "node:crypto";
import type { Db } from "../store/database.ts";
import type { Vault } from "./vault.ts";

/**
 * Marks that tell values apart and say nothing of them: what is stored of a secret that may be
 * short is an HMAC, never a hash that somebody with the database could try words against.
 */
export interface Mac {
  /** Hex, 64 characters. `purpose` keeps marks of different uses apart. */
  of(purpose: string, text: string): string;
}

const owner = { workspaceId: "", ownerId: "system:mac", kind: "mac" };

/**
 * The key is made once for a database and sealed in it, so that it survives the rotation of the
 * operator's keys.
 */
export async function openMac(db: Db, vault: Vault): Promise<Mac> {
  await vault.put(db, owner, 0, { key: randomBytes(32).toString("base64") });
  const opened = await vault.open(db, owner);
  const key = Buffer.from(String(opened?.value.key ?? ""), "base64");
  if (key.length !== 32) throw new Error("the mac key is damaged");
  return {
    of: (purpose, text) =>
      createHmac("sha256", key)
        .update(JSON.stringify([purpose, text]))
        .digest("hex"),
  };
}
