/** Which rows of a table the source has no more: its keys, against those that the source has. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { ConnectorError } from "svc-connectors";
import {
  type CompareCommand,
  type ComparedKeys,
  type DestinationStream,
  deletedAtColumn,
  deletesRefusal,
  descriptorOf,
  ownColumns,
  quoteName,
  requireKeys,
  type Sink,
  type StreamDescriptor,
  streamColumns,
  streamKey,
  unreadableKeys,
} from "svc-connectors/destination";
import { appendRows } from "./append.ts";
import { type Column, type TableColumn, toColumn } from "./columns.ts";
import { contentOf, openDatabase } from "./database.ts";
import { working } from "./failures.ts";
import { batchNeeds } from "./fit.ts";
import { widenTexts, widenToRows } from "./load.ts";
import { openTables } from "./opening.ts";
import type { DuckdbContext } from "./spec.ts";
import { createStage, type Stage, type StagedBatch } from "./stage.ts";
import { readColumns, type Table, tableName, widenedTo, widenToTable } from "./tables.ts";
import { inFencedTransaction, type Writing } from "./writing.ts";

/** A stream whose keys arrive. */
interface KeyStream {
  readonly ordered: DestinationStream;
  /** Undefined: there are no rows yet. */
  readonly table: Table | undefined;
  /** Columns of the key, as wide as those of the table. */
  readonly columns: readonly Column[];
  readonly stage: Stage;
  hasUnreadable: boolean;
}

