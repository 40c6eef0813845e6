import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { ConfiguredStream, StreamDescriptor } from "../contract/catalog.ts";
import type { JsonValue } from "../contract/json.ts";
import { ConnectorError } from "../errors.ts";
import { type Column, columnsOf } from "./duckdb-columns.ts";
import { duckdbFailed, transaction } from "./duckdb-connection.ts";
import { alignTable, createTable, loadRows, type Table, tableName, widen } from "./duckdb-load.ts";
import { createStage, type Stage } from "./duckdb-stage.ts";
import { createStateTable, nextTable, readSavedTables, type SavedTable, saveTable } from "./duckdb-state.ts";
import {
  createCommitPace, descriptorOf, type Generation, type OutputOptions, type OutputSink, plannedState, planWrite, requireSameConnector, streamKey,
  type WritePlan, writing,
} from "./output.ts"; // biome-ignore format: a list of names
import { lockInProcess } from "./output-lock.ts";
import { quoteName, toSqlName } from "./output-names.ts";

/** A stream that is being written. */
interface OpenStream {
  readonly saved: SavedTable;
  readonly configured: ConfiguredStream;
  readonly plan: WritePlan;
  readonly columns: Column[];
  readonly keys: readonly Column[];
  readonly stage: Stage;
  /** Where the rows go: the table that people see, or the one beside it. */
  readonly target: Table;
  /** False until the first rows are loaded. */
  hasTable: boolean;
  rowCount: number;
  /** The generation as the last checkpoint left it; undefined when no checkpoint came that a later run can use. */
  covered: Generation | undefined;
}

/**
 * Keeps each stream in a table of the DuckDB file, in a schema named after its namespace, with `_svc_state` beside them.
 * Rows are gathered in a private file and loaded in bulk; rows and state are committed in one transaction, so a crash at any
 * moment leaves both or neither. A full refresh is built aside and swapped in when complete. An incremental read, and a full
 * refresh that goes on after an interruption, replace rows of the same primary key and add the others: a connector may give
 * some rows before its last checkpoint once more.
 * @throws OUTPUT_FAILED when the file cannot be used, is in use, or holds another connector's output.
 */
