/**
 * The database of the control layer: embedded in the process (PGlite, one process per folder) or
 * PostgreSQL, shared by any number of servers and workers. The same migrations and queries run on
 * both.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { Socket } from "node:net";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import { Migrator } from "kysely/migration";
import { type Client, Pool, type PoolClient, type PoolConfig } from "pg";
import { lockFile } from "svc-connectors/host";
import { embeddedMemory, initParams, unpackCluster } from "./empty-cluster.ts";
import { migrations } from "./migrations/index.ts";
import { createLocalNotifications, listenOnPostgres, type Notifications } from "./notifications.ts";
import { createPgliteDialect } from "./pglite-dialect.ts";
import type { Tables } from "./tables.ts";

/** The database, or a transaction: a query runs on either. */
export type Db = Kysely<Tables> | Transaction<Tables>;

export interface Database extends AsyncDisposable {
  readonly kind: "embedded" | "postgres";
  readonly db: Kysely<Tables>;
  /**
   * Runs `work` while nobody else, here or in another process, runs one with this key. The lock
   * ends with its process. `work` may wait for providers: no transaction of its own is open
   * meanwhile.
   */
  exclusively<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Between the processes that have it open. */
  readonly notifications: Notifications;
  /** Whether it answers. */
  isReady(): Promise<boolean>;
}

export type DatabaseOptions =
  /**
   * Embedded, in a folder of its own; without one, in memory. `image`: begins as the copy of
   * another one that `dumpDataDir` has made.
   */
  | { readonly folder?: string; readonly image?: Blob }
  /** `postgres://…` */
  | { readonly url: string; readonly maxConnections?: number };

/**
 * Opens the database and brings its tables up to date; servers that start together do that one
 * after another.
 * @throws OUTPUT_FAILED when another process has the folder open
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if ("url" in options) {
    // Changing tables may take longer than a request may, and so may waiting for the server that
    // does it.
    await using migrating = openPostgres(options.url, {
      max: 1,
      statement_timeout: 0,
      lock_timeout: 0,
    });
    await migrate(migrating.db);
    return openPostgres(options.url, { max: options.maxConnections ?? 10 });
  }
  const opened = await openEmbedded(options);
  try {
    await migrate(opened.db);
    return opened;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    throw error;
  }
}

async function openEmbedded({
  folder,
  image,
}: {
  folder?: string | undefined;
  image?: Blob | undefined;
}): Promise<Database> {
  let lock: Disposable | undefined;
  if (folder !== undefined) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    lock = lockFile(join(folder, "lock"));
  }
  const dataDir = folder === undefined ? undefined : join(folder, "database");
  if (dataDir !== undefined && !image && !existsSync(dataDir)) await unpackCluster(dataDir);
  const pglite = await PGlite.create({
    ...(dataDir === undefined ? {} : { dataDir }),
    ...(image ? { loadDataDir: image } : {}),
    initDbStartParams: initParams,
    startParams: [
      ...PGlite.defaultStartParams,
      ...embeddedMemory.flatMap((setting) => ["-c", setting]),
    ],
  });
  const db = new Kysely<Tables>({ dialect: createPgliteDialect(pglite) });
  return {
    kind: "embedded",
    db,
    exclusively: createLine(),
    notifications: createLocalNotifications(),
    isReady: () => answers(db),
    async [Symbol.asyncDispose]() {
      await db.destroy();
      lock?.[Symbol.dispose]();
    },
  };
}

/** Ends what hangs before those who wait for it have gone. */
const patience = {
  connectionTimeoutMillis: 10_000,
  statement_timeout: 30_000,
  lock_timeout: 20_000,
  idle_in_transaction_session_timeout: 30_000,
};

/**
 * Longer than any statement may take: a connection on which nothing comes or goes for so long leads
 * nowhere.
 */
const silenceMs = 45_000;

function openPostgres(url: string, options: PoolConfig): Database {
  const pool = createPool({ connectionString: url, ...patience, ...options });
  // A host that is cut off from the database is told nothing: TCP alone would let it wait for a
  // quarter of an hour.
  if (options.statement_timeout !== 0)
    pool.on("connect", (client) => endWhenSilent(client as unknown as Client));
  // Locks have connections of their own: whoever holds one and needs a query must not wait for
  // those who wait for the lock.
  const locks = createPool({
    connectionString: url,
    max: 20,
    connectionTimeoutMillis: 10_000,
    allowExitOnIdle: true,
  });
  const inProcess = createLine();
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({
      pool: { connect: () => connect(pool), end: () => pool.end(), options: {} },
    }),
  });
  return {
    kind: "postgres",
    db,
    exclusively: (key, work) =>
      inProcess(key, async () => {
        const client = await connect(locks);
        const id = createHash("sha256").update(key).digest().readBigInt64BE();
        try {
          await client.query("SELECT pg_advisory_lock($1)", [id]);
          return await work();
        } finally {
          await client.query("SELECT pg_advisory_unlock_all()").then(
            () => client.release(),
            () => client.release(true),
          );
        }
      }),
    notifications: {
      notify: (channel) =>
        sql`SELECT pg_notify(${channel}, '')`.execute(db).then(
          () => undefined,
          () => undefined,
        ),
      listen: (channel, onNotification) => listenOnPostgres(url, channel, onNotification),
    },
    isReady: () => answers(db),
    async [Symbol.asyncDispose]() {
      await Promise.all([db.destroy(), locks.end()]);
    },
  };
}

function endWhenSilent({ connection: { stream } }: Client): void {
  if (stream instanceof Socket) stream.setTimeout(silenceMs, () => stream.destroy());
}

function createPool(options: PoolConfig): Pool {
  const pool = new Pool(options);
  // A connection that breaks is replaced by the next query. Who uses it learns of that by the
  // query; who uses it and asks nothing at the moment must not bring the process down.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** @throws Error with a code of a lost connection when none is free, or none can be had */
async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (error instanceof Error && "code" in error) throw error;
    throw Object.assign(new Error("no connection to the database is free"), { code: "ECONNBUSY" });
  }
}

/** Runs works with one key one after another. */
function createLine(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const ends = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const before = ends.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const end = mine.catch(() => undefined);
    ends.set(key, end);
    try {
      return await mine;
    } finally {
      if (ends.get(key) === end) ends.delete(key);
    }
  };
}

async function answers(db: Kysely<Tables>): Promise<boolean> {
  try {
    await sql`SELECT 1`.execute(db);
    return true;
  } catch {
    return false;
  }
}

/** Brings the tables up to date. */
export async function migrate(db: Kysely<Tables>): Promise<void> {
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => ({ ...migrations }) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