/** @throws as Destination.compareKeys says */
export async function openComparison(
  { path, config, clock }: DuckdbContext,
  command: CompareCommand,
): Promise<Sink> {
  for (const { configured } of command.streams) requireKeys(configured);
  const database = await openDatabase(path, contentOf(command.streams));
  try {
    const opened = await working(() => openTables(database, command, config.schema));
    const at = new Date(clock.now()).toISOString();
    return createSink({ ...opened, database, at }, command);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

interface Comparing extends Pick<Writing, "database" | "connection" | "checkFence" | "tables"> {
  /** When rows are noticed to be gone. */
  readonly at: string;
}

function createSink(comparing: Comparing, command: CompareCommand): Sink {
  const { database, connection } = comparing;
  const ordered = new Map(
    command.streams.map((one) => [streamKey(descriptorOf(one.configured)), one]),
  );
  const open = new Map<string, KeyStream>();
  const at = (stream: StreamDescriptor): KeyStream => {
    const found = open.get(streamKey(stream));
    if (!found) throw new ConnectorError("INTERNAL");
    return found;
  };
  const take = async (stream: StreamDescriptor, batch: StagedBatch, hasUnreadable: boolean) => {
    const keys = at(stream);
    keys.hasUnreadable ||= hasUnreadable;
    const wanted = new Set(keys.columns.map(({ property }) => property));
    const own = batch.columns.filter(({ name }) => wanted.has(name));
    const rows = { rowCount: batch.rowCount, columns: own };
    await keys.stage.add(rows, batchNeeds(rows, keys.columns));
  };
  const end = async (stream: StreamDescriptor, isComplete: boolean) => {
    const keys = at(stream);
    open.delete(streamKey(stream));
    try {
      if (isComplete) command.onCompared(await compare(comparing, command, keys));
    } finally {
      await keys.stage.remove();
    }
  };
  let isClosed = false;
  return {
    lineFormat: "rows",
    async open() {},
    // Only the key is read: a value that did not fit is one of it.
    writeBatch: (stream, { rowCount, columns, notes }) =>
      working(() => take(stream, { rowCount, columns }, notes.length > 0)),
    async checkpoint() {},
    status: (stream, status) =>
      working(async () => {
        if (status !== "started") return end(stream, status === "complete");
        const found = ordered.get(streamKey(stream));
        if (!found) throw new ConnectorError("INTERNAL");
        const stage = createStage(join(database.stageFolder, randomUUID()));
        open.set(streamKey(stream), await openKeys(comparing, found, stage));
      }),
    async close() {
      if (isClosed) return;
      isClosed = true;
      try {
        for (const { stage } of open.values()) await stage.remove();
      } finally {
        connection.closeSync();
        await database[Symbol.asyncDispose]();
      }
    },
  };
}

async function openKeys(
  { tables, connection }: Comparing,
  ordered: DestinationStream,
  stage: Stage,
): Promise<KeyStream> {
  const { configured } = ordered;
  const saved = tables.get(streamKey(descriptorOf(configured)));
  const keys = new Set(requireKeys(configured).keys);
  const columns = streamColumns(configured, saved?.columns)
    .filter(({ property }) => keys.has(property))
    .map(toColumn);
  const table = saved?.generations.current && saved.table;
  if (table) widenToTable(columns, await readColumns(connection, table));
  return { ordered, table, columns, stage, hasUnreadable: false };
}

/** Marks or removes what is gone, in one transaction. */
async function compare(
  comparing: Comparing,
  command: CompareCommand,
  keys: KeyStream,
): Promise<ComparedKeys> {
  const { table, columns, stage, hasUnreadable } = keys;
  const stream = descriptorOf(keys.ordered.configured);
  const nothing = { stream, deletedCount: 0, returnedCount: 0 };
  if (!table) return nothing;
  if (hasUnreadable) return { ...nothing, refusal: unreadableKeys };
  for (;;) {
    try {
      let compared: ComparedKeys = nothing;
      await inFencedTransaction(comparing, async () => {
        compared = { stream, ...(await follow(comparing, command, keys, table)) };
      });
      return compared;
    } catch (error) {
      const isRefused = error instanceof ConnectorError;
      if (isRefused || !(await widenTexts(comparing.connection, columns, stage))) throw error;
    }
  }
}

const keyTable: Table = { database: "temp", schema: "main", name: "_svc_keys" };
const mark = `known.${quoteName(deletedAtColumn)}`;

async function follow(
  { connection, at }: Comparing,
  { jobId, isConfirmed = false }: CompareCommand,
  { columns, stage, ordered }: KeyStream,
  table: Table,
): Promise<Omit<ComparedKeys, "stream">> {
  const before = await readColumns(connection, table);
  widenToTable(columns, before);
  widenToRows(columns, stage);
  await fillKeys(connection, columns, stage);
  const target = `${tableName(table)} AS known`;
  const isSoft = ordered.detectDeletes === "soft";
  const wasMarked = before.some(({ name }) => name.toLowerCase() === deletedAtColumn);
  if (isSoft && !wasMarked)
    await connection.run(
      `ALTER TABLE ${tableName(table)} ADD COLUMN ${quoteName(deletedAtColumn)} TIMESTAMPTZ`,
    );
  const hasMark = isSoft || wasMarked;
  const isThere = `EXISTS (SELECT 1 FROM ${tableName(keyTable)} AS keys WHERE ${isSameKey(columns, before)})`;
  const hasKey = columns.map(({ name }) => `known.${quoteName(name)} IS NOT NULL`).join(" AND ");
  const isGone = `${hasKey} AND known.${ownColumns.jobId} IS DISTINCT FROM $1 AND NOT ${isThere}`;
  const isUnmarked = hasMark ? `${mark} IS NULL` : "true";
  const returned = hasMark
    ? await connection.run(
        `UPDATE ${target} SET ${quoteName(deletedAtColumn)} = NULL WHERE ${mark} IS NOT NULL AND ${isThere}`,
      )
    : { rowsChanged: 0 };
  const count = async (condition: string, values: string[] = []) => {
    const sql = `SELECT count(*) FROM ${target} WHERE ${condition}`;
    return Number((await connection.runAndReadAll(sql, values)).getRows()[0]?.[0]);
  };
  const counts = {
    keyCount: stage.rowCount,
    rowCount: await count(isUnmarked),
    goneCount: await count(`${isUnmarked} AND ${isGone}`, [jobId]),
  };
  const refusal = isConfirmed ? undefined : deletesRefusal(counts);
  const gone =
    refusal !== undefined
      ? { rowsChanged: 0 }
      : isSoft
        ? await connection.run(
            `UPDATE ${target} SET ${quoteName(deletedAtColumn)} = CAST($2 AS TIMESTAMPTZ) WHERE ${isUnmarked} AND ${isGone}`,
            [jobId, at],
          )
        : await connection.run(`DELETE FROM ${target} WHERE ${isGone}`, [jobId]);
  await connection.run(`DROP TABLE ${tableName(keyTable)}`);
  return {
    deletedCount: gone.rowsChanged,
    returnedCount: returned.rowsChanged,
    refusal,
  };
}

const noStamp = { extractedAtMs: 0, jobId: "" };

async function fillKeys(
  connection: DuckDBConnection,
  columns: readonly Column[],
  stage: Stage,
): Promise<void> {
  const types = columns.map(({ name, type }) => ({ name, type }));
  const definitions = types.map(({ name, type }) => `${quoteName(name)} ${type}`).join(", ");
  await connection.run(`CREATE OR REPLACE TEMP TABLE ${quoteName(keyTable.name)} (${definitions})`);
  await appendRows(connection, keyTable, types, columns, stage.batches(), noStamp);
}

/** The keys of the table are compared as the wider type has them. */
function isSameKey(columns: readonly Column[], tableColumns: readonly TableColumn[]): string {
  const types = new Map(tableColumns.map(({ name, type }) => [name.toLowerCase(), type]));
  return columns
    .map(({ name, type }) => {
      const known = `known.${quoteName(name)}`;
      const from = types.get(name.toLowerCase());
      const value = from === undefined || from === type ? known : widenedTo(known, from, type);
      return `keys.${quoteName(name)} = ${value}`;
    })
    .join(" AND ");
}
