/** The keys of a key file: changed while requests go on. */
import type { Database } from "../store/database.ts";
import { addKey, openKeyring, readKeyIds, removeKeys } from "./keyring.ts";
import type { Vault } from "./vault.ts";

interface Sealed {
  readonly database: Database;
  readonly vault: Vault;
}

/**
 * Adds a key to the file, then wraps everything under it. Other servers on the same database read
 * the file again when they meet the key. When it is cut short, it may simply be done again.
 */
export const rotateKeys = ({ database, vault }: Sealed, path: string) =>
  database.exclusively("keys", async () => {
    const keyring = await addKey(path);
    vault.use(keyring);
    await vault.verify(database.db);
    return { current: keyring.current.id, rewrapped: await vault.rewrap(database.db) };
  });

/** The keys of the file, and how many values each has sealed. */
export async function listKeys({ database: { db } }: Pick<Sealed, "database">, path: string) {
  const { current, ids } = await readKeyIds(path);
  const used = await db
    .selectFrom("secrets")
    .select(({ fn }) => ["kek_id", fn.countAll<string>().as("count")])
    .groupBy("kek_id")
    .execute();
  const known = await db.selectFrom("vault_keys").select(["kek_id", "created_at"]).execute();
  return ids.map((id) => ({
    key_id: id,
    current: id === current,
    secrets: Number(used.find(({ kek_id }) => kek_id === id)?.count ?? 0),
    used_since: known.find(({ kek_id }) => kek_id === id)?.created_at.toISOString() ?? null,
  }));
}

/**
 * Removes keys from the file that nothing is sealed under. The database is asked key by key, so
 * that none goes that is needed.
 */
export const pruneKeys = ({ database, vault }: Sealed, path: string) =>
  database.exclusively("keys", async () => {
    const { current, ids } = await readKeyIds(path);
    const removed: string[] = [];
    const kept: string[] = [];
    for (const id of ids.filter((one) => one !== current))
      ((await vault.forget(database.db, id)) ? removed : kept).push(id);
    if (removed.length > 0) await removeKeys(path, removed);
    vault.use(await openKeyring(path, { create: false }));
    return { removed, kept, current };
  });
