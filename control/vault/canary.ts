/** A known text, sealed under each key: another key of the same name does not open it. */
import { type KeyObject, timingSafeEqual } from "node:crypto";
import type { Db } from "../store/database.ts";
import { openEnvelope, type SealContext, sealEnvelope } from "./envelope.ts";
import { KeyFileError, type Keyring, type WrappingKey } from "./keyring.ts";

const canaryText = "svc vault canary";
const canaryContext = (kekId: string): SealContext => ({
  workspaceId: "",
  ownerId: kekId,
  kind: "canary",
  version: 1,
});

/** Writes down what a key is, so that another one of its name would be found out. */
export async function noteKey(db: Db, key: WrappingKey, now: Date): Promise<void> {
  const { sealed, wrappedDek } = sealEnvelope(key, canaryContext(key.id), Buffer.from(canaryText));
  const canary = Buffer.concat([Buffer.from([wrappedDek.length]), wrappedDek, sealed]);
  await db
    .insertInto("vault_keys")
    .values({ kek_id: key.id, canary, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** @throws KeyFileError when a key of the ring is not the one that the database knows */
export async function verifyKeys(db: Db, keyring: Keyring): Promise<void> {
  for (const { kek_id, canary } of await db.selectFrom("vault_keys").selectAll().execute()) {
    const key = keyring.find(kek_id);
    if (key && !opensCanary(key, Buffer.from(canary)))
      throw new KeyFileError(
        `the key ${kek_id} in the key file is not the one that this database knows: restore it`,
      );
  }
}

function opensCanary(key: { id: string; key: KeyObject }, canary: Buffer): boolean {
  const length = canary[0] ?? 0;
  const envelope = {
    kekId: key.id,
    wrappedDek: canary.subarray(1, 1 + length),
    sealed: canary.subarray(1 + length),
  };
  try {
    const text = openEnvelope(key, canaryContext(key.id), envelope);
    return text.length === canaryText.length && timingSafeEqual(text, Buffer.from(canaryText));
  } catch {
    return false;
  }
}
