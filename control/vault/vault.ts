import { type Selectable, sql } from "kysely";
import type { Db } from "../store/database.ts";
import type { Tables } from "../store/tables.ts";
import { noteKey, verifyKeys } from "./canary.ts";
import {
  type Envelope,
  openEnvelope,
  rewrapEnvelope,
  type SealContext,
  sealEnvelope,
} from "./envelope.ts";
import { KeyFileError, type Keyring, type WrappingKey } from "./keyring.ts";

/** A value that is sealed: any JSON object. */
export type SecretValue = { readonly [name: string]: unknown };

/** The owner of a sealed value; its version is the store's business. */
export type SecretOwner = Omit<SealContext, "version">;

/**
 * Where secrets are at rest. Values are written and opened, never changed in place: a new version
 * is added and counts from then on. Every method runs on the database or transaction that it is
 * given.
 */
export interface Vault {
  /**
   * Adds version `expectedVersion + 1`. False, and nothing written, when another version is there
   * already.
   */
  put(db: Db, owner: SecretOwner, expectedVersion: number, value: SecretValue): Promise<boolean>;
  /**
   * The latest version; undefined when there is none.
   * @throws KeyFileError when its key is missing, Error when it was tampered with
   */
  open(
    db: Db,
    owner: SecretOwner,
  ): Promise<{ readonly version: number; readonly value: SecretValue } | undefined>;
  /** Destroys every version. */
  shred(db: Db, ownerId: string): Promise<void>;
  /**
   * Refuses to go on when a key is missing or is another one of the same name; notes a new current
   * key.
   * @throws KeyFileError
   */
  verify(db: Db): Promise<void>;
  /**
   * Wraps everything anew under the current key, while others read and write. Gives how many values
   * that were.
   */
  rewrap(db: Db): Promise<number>;
  /**
   * Takes leave of a key that nothing is sealed under. False, and nothing is done, when something
   * is, also as of this moment.
   */
  forget(db: Db, kekId: string): Promise<boolean>;
  /** Takes another ring into use, after the key file has changed. */
  use(keyring: Keyring): void;
}

/** Values that are wrapped anew at a time. */
const batchSize = 500;
/** SQLSTATE of PostgreSQL. */
const foreignKeyViolation = "23503";

/** @param now for the time of each row */
export function createVault(
  initial: Keyring,
  now: () => Date,
  reload?: () => Promise<Keyring>,
): Vault {
  let keyring = initial;

  /**
   * Another process may have rotated: the file is read once more before a key counts as missing.
   */
  const find = async (id: string) => {
    if (!keyring.find(id) && reload) keyring = await reload();
    const key = keyring.find(id);
    if (!key)
      throw new KeyFileError(
        `the key file lacks ${id}, under which secrets are sealed: restore it`,
      );
    return key;
  };

  /** False: another version is there, or the database has taken leave of the current key. */
  const insert = (db: Db, owner: SecretOwner, version: number, plaintext: Uint8Array) =>
    insertVersion(db, sealEnvelope(keyring.current, { ...owner, version }, plaintext), {
      ...owner,
      version,
      createdAt: now(),
    });

  /**
   * Another process has rotated, and has pruned the key that is current here: the file tells which
   * one is now.
   */
  const retry = async (db: Db, owner: SecretOwner, version: number, plaintext: Uint8Array) => {
    if (await isKnown(db, keyring.current.id)) return false;
    if (reload) keyring = await reload();
    await noteKey(db, keyring.current, now());
    return insert(db, owner, version, plaintext);
  };

  return {
    async put(db, owner, expectedVersion, value) {
      const version = expectedVersion + 1;
      const plaintext = Buffer.from(JSON.stringify(value));
      const isPut =
        (await insert(db, owner, version, plaintext)) ||
        (await retry(db, owner, version, plaintext));
      plaintext.fill(0);
      return isPut;
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
      const plaintext = openEnvelope(
        await find(row.kek_id),
        { ...owner, version: row.version },
        toEnvelope(row),
      );
      return { version: row.version, value: JSON.parse(plaintext.toString()) as SecretValue };
    },

    async shred(db, ownerId) {
      await db.deleteFrom("secrets").where("owner_id", "=", ownerId).execute();
    },

    async verify(db) {
      const used = await db.selectFrom("secrets").select("kek_id").distinct().execute();
      for (const { kek_id } of used) await find(kek_id);
      await noteKey(db, keyring.current, now());
      await verifyKeys(db, keyring);
    },

    async rewrap(db) {
      const to = keyring.current;
      let count = 0;
      while (true) {
        const rows = await db
          .selectFrom("secrets")
          .selectAll()
          .where("kek_id", "!=", to.id)
          .limit(batchSize)
          .execute();
        if (rows.length === 0) return count;
        count += rows.length;
        for (const row of rows) await rewrapRow(db, await find(row.kek_id), to, row);
      }
    },

    forget: forgetKey,

    use(next) {
      keyring = next;
    },
  };
}

