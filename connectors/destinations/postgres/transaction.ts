/**
 * The transaction of one stream: its table as the stream needs it, rows copied in, and at the end
 * all of it or nothing.
 */
import type { Client } from "pg";
import { ConnectorError } from "svc-connectors";
import { columnNames } from "svc-connectors/destination";
import type { Column } from "./columns.ts";
import { type Copy, openCopy } from "./copy.ts";
import { sqlState } from "./failures.ts";
import {
  createStage,
  deduplicate,
  keyIndex,
  type Merge,
  mergeByOtherKeys,
  mergeStage,
  stageTable,
} from "./merge.ts";
import { asWritten, castRows, findMisfits, isDataException, tableType } from "./native-types.ts";
import type { PlannedStream } from "./opening.ts";
import { columnsFor, type Rows } from "./rows.ts";
import type { Session } from "./session.ts";
import { claimTable, deletedTable, nextTable } from "./state.ts";
import {
  alignTable,
  columnList,
  createTable,
  needsAlignment,
  ownColumnTypes,
  type Table,
  type TableTypes,
  tableName,
} from "./tables.ts";

/** The part of a stream that does not change while it is written. */
export interface Target {
  readonly key: string;
  readonly planned: PlannedStream;
  readonly columns: readonly Column[];
  /** Set when rows replace others of their key. */
  readonly merge: Merge | undefined;
  /** The types of the table as of the last commit; undefined while there is none. */
  types: TableTypes | undefined;
}

export interface Transaction {
  /** Of the row in `_svc.streams`. */
  readonly id: string;
  readonly table: Table;
  /** The types of the table. */
  readonly types: TableTypes;
  write(rows: readonly Rows[]): Promise<void>;
  /** Rows that are written from here on may be taken back. */
  mark(): Promise<void>;
  readonly isMarked: boolean;
  takeBack(): Promise<void>;
  /** Ends the COPY and merges what was gathered. Nothing can be written any more. */
  finish(): Promise<void>;
}

/**
 * Begins it, and makes or aligns the table for the rows that come first, or for the columns as they
 * are.
 * @param nowMs the moment at which deletions are noted
 */
