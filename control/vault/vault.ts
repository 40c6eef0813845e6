import { type KeyObject, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../store/database.ts";
import { type Envelope, openEnvelope, rewrapEnvelope, type SealContext, sealEnvelope } from "./envelope.ts";
import { KeyFileError, type Keyring } from "./keyring.ts";

/** What is sealed: any JSON object. */
export type SecretValue = { readonly [name: string]: unknown };

/** What a sealed value belongs to; its version is the store's business. */
export type SecretOwner = Omit<SealContext, "version">;

/**
 * Where secrets are at rest. Values are written and opened, never changed in place: a new version is added and counts from
 * then on. Every method runs on the database or transaction that it is given.
 */
export interface Vault {
  /** Adds version `expectedVersion + 1`. False, and nothing written, when another version is there already. */
  put(db: Db, owner: SecretOwner, expectedVersion: number, value: SecretValue): Promise<boolean>;
  /** The latest version; undefined when there is none. @throws KeyFileError when its key is missing, Error when it was tampered with */
  open(db: Db, owner: SecretOwner): Promise<{ readonly version: number; readonly value: SecretValue } | undefined>;
  /** Destroys every version. */
  shred(db: Db, ownerId: string): Promise<void>;
  /**
   * Refuses to go on when a key is missing or is another one of the same name; notes a new current key.
   * @throws KeyFileError
   */
  verify(db: Db): Promise<void>;
  /** Wraps everything anew under the current key. Gives the ids of keys that nothing needs any more. */
  rewrap(db: Db): Promise<{ readonly count: number; readonly unused: readonly string[] }>;
  /** Takes another ring into use, after the key file has changed. */
  use(keyring: Keyring): void;
}

const canaryText = "svc vault canary";
const canaryContext = (kekId: string): SealContext => ({ workspaceId: "", ownerId: kekId, kind: "canary", version: 1 });

/** @param now for the time of each row */
export function createVault(initial: Keyring, now: () => Date, reload?: () => Promise<Keyring>): Vault {
  let keyring = initial;

  /** Another process may have rotated: the file is read once more before a key counts as missing. */
  const find = async (id: string) => {
    if (!keyring.find(id) && reload) keyring = await reload();
    const key = keyring.find(id);
    if (!key) throw new KeyFileError(`the key file lacks ${id}, under which secrets are sealed: restore it`);
    return key;
  };

  return {
    async put(db, owner, expectedVersion, value) {
      const version = expectedVersion + 1;
      const plaintext = Buffer.from(JSON.stringify(value));
      const envelope = sealEnvelope(keyring.current, { ...owner, version }, plaintext);
      plaintext.fill(0);
      const { kekId, wrappedDek, sealed } = envelope;
      const { ownerId, workspaceId, kind } = owner;
      // Nothing is inserted unless the expected version is the latest; the primary key decides between two who are first.
      const { numAffectedRows } = await sql`
        INSERT INTO secrets (owner_id, version, workspace_id, kind, kek_id, wrapped_dek, sealed, created_at)
        SELECT ${ownerId}::text, ${version}::integer, ${workspaceId}::text, ${kind}::text, ${kekId}::text,
          ${wrappedDek}::bytea, ${sealed}::bytea, ${now()}::timestamptz
        WHERE (SELECT coalesce(max(version), 0) FROM secrets WHERE owner_id = ${ownerId}::text) = ${expectedVersion}::integer
        ON CONFLICT DO NOTHING`.execute(db);
      return Number(numAffectedRows ?? 0) === 1;
    },

    async open(db, owner) {
      const row = await db
        .selectFrom("secrets")
        .selectAll()
        .where("owner_id", "=", owner.ownerId)
        .where("workspace_id", "=", owner.workspaceId)
        .orderBy("version", "desc")
        .limit(1)
        .executeTakeFirst();
      if (!row) return undefined;
      const plaintext = openEnvelope(await find(row.kek_id), { ...owner, version: row.version }, toEnvelope(row));
      return { version: row.version, value: JSON.parse(plaintext.toString()) as SecretValue };
    },

    async shred(db, ownerId) {
      await db.deleteFrom("secrets").where("owner_id", "=", ownerId).execute();
    },

    async verify(db) {
      const used = await db.selectFrom("secrets").select("kek_id").distinct().execute();
      for (const { kek_id } of used) await find(kek_id);
      const { current } = keyring;
      const { sealed, wrappedDek } = sealEnvelope(current, canaryContext(current.id), Buffer.from(canaryText));
      await db
        .insertInto("vault_keys")
        .values({
          kek_id: current.id,
          canary: Buffer.concat([Buffer.from([wrappedDek.length]), wrappedDek, sealed]),
          created_at: now(),
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      for (const { kek_id, canary } of await db.selectFrom("vault_keys").selectAll().execute()) {
        const key = keyring.find(kek_id);
        if (key && !opensCanary(key, Buffer.from(canary))) {
          throw new KeyFileError(
            `the key ${kek_id} in the key file is not the one that this database knows: restore it`,
          );
        }
      }
    },

    async rewrap(db) {
      const to = keyring.current;
      const rows = await db.selectFrom("secrets").selectAll().where("kek_id", "!=", to.id).execute();
      for (const row of rows) {
        const context = { workspaceId: row.workspace_id, ownerId: row.owner_id, kind: row.kind, version: row.version };
        const envelope = rewrapEnvelope(await find(row.kek_id), to, context, toEnvelope(row));
        await db
          .updateTable("secrets")
          .set({ kek_id: envelope.kekId, wrapped_dek: envelope.wrappedDek })
          .where("owner_id", "=", row.owner_id)
          .where("version", "=", row.version)
          .where("kek_id", "=", row.kek_id)
          .execute();
      }
      const used = await db.selectFrom("secrets").select("kek_id").distinct().execute();
      const known = await db.selectFrom("vault_keys").select("kek_id").execute();
      const unused = known
        .map(({ kek_id }) => kek_id)
        .filter((id) => id !== to.id && !used.some((one) => one.kek_id === id));
      return { count: rows.length, unused };
    },

    use(next) {
      keyring = next;
    },
  };
}

function toEnvelope(row: { kek_id: string; wrapped_dek: Uint8Array; sealed: Uint8Array }): Envelope {
  return { kekId: row.kek_id, wrappedDek: row.wrapped_dek, sealed: row.sealed };
}

function opensCanary(key: { id: string; key: KeyObject }, canary: Buffer): boolean {
  const length = canary[0] ?? 0;
  const envelope = { kekId: key.id, wrappedDek: canary.subarray(1, 1 + length), sealed: canary.subarray(1 + length) };
  try {
    const text = openEnvelope(key, canaryContext(key.id), envelope);
    return text.length === canaryText.length && timingSafeEqual(text, Buffer.from(canaryText));
  } catch {
    return false;
  }
}