/**
 * Nothing is inserted unless the version before is the latest, and the key is one that the database
 * has not taken leave of.
 */
async function insertVersion(
  db: Db,
  { kekId, wrappedDek, sealed }: Envelope,
  { ownerId, workspaceId, kind, version, createdAt }: SealContext & { readonly createdAt: Date },
): Promise<boolean> {
  // The primary key decides between two who are first.
  const { numAffectedRows } = await sql`
    INSERT INTO secrets (owner_id, version, workspace_id, kind, kek_id, wrapped_dek, sealed, created_at)
    SELECT ${ownerId}::text, ${version}::integer, ${workspaceId}::text, ${kind}::text, ${kekId}::text,
      ${wrappedDek}::bytea, ${sealed}::bytea, ${createdAt}::timestamptz
    WHERE (SELECT coalesce(max(version), 0) FROM secrets WHERE owner_id = ${ownerId}::text) = ${version - 1}::integer
      AND EXISTS (SELECT FROM vault_keys WHERE kek_id = ${kekId}::text)
    ON CONFLICT DO NOTHING`.execute(db);
  return Number(numAffectedRows ?? 0) === 1;
}

/** Deletes a key's row; the database itself keeps one that anything is sealed under. */
async function forgetKey(db: Db, kekId: string): Promise<boolean> {
  const isSealedUnder = db.selectFrom("secrets").select("kek_id").where("kek_id", "=", kekId);
  try {
    await db
      .deleteFrom("vault_keys")
      .where("kek_id", "=", kekId)
      .where(({ not, exists }) => not(exists(isSealedUnder)))
      .execute();
  } catch (error) {
    if ((error as { code?: unknown }).code === foreignKeyViolation) return false;
    throw error;
  }
  return !(await isKnown(db, kekId));
}

async function isKnown(db: Db, kekId: string): Promise<boolean> {
  return (
    (await db
      .selectFrom("vault_keys")
      .select("kek_id")
      .where("kek_id", "=", kekId)
      .executeTakeFirst()) !== undefined
  );
}

/** The value itself stays closed. A row that has changed meanwhile is left to who changed it. */
async function rewrapRow(
  db: Db,
  from: WrappingKey,
  to: WrappingKey,
  row: Selectable<Tables["secrets"]>,
): Promise<void> {
  const context = {
    workspaceId: row.workspace_id,
    ownerId: row.owner_id,
    kind: row.kind,
    version: row.version,
  };
  const { kekId, wrappedDek } = rewrapEnvelope(from, to, context, toEnvelope(row));
  await db
    .updateTable("secrets")
    .set({ kek_id: kekId, wrapped_dek: wrappedDek })
    .where("owner_id", "=", row.owner_id)
    .where("version", "=", row.version)
    .where("kek_id", "=", row.kek_id)
    .execute();
}

function toEnvelope(row: {
  kek_id: string;
  wrapped_dek: Uint8Array;
  sealed: Uint8Array;
}): Envelope {
  return { kekId: row.kek_id, wrappedDek: row.wrapped_dek, sealed: row.sealed };
}