export async function beginTransaction(
  session: Session,
  owner: string,
  target: Target,
  first: Rows | undefined,
  nowMs: number,
): Promise<Transaction> {
  const { client } = session;
  const { planned, merge, key } = target;
  const columns = first ? columnsFor(target.columns, first) : target.columns;
  const { saved, plan } = planned;
  await client.query("BEGIN");
  if (planned.renamedId !== undefined && saved.id === undefined)
    await forgetStream(client, planned.renamedId);
  const id = await claimTable(client, owner, key, saved, columnNames(columns, saved.columnNames));
  const table = plan.place === "current" ? saved.table : nextTable(id);
  const name = tableName(table);
  const isMerged = merge !== undefined && plan.place === "current";
  let types: TableTypes;
  if (target.types) {
    types = new Map(target.types);
    if (needsAlignment(columns, types)) await alignTable(client, name, columns, types);
  } else {
    if (plan.place === "next") await client.query(`DROP TABLE IF EXISTS ${name}`);
    await createTable(client, table, columns).catch((error: unknown) => {
      throw sqlState(error) === "42P07"
        ? new ConnectorError("TABLE_CONFLICT", { name: table.name })
        : error;
    });
    types = new Map([
      ...columns.map((column) => [column.name, tableType(column)] as const),
      ...Object.entries(ownColumnTypes),
    ]);
  }
  if (merge && isMerged) await ensureKeyIndex(client, table, types, columns, merge, id, nowMs);
  const isStaged = isMerged || columns.some((column) => tableType(column) !== column.type);
  if (isStaged) await createStage(client, name, columns);
  const stageTypes = new Map(types);
  for (const column of columns) stageTypes.set(column.name, column.type);
  const goal = isStaged ? stageTable : name;
  const list = columnList(columns);
  let copy: Copy | undefined;
  let marked: { types: TableTypes; stageTypes: TableTypes } | undefined;

  /** Brings the gathered rows into the table. */
  const bringRows = async () => {
    const names = [...target.columns.map((column) => column.name), ...Object.keys(ownColumnTypes)];
    const rows = castRows(stageTable, name, types, names);
    // Rows that were taken back may have widened the columns.
    const asTable = <One extends Column | undefined>(column: One): One =>
      column && { ...column, type: types.get(column.name) ?? column.type };
    if (merge && isMerged) {
      const keys = mergeOf(merge, asTable);
      await mergeStage(client, name, rows, types, target.columns, keys, id, nowMs);
    } else await client.query(`INSERT INTO ${name} (${list.join(", ")}) SELECT * FROM ${rows}`);
  };

  const endCopy = async () => {
    const ending = copy;
    copy = undefined;
    await ending?.end();
  };

  return {
    id,
    table,
    types,
    get isMarked() {
      return marked !== undefined;
    },
    async write(rows) {
      for (const part of rows) {
        // The table is as wide as the rows were when they were encoded: never behind them, and
        // binary values have the width of their column.
        const needed = columnsFor(columns, part);
        const isAligned = !needsAlignment(needed, types);
        if (!isAligned) {
          await endCopy();
          await alignTable(client, name, needed, types);
          if (isStaged) await alignTable(client, stageTable, asWritten(needed), stageTypes);
        }
        copy ??= openCopy(session, goal, list);
        await copy.write(part.bytes);
      }
    },
    async mark() {
      await endCopy();
      await client.query("SAVEPOINT svc_mark");
      marked = { types: new Map(types), stageTypes: new Map(stageTypes) };
    },
    async takeBack() {
      await endCopy();
      if (!marked) return;
      await client.query("ROLLBACK TO SAVEPOINT svc_mark");
      for (const [name, type] of marked.types) types.set(name, type);
      for (const [name, type] of marked.stageTypes) stageTypes.set(name, type);
      marked = undefined;
    },
    async finish() {
      await endCopy();
      if (!isStaged) return;
      await client.query("SAVEPOINT svc_cast");
      try {
        await bringRows();
      } catch (error) {
        if (!isDataException(error)) throw error;
        await client.query("ROLLBACK TO SAVEPOINT svc_cast");
        const misfits = new Set(await findMisfits(client, stageTable, name, types));
        if (misfits.size === 0) throw error;
        const wider = target.columns.filter((column) => misfits.has(column.name));
        for (const column of wider) column.native = undefined;
        await alignTable(client, name, asWritten(wider), types);
        await bringRows();
      }
    },
  };
}

const mergeOf = (
  { keys, cursor, deletedAt, keepsDeleted }: Merge,
  map: <One extends Column | undefined>(column: One) => One,
): Merge => ({ keys: keys.map(map), cursor: map(cursor), deletedAt: map(deletedAt), keepsDeleted });

/** An index of other keys, or none, means that rows were not told apart by these keys so far. */
async function ensureKeyIndex(
  client: Client,
  table: Table,
  types: TableTypes,
  columns: readonly Column[],
  merge: Merge,
  id: string,
  nowMs: number,
): Promise<void> {
  const wanted = keyIndex(id, merge.keys);
  const { rows } = await client.query<{ name: string; is_empty: boolean }>(
    `SELECT i.relname AS name FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
      WHERE x.indrelid = ${`$1::regclass`} AND starts_with(i.relname, $2)`,
    [tableName(table), "_svc_key_"],
  );
  if (rows.some(({ name }) => name === wanted)) return;
  for (const { name } of rows)
    await client.query(`DROP INDEX ${tableName({ schema: table.schema, name })}`);
  const target = tableName(table);
  if (rows.length > 0) await mergeByOtherKeys(client, target, types, merge, id);
  else await deduplicate(client, target, types, columns, merge, id, nowMs);
}

async function forgetStream(client: Client, id: string): Promise<void> {
  await client.query(
    `DELETE FROM _svc.streams WHERE id = ${BigInt(id)}; DROP TABLE IF EXISTS ${tableName(nextTable(id))}, ${tableName(deletedTable(id))}`,
  );
}
