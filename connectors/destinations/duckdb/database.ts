import { mkdir, realpath, rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { basename, dirname, join } from "node:path";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { type DestinationStream, quoteText } from "svc-connectors/destination";
import { duckdbFailed } from "./failures.ts";

/** One file, open once in this process, for any number of writers and queries. */
export interface Database extends AsyncDisposable {
  /** Its name in SQL. */
  readonly name: string;
  /** The file's smallest unit. */
  readonly blockBytes: number;
  /**
   * A private folder for rows on their way: the only one that statements can read. Emptied when the
   * file is opened.
   */
  readonly stageFolder: string;
  connect(): Promise<DuckDBConnection>;
  /** Runs `work` in a transaction, one at a time; whatever it throws, nothing of it stays. */
  transaction<T>(connection: DuckDBConnection, work: () => Promise<T>): Promise<T>;
  /** Writes what is only in the log into the file, when nobody else writes. */
  checkpoint(connection: DuckDBConnection): Promise<void>;
  /**
   * Has DuckDB forget what the file has, which it would keep up to its limit. Does nothing while
   * the file has other users, whose statements may need the room.
   */
  trim(connection: DuckDBConnection): Promise<void>;
}

/** The tables that a new file is for. */
export interface Content {
  readonly tableCount?: number;
  /** Of its widest table. */
  readonly columnCount?: number;
}

/** The content that is written by these streams. */
export const contentOf = (streams: readonly DestinationStream[]): Content => ({
  tableCount: streams.length,
  columnCount: streams.reduce(
    (most, { configured: { stream } }) =>
      Math.max(most, Object.keys(stream.json_schema.properties ?? {}).length),
    0,
  ),
});

interface Opened {
  readonly instance: DuckDBInstance;
  readonly name: string;
  readonly blockBytes: number;
  readonly stageFolder: string;
}

interface Shared {
  readonly opening: Promise<Opened>;
  userCount: number;
  /** The last transaction; the next one waits for it. */
  queue: Promise<unknown>;
  /** The last time that memory was given back: no other connection begins meanwhile. */
  trimming: Promise<void>;
}

const files = new Map<string, Shared>();
/** Files that are being closed. */
const closing = new Map<string, Promise<void>>();

/**
 * Opens the file, or joins those in this process who have it open. DuckDB's own lock keeps other
 * processes off.
 * @param content about what there will be: a new file is laid out for it
 * @throws OUTPUT_BUSY, OUTPUT_FAILED
 */
export async function openDatabase(file: string, content: Content = {}): Promise<Database> {
  try {
    const path = join(await realpath(dirname(file)), basename(file));
    while (closing.has(path)) await closing.get(path);
    const shared = files.get(path) ?? {
      opening: open(path, content),
      userCount: 0,
      queue: Promise.resolve(),
      trimming: Promise.resolve(),
    };
    files.set(path, shared);
    shared.userCount += 1;
    try {
      return share(path, shared, await shared.opening);
    } catch (error) {
      await leave(path, shared);
      throw error;
    }
  } catch (error) {
    throw duckdbFailed(error);
  }
}

function share(
  path: string,
  shared: Shared,
  { instance, name, blockBytes, stageFolder }: Opened,
): Database {
  let isLeft = false;
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const done = shared.queue.then(work);
    shared.queue = done.catch(() => undefined);
    return done;
  };
  return {
    name,
    blockBytes,
    stageFolder,
    async connect() {
      await shared.trimming;
      return instance.connect();
    },
    transaction: (connection, work) =>
      alone(async () => {
        await connection.run("BEGIN");
        try {
          const result = await work();
          await connection.run("COMMIT");
          return result;
        } catch (error) {
          // A failed COMMIT has rolled back already; then there is nothing left to roll back.
          await connection.run("ROLLBACK").catch(() => undefined);
          throw error;
        }
      }),
    // It is refused while a query holds an old state of the file; the next one will do.
    checkpoint: (connection) => alone(() => connection.run("CHECKPOINT").then(nothing, nothing)),
    trim: (connection) =>
      alone(async () => {
        if (shared.userCount > 1) return;
        shared.trimming = (async () => {
          // It is refused where more is in use than that.
          await connection
            .run(`SET GLOBAL memory_limit = '${memory.least}'`)
            .then(nothing, nothing);
          await connection.run(`SET GLOBAL memory_limit = '${memory.most}'`);
        })();
        await shared.trimming;
      }),
    async [Symbol.asyncDispose]() {
      if (isLeft) return;
      isLeft = true;
      await shared.queue;
      await leave(path, shared);
    },
  };
}

