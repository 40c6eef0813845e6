import { addKey, openKeyring, readKeyIds, removeKeys } from "../vault/keyring.ts";
import type { AdminContext } from "./actions.ts";
import { AdminError } from "./admin-error.ts";

type NoInput = Readonly<Record<never, never>>;

/**
 * A new key for everything: it is added to the key file, then everything is wrapped under it, while
 * requests go on. Other servers on the same database read the file again when they meet the key.
 * When it is cut short, it may simply be done again.
 */
export async function rotateKeys(
  { services: { database, vault }, keyFile }: AdminContext,
  _input: NoInput,
) {
  const path = requireFile(keyFile);
  return database.exclusively("keys", async () => {
    const keyring = await addKey(path);
    vault.use(keyring);
    await vault.verify(database.db);
    return { current: keyring.current.id, rewrapped: await vault.rewrap(database.db) };
  });
}

/** The keys of the file, and how many values each has sealed. */
export async function listKeys({ services: { database }, keyFile }: AdminContext, _input: NoInput) {
  const { current, ids } = await readKeyIds(requireFile(keyFile));
  const used = await database.db
    .selectFrom("secrets")
    .select(({ fn }) => ["kek_id", fn.countAll<string>().as("count")])
    .groupBy("kek_id")
    .execute();
  const known = await database.db
    .selectFrom("vault_keys")
    .select(["kek_id", "created_at"])
    .execute();
  return {
    keys: ids.map((id) => ({
      key_id: id,
      current: id === current,
      secrets: Number(used.find(({ kek_id }) => kek_id === id)?.count ?? 0),
      used_since: known.find(({ kek_id }) => kek_id === id)?.created_at.toISOString() ?? null,
    })),
  };
}

/**
 * Removes keys from the file that nothing is sealed under. The database is asked key by key, so
 * that none goes that is needed.
 */
export async function pruneKeys(
  { services: { database, vault }, keyFile }: AdminContext,
  _input: NoInput,
) {
  const path = requireFile(keyFile);
  return database.exclusively("keys", async () => {
    const { current, ids } = await readKeyIds(path);
    const removed: string[] = [];
    const kept: string[] = [];
    for (const id of ids.filter((one) => one !== current))
      ((await vault.forget(database.db, id)) ? removed : kept).push(id);
    if (removed.length > 0) await removeKeys(path, removed);
    vault.use(await openKeyring(path, { create: false }));
    return { removed, kept, current };
  });
}

function requireFile(path: string | undefined): string {
  if (path === undefined) throw new AdminError("the keys of this server live in memory");
  return path;
}