export async function openDuckdbOutput(
  file: string,
  { connectorId, clock, streamCount = 1 }: OutputOptions,
): Promise<OutputSink> {
  await writing(() => mkdir(dirname(file), { recursive: true }));
  const lock = lockInProcess(file);
  const stageFolder = `${file}.svc-stage`;
  let opened: DuckDBInstance | undefined;
  let connection: DuckDBConnection;
  let tables: SavedTable[];
  try {
    // Loaded only when needed: the native library costs about 30 ms.
    const duckdb = await import("@duckdb/node-api");
    // No extension is fetched from the network; json and icu are built in.
    opened = await duckdb.DuckDBInstance.create(file, {
      autoinstall_known_extensions: "false",
      autoload_known_extensions: "false",
      memory_limit: "1GiB",
      // The format of DuckDB 1.4, which has long-term support: older ones write many tables five times slower.
      storage_compatibility_version: "v1.4.0",
      default_block_size: streamCount > manyStreams ? "16384" : "262144",
    });
    connection = await opened.connect();
    await connection.run("SET TimeZone = 'UTC'");
    await createStateTable(connection);
    const saved = await readSavedTables(connection);
    requireSameConnector(saved.connectorId, connectorId);
    tables = saved.tables;
    // DuckDB's lock is ours now, so what lies there was left by a run that was killed.
    await rm(stageFolder, { recursive: true, force: true });
    await mkdir(stageFolder, { mode: 0o700 });
  } catch (error) {
    opened?.closeSync();
    lock[Symbol.dispose]();
    throw duckdbFailed(error);
  }

  const instance = opened;
  const byKey = new Map(tables.map((saved) => [streamKey(saved.stream), saved]));
  const taken = new Set(tables.map(({ table }) => nameKey(table)));
  const configuredStreams = new Map<string, ConfiguredStream>();
  const openStreams = new Map<string, OpenStream>();
  const pace = createCommitPace(clock);
  const nowText = () => new Date(clock.now()).toISOString();
  /** Tables and views that were there when the run began. */
  let existing: ReadonlySet<string> = new Set();
  let stageCount = 0;
  let endedCount = 0;
  let isClosed = false;

  function streamAt(stream: StreamDescriptor): OpenStream {
    const found = openStreams.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  }

  async function start(stream: StreamDescriptor): Promise<void> {
    const saved = byKey.get(streamKey(stream));
    const configured = configuredStreams.get(streamKey(stream));
    if (!saved || !configured) throw new ConnectorError("INTERNAL");
    const plan = planWrite(configured, saved.generations);
    const target = plan === "append" ? saved.table : nextTable(saved.table);
    const columns = columnsOf(configured);
    const hasTable = plan === "append" ? saved.generations.current !== undefined : plan === "resume";
    if (hasTable) await alignTable(connection, target, columns);
    else if (existing.has(nameKey(target))) await dropNext(saved);
    const isNested = columns.some(({ type }) => type === "JSON");
    const care = columns.some(({ isExact }) => isExact) ? "exact" : isNested ? "nested" : "none";
    const base = saved.generations[plan === "append" ? "current" : "next"];
    openStreams.set(streamKey(stream), {
      saved, configured, plan, columns, target, hasTable,
      keys: configured.sync_mode === "incremental" || plan === "resume" ? keyColumns(configured, columns) : [],
      stage: await createStage(join(stageFolder, `${stageCount++}.jsonl`), care),
      rowCount: base?.rowCount ?? 0,
      covered: undefined,
    }); // biome-ignore format: one line for what is known already
  }

  /** Forgets the copy aside; its rows and its state go together. */
  async function dropNext(saved: SavedTable): Promise<void> {
    delete saved.generations.next;
    await transaction(connection, async () => {
      await connection.run(`DROP TABLE IF EXISTS ${tableName(nextTable(saved.table))}`);
      await saveTable(connection, connectorId, saved, saved.generations, nowText());
    });
  }

  /**
   * Loads the staged rows, between `before` and `after`, in one transaction; columns are widened until every value fits.
   * The table is made in that transaction too: it is known to be ours from the moment it exists.
   */
  async function load(
    stream: OpenStream,
    target: Table,
    after: () => Promise<void>,
    before = async () => {},
  ): Promise<void> {
    const { columns, stage, keys } = stream;
    for (;;) {
      try {
        await transaction(connection, async () => {
          await before();
          if (!stream.hasTable) await createTable(connection, target, columns);
          if (stage.rowCount > 0) await loadRows(connection, target, columns, stage, keys, nowText());
          await after();
        });
        stream.hasTable = true;
        await stage.clear();
        return;
      } catch (error) {
        if (error instanceof ConnectorError || !(await widen(columns, stage, connection))) throw error;
        if (stream.hasTable) await alignTable(connection, target, columns);
      }
    }
  }

  async function commit(stream: OpenStream): Promise<void> {
    const { saved, plan, covered } = stream;
    const generations = {
      ...saved.generations,
      ...(covered ? { [plan === "append" ? "current" : "next"]: covered } : {}),
    };
    await load(stream, stream.target, () => saveTable(connection, connectorId, saved, generations, nowText()));
    Object.assign(saved.generations, generations);
    pace.committed();
  }

  async function complete(stream: OpenStream): Promise<void> {
    const { saved, configured, plan, target } = stream;
    const state = stream.covered?.state ?? saved.generations[plan === "append" ? "current" : "next"]?.state;
    const current = generationOf(stream, configured.sync_mode === "incremental" ? state : undefined);
    const save = () => saveTable(connection, connectorId, saved, { current }, nowText());
    const dropOld = async () => void (await connection.run(`DROP TABLE IF EXISTS ${tableName(saved.table)}`));
    if (plan === "append") await load(stream, target, save);
    // All rows are still staged, as of most tables of a large database: no copy aside is needed.
    else if (!stream.hasTable) await load(stream, saved.table, save, dropOld);
    else {
      await load(stream, target, async () => {
        await dropOld();
        await connection.run(`ALTER TABLE ${tableName(target)} RENAME TO ${quoteName(saved.table.name)}`);
        await save();
      });
    }
    delete saved.generations.next;
    saved.generations.current = current;
    pace.committed();
    endedCount += 1;
    if (endedCount % checkpointEvery === 0) await connection.run("CHECKPOINT");
  }

  /** Keeps what the last checkpoint covers; a copy that nothing can resume is removed. */
  async function abandon(stream: OpenStream): Promise<void> {
    await stream.stage.cutToCovered();
    if (stream.covered) await commit(stream);
    else if (stream.plan === "restart" && stream.hasTable) await dropNext(stream.saved);
  }

  async function end(stream: StreamDescriptor, finish: (stream: OpenStream) => Promise<void>): Promise<void> {
    const ended = streamAt(stream);
    openStreams.delete(streamKey(stream));
    try {
      await finish(ended);
    } finally {
      await ended.stage.remove();
    }
  }

  return {
    lineFormat: "rows",
    savedState(streams) {
      return streams.flatMap((configured) => {
        const stream = descriptorOf(configured);
        const generations = byKey.get(streamKey(stream))?.generations;
        const state = generations && plannedState(planWrite(configured, generations), generations);
        return state === undefined ? [] : [{ stream, state }];
      });
    },
    location(stream) {
      const saved = byKey.get(streamKey(stream));
      if (!saved?.generations.current) return "";
      return saved.table.schema === "main" ? quoteName(saved.table.name) : tableName(saved.table);
    },
    open: (streams) =>
      working(async () => {
        existing = await readTableNames(connection);
        for (const configured of streams) {
          const stream = descriptorOf(configured);
          configuredStreams.set(streamKey(stream), configured);
          if (byKey.has(streamKey(stream))) continue;
          const table = chooseTable(stream, taken);
          if (existing.has(nameKey(table))) {
            const reason = `the table ${tableName(table)} is there already and svc did not write it`;
            throw new ConnectorError("OUTPUT_FAILED", { reason });
          }
          taken.add(nameKey(table));
          byKey.set(streamKey(stream), { stream, table, generations: {} });
        }
      }),
    write: (stream, lines, rowCount) =>
      working(async () => {
        const open = streamAt(stream);
        await open.stage.add(lines, rowCount);
        open.rowCount += rowCount;
        // Before the first checkpoint nothing would resume from the copy aside, so it may run ahead: the stage stays small.
        const isFree = open.plan === "restart" && !open.covered && !open.saved.generations.next;
        if (isFree && open.stage.rowCount >= bulkRows) await load(open, open.target, async () => {});
      }),
    checkpoint: (stream, state, rowCount) =>
      working(async () => {
        const open = streamAt(stream);
        pace.add(rowCount);
        const { sync_mode, stream: described } = open.configured;
        if (sync_mode === "full_refresh" && !described.is_resumable) return;
        open.covered = generationOf(open, state);
        open.stage.markCovered();
        if (pace.isDue("checkpoint")) await commit(open);
      }),
    status: (stream, status) =>
      working(() => (status === "started" ? start(stream) : end(stream, status === "complete" ? complete : abandon))),
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        await working(async () => {
          for (const { saved } of [...openStreams.values()]) await end(saved.stream, abandon);
        });
      } finally {
        connection.closeSync();
        instance.closeSync();
        await rm(stageFolder, { recursive: true, force: true });
        lock[Symbol.dispose]();
      }
    },
  };
}