const nothing = () => undefined;

/** The last one closes the file. */
async function leave(path: string, shared: Shared): Promise<void> {
  shared.userCount -= 1;
  if (shared.userCount > 0 || files.get(path) !== shared) return;
  files.delete(path);
  const close = async () => {
    const opened = await shared.opening.catch(() => undefined);
    opened?.instance.closeSync();
    if (opened) await rm(opened.stageFolder, { recursive: true, force: true });
  };
  const closed = close().finally(() => closing.delete(path));
  closing.set(path, closed);
  await closed;
}

/**
 * Every table takes at least one block of the file. From this many on blocks are small (16 KiB
 * instead of 256 KiB): 6,000 small tables take 140 MB instead of 1.6 GB. Blocks of that size cost
 * large tables a third of their compression.
 */
const manyTables = 200;
/**
 * Each column that is written has blocks of its own in memory, for its values and for which of them
 * are null: with large ones 2,000 columns fill all of it.
 */
const manyColumns = 500;

const hasManyParts = ({ tableCount = 1, columnCount = 1 }: Content) =>
  tableCount > manyTables || columnCount > manyColumns;

/**
 * The most is what rows may need while they are written: 2,048 of them lie in memory at once,
 * whatever their size.
 */
const memory = { least: "32MiB", most: "1GiB" } as const;

async function open(path: string, content: Content): Promise<Opened> {
  // Loaded only when needed: the native library costs about 30 ms.
  const { DuckDBInstance: Instance } = await import("@duckdb/node-api");
  // No extension is fetched from the network; json and icu are built in.
  const instance = await Instance.create(path, {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    memory_limit: memory.most,
    // One processor is left to the host and its worker. The thread of a statement waits for the
    // others by asking again and again.
    threads: String(Math.max(1, availableParallelism() - 1)),
    // The format of DuckDB 1.4, which has long-term support: older ones write many tables five
    // times slower.
    storage_compatibility_version: "v1.4.0",
    default_block_size: hasManyParts(content) ? "16384" : "262144",
  });
  try {
    const stageFolder = `${path}.svc-stage`;
    // DuckDB's lock is ours now, so what lies there was left by a process that was killed.
    await rm(stageFolder, { recursive: true, force: true });
    await mkdir(stageFolder, { mode: 0o700 });
    const connection = await instance.connect();
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    // From here on no statement, of whoever, reaches a file but the stage, or changes a setting but
    // the memory; whose statements are not ours can only be SELECT (query-rules.ts).
    await connection.run("SET GLOBAL allowed_configs = ['memory_limit']");
    await connection.run(`SET GLOBAL allowed_directories = [${quoteText(`${stageFolder}/`)}]`);
    await connection.run("SET GLOBAL enable_external_access = false");
    await connection.run("SET GLOBAL lock_configuration = true");
    const size = "SELECT database_name, block_size FROM pragma_database_size()";
    const [name, blockBytes] =
      (
        await connection.runAndReadAll(`${size} WHERE database_name = current_database()`)
      ).getRowsJson()[0] ?? [];
    connection.closeSync();
    return { instance, name: String(name), blockBytes: Number(blockBytes), stageFolder };
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}
