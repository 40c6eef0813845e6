import type { DuckDBConnection } from "@duckdb/node-api";
import { appendRows } from "./append.ts";
import { type Column, columnList, type Stamp, type TableColumn } from "./columns.ts";
import { type MergeColumns, mergeRows } from "./merge.ts";
import { widened } from "./numbers.ts";
import type { Stage, StagedBatch } from "./stage.ts";
import { type Table, tableName } from "./tables.ts";
import { settled } from "./types.ts";

/** Where staged rows go. */
export interface LoadTarget {
  readonly table: Table;
  /** All of the table, in its order. */
  readonly tableColumns: readonly TableColumn[];
  /** Whether it was made just now. */
  readonly isNew: boolean;
}

export interface Loaded {
  /** The table is another one now. */
  readonly isChanged: boolean;
  /** Values that no type of their column could hold. */
  readonly nulledCount: number;
}

/** The result where there is nothing to load. */
export const nothingLoaded: Loaded = { isChanged: false, nulledCount: 0 };

/**
 * Loads the staged rows: added as they are, or merged by their key. Part of a transaction.
 */
export async function loadRows(
  connection: DuckDBConnection,
  { table, tableColumns, isNew }: LoadTarget,
  columns: readonly Column[],
  stage: Stage,
  merge: MergeColumns | undefined,
  stamp: Stamp,
): Promise<Loaded> {
  let nulledCount = 0;
  // A merge looks at the keys alone first: the last time all columns come.
  const fill = async (into: Table, of: readonly TableColumn[]) => {
    nulledCount = await appendRows(connection, into, of, columns, stage.batches(), stamp);
  };
  const append = () => fill(table, tableColumns);
  if (merge) {
    const { rowCount } = stage;
    const rows = { rowCount, isFirst: isNew, nowMs: stamp.extractedAtMs, fill, append };
    const isChanged = await mergeRows(connection, table, columns, merge, rows);
    return { isChanged, nulledCount };
  }
  await append();
  return { isChanged: true, nulledCount };
}

/** Adds all rows of a copy to the table that it was built beside. Part of a transaction. */
export async function addRows(
  connection: DuckDBConnection,
  from: Table,
  to: Table,
  columns: readonly Column[],
) {
  const list = columnList(columns);
  await connection.run(
    `INSERT INTO ${tableName(to)} (${list}) SELECT ${list} FROM ${tableName(from)} ORDER BY rowid`,
  );
}

/**
 * Gives the columns the types that hold the staged rows: the next wider integer, a decimal with
 * more digits, else text. What cannot be seen before it is cast is left to {@link widenTexts}.
 */
export function widenToRows(columns: readonly Column[], stage: Stage): void {
  const needs = stage.needs();
  for (const column of columns) {
    const own = needs.get(column.property);
    column.type = settled(own ? widened(column.type, own) : column.type);
  }
}

/** The types that texts are cast to. */
const castTypes = new Set(["DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "TIMETZ", "BIT", "UUID"]);

/**
 * Makes text of the columns whose type cannot be made of some staged text. False when every text
 * can, so that the failure has another reason.
 */
export async function widenTexts(
  connection: DuckDBConnection,
  columns: readonly Column[],
  stage: Stage,
): Promise<boolean> {
  let isWidened = false;
  for (const column of columns)
    if (castTypes.has(column.type) && !(await castsAll(connection, column, stage))) {
      column.type = "VARCHAR";
      isWidened = true;
    }
  return isWidened;
}

/** Tries one column alone, in a table that is there for it. */
async function castsAll(
  connection: DuckDBConnection,
  column: Column,
  stage: Stage,
): Promise<boolean> {
  const trial: Table = { database: "temp", schema: "main", name: "_svc_trial" };
  const tableColumns = [{ name: column.name, type: column.type }];
  await connection.run(
    `CREATE OR REPLACE TEMP TABLE _svc_trial (${tableColumns.map(({ type }) => `v ${type}`)})`,
  );
  try {
    const texts = textsOnly(stage.batches(), column);
    await appendRows(connection, trial, tableColumns, [column], texts, noStamp);
    return true;
  } catch {
    return false;
  } finally {
    await connection.run(`DROP TABLE ${tableName(trial)}`);
  }
}

const noStamp = { extractedAtMs: 0, jobId: "" };

async function* textsOnly(
  batches: AsyncIterable<StagedBatch>,
  { property }: Column,
): AsyncGenerator<StagedBatch> {
  for await (const { rowCount, columns } of batches) {
    const own = columns.filter(
      ({ name, encoding }) => name === property && (encoding === "utf8" || encoding === "json"),
    );
    if (own.length > 0) yield { rowCount, columns: own };
  }
}