/**
 * Every table takes at least one block of the file. From this many on blocks are small (16 KiB instead of 256 KiB): 6,000 small
 * tables take 140 MB instead of 1.6 GB. Blocks of that size cost large tables a third of their compression.
 */
const manyStreams = 200;

/** Tables that are not yet checkpointed are held in memory, about 0.5 MB each; DuckDB itself looks at the rows only. */
const checkpointEvery = 500;

/** Rows loaded at a time where no checkpoint decides it. */
const bulkRows = 100_000;

/** Runs `work` and turns whatever it throws into OUTPUT_FAILED. */
async function working<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw duckdbFailed(error);
  }
}

function generationOf({ configured, rowCount }: OpenStream, state: JsonValue | undefined): Generation {
  return { mode: configured.sync_mode, rowCount, ...(state === undefined ? {} : { state }) };
}

const nameKey = ({ schema, name }: Table) => `${schema}.${name}`.toLowerCase();

/** The columns that identify a row, when they are columns at all and not paths into an object. */
function keyColumns({ stream, primary_key }: ConfiguredStream, columns: readonly Column[]): Column[] {
  const paths = primary_key?.length ? primary_key : stream.source_defined_primary_key;
  const keys = paths.map(([property, ...rest]) =>
    rest.length > 0 ? undefined : columns.find((column) => column.property === property),
  );
  return keys.every((key) => key !== undefined) ? keys : [];
}

/** Schemas that DuckDB keeps for itself. */
const ownSchemas = new Set(["information_schema", "pg_catalog"]);

/** Streams whose names differ in case only get different tables. */
function chooseTable({ name, namespace }: StreamDescriptor, taken: ReadonlySet<string>): Table {
  const schema = namespace === undefined ? "main" : toSqlName(namespace, ownSchemas);
  return { schema, name: toSqlName(name, { has: (other) => taken.has(nameKey({ schema, name: other })) }) };
}

async function readTableNames(connection: DuckDBConnection): Promise<ReadonlySet<string>> {
  const result = await connection.runAndReadAll(`
    SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = current_database()
    UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE database_name = current_database() AND NOT internal`);
  return new Set(result.getRowsJson().map(([schema, name]) => nameKey({ schema: String(schema), name: String(name) })));
}
