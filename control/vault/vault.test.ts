import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { createSecretRegistry } from "svc-connectors/host";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Database, openDatabase } from "../store/database.ts";
import { createMemoryKeyring, openKeyring } from "./keyring.ts";
import { listKeys, pruneKeys, rotateKeys } from "./keys.ts";
import { createVault, type SecretOwner, type Vault } from "./vault.ts";

const canary = "canary-of-a-sealed-value-0123456789-0123456789";
const owner: SecretOwner = { workspaceId: "ws_1", ownerId: "cred_1", kind: "credential" };

describe("the vault", () => {
  let folder: string;
  let keyFile: string;
  let database: Database;
  let vault: Vault;

  beforeAll(async () => {
    database = await openDatabase({});
  });
  beforeEach(async () => {
    await database.db.deleteFrom("secrets").execute();
    await database.db.deleteFrom("vault_keys").execute();
    folder = await mkdtemp(join(tmpdir(), "svc-vault-"));
    keyFile = join(folder, "keys.json");
    vault = await openVault();
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  afterAll(() => database[Symbol.asyncDispose]());

  /** As another server does: its own ring from the file. */
  async function openVault(): Promise<Vault> {
    const reload = () => openKeyring(keyFile, { create: false });
    const opened = createVault(
      await openKeyring(keyFile, { create: true }),
      () => new Date(),
      reload,
    );
    await opened.verify(database.db);
    return opened;
  }
  const put = (version: number, value: object, who = owner) =>
    vault.put(database.db, who, version, { ...value });

  test("gives back what was put last", async () => {
    expect(await vault.open(database.db, owner)).toBeUndefined();
    expect(await put(0, { token: "a" })).toBe(true);
    expect(await put(1, { token: "b" })).toBe(true);
    expect(await vault.open(database.db, owner)).toEqual({ version: 2, value: { token: "b" } });
  });

  test("takes one of several that write the same version", async () => {
    const results = await Promise.all([1, 2, 3, 4].map((index) => put(0, { index })));
    expect(results.filter(Boolean)).toHaveLength(1);
    expect(await put(0, { late: true })).toBe(false);
  });

  test("leaves no trace of a value in any row", async () => {
    await put(0, { token: canary });
    const rows = await database.db.selectFrom("secrets").selectAll().execute();
    const secrets = createSecretRegistry();
    secrets.add(canary);
    for (const { sealed, wrapped_dek } of rows)
      for (const bytes of [sealed, wrapped_dek])
        expect(secrets.contains(Buffer.from(bytes))).toBe(false);
    expect(secrets.contains(Buffer.from(JSON.stringify({ canary })))).toBe(true);
  });

  test.each([
    ["to another workspace", { workspace_id: "ws_2" }, { ...owner, workspaceId: "ws_2" }],
    ["to another credential", { owner_id: "cred_2" }, { ...owner, ownerId: "cred_2" }],
    ["to another kind", { kind: "approval" }, { ...owner, kind: "approval" }],
    ["to another version", { version: 7 }, owner],
  ] as const)("does not open a row that was moved %s", async (_, change, asked) => {
    await put(0, { token: canary });
    await database.db.updateTable("secrets").set(change).execute();
    await expect(vault.open(database.db, asked)).rejects.toThrow();
  });

  test("does not open a value of which one bit was changed", async () => {
    await put(0, { token: canary });
    const { sealed } = await database.db
      .selectFrom("secrets")
      .select("sealed")
      .executeTakeFirstOrThrow();
    for (const at of [0, 5, 20, sealed.length - 1]) {
      const changed = Buffer.from(sealed);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await database.db.updateTable("secrets").set({ sealed: changed }).execute();
      await expect(vault.open(database.db, owner)).rejects.toThrow();
    }
  });

  test("refuses to start without a key that something is sealed under, and with another one of its name", async () => {
    await put(0, { token: "a" });
    const other = createVault(createMemoryKeyring(), () => new Date());
    await expect(other.verify(database.db)).rejects.toThrow(/the key file lacks kek_/);
    const { current } = createMemoryKeyring();
    const known = (await openKeyring(keyFile, { create: false })).current.id;
    const forged = { current: { ...current, id: known }, find: () => ({ ...current, id: known }) };
    await expect(createVault(forged, () => new Date()).verify(database.db)).rejects.toThrow(
      /is not the one/,
    );
  });

  test("changes its keys while others read and write, without one failure", async () => {
    const owners = Array.from({ length: 30 }, (_, index) => ({
      ...owner,
      ownerId: `cred_${index}`,
    }));
    for (const one of owners) await put(0, { token: canary }, one);
    let isRunning = true;
    let readCount = 0;
    const work = async (server: Vault, isWriter: boolean) => {
      try {
        while (isRunning) {
          for (const one of owners) {
            const opened = await server.open(database.db, one);
            expect(opened?.value).toEqual({ token: canary });
            readCount += 1;
            // The embedded database answers without a turn of the event loop; requests come with
            // one.
            await setImmediate();
            if (isWriter)
              await server.put(database.db, one, opened?.version ?? 0, { token: canary });
          }
        }
      } finally {
        isRunning = false;
      }
    };
    const running = Promise.all([
      work(vault, false),
      work(await openVault(), true),
      work(await openVault(), false),
    ]);
    running.catch(() => undefined);
    try {
      for (let round = 0; round < 3; round += 1) {
        const until = readCount + 90;
        expect((await rotateKeys({ database, vault }, keyFile)).rewrapped).toBeGreaterThanOrEqual(
          owners.length,
        );
        await pruneKeys({ database, vault }, keyFile);
        while (isRunning && readCount < until) await setImmediate();
      }
    } finally {
      isRunning = false;
    }
    await running;
    expect(readCount).toBeGreaterThan(270);
  });

  test("keeps a key in the file as long as anything is sealed under it", async () => {
    await put(0, { token: "a" });
    const stale = await openVault();
    const { current } = await rotateKeys({ database, vault }, keyFile);
    const [old] = (await listKeys({ database }, keyFile)).filter((key) => !key.current);
    expect(old?.secrets).toBe(0);
    // A server that has not heard of the rotation writes under the old key.
    expect(await stale.put(database.db, { ...owner, ownerId: "cred_2" }, 0, { token: "b" })).toBe(
      true,
    );
    expect(await pruneKeys({ database, vault }, keyFile)).toEqual({
      removed: [],
      kept: [old?.key_id],
      current,
    });
    await vault.rewrap(database.db);
    expect((await pruneKeys({ database, vault }, keyFile)).removed).toEqual([old?.key_id]);
    // And afterwards it cannot.
    expect(await stale.put(database.db, { ...owner, ownerId: "cred_3" }, 0, { token: "c" })).toBe(
      true,
    );
    const rows = await database.db.selectFrom("secrets").select("kek_id").distinct().execute();
    expect(rows).toEqual([{ kek_id: current }]);
    expect(await listKeys({ database }, keyFile)).toMatchObject([
      { key_id: current, current: true, secrets: 3 },
    ]);
  });
});
