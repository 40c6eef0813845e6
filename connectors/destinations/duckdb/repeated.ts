/**
 * Rows that the table has as they come: an incremental read asks for those of its last cursor in
 * every run, and of most tables nothing else comes.
 */
import type { DuckDBValue } from "@duckdb/node-api";
import { quoteName, quoteText } from "svc-connectors/destination";
import { loadValueReader } from "./append.ts";
import { fitColumn } from "./fit.ts";
import { mergedBy } from "./merge.ts";
import type { OpenStream } from "./open-stream.ts";
import { columnsOf, tableName } from "./tables.ts";
import { digitsOf } from "./types.ts";
import type { Writing } from "./writing.ts";

/** So many are asked for by their keys. More are merged at once, which finds them too. */
const few = { rows: 64, bytes: 64 * 1024 } as const;

/**
 * Whether the table has each staged row already: one query, instead of the eight statements of a
 * merge. False where it cannot be seen that way.
 */
export async function areRepeated(
  { connection }: Pick<Writing, "connection">,
  stream: OpenStream,
): Promise<boolean> {
  const { stage, merge, saved, plan, columns, target } = stream;
  if (stage.rowCount > few.rows || stage.byteCount > few.bytes) return false;
  if (!merge?.isKept || !merge.cursor || merge.deletedAt) return false;
  if (saved.generations[plan.place]?.deduplicatedBy !== mergedBy(merge)) return false;
  const staged = await stagedRows(stream);
  const keyPlaces = merge.keys.map((key) => columns.indexOf(key));
  const keys = staged.rows.map((row) => keyPlaces.map((place) => literalOf(row[place] ?? null)));
  if (keys.flat().includes(undefined)) return false;
  const names = merge.keys.map(({ name }) => quoteName(name)).join(", ");
  const found = await connection
    .runAndReadAll(
      `SELECT * FROM ${tableName(target)} WHERE (${names}) IN (${keys.map((key) => `(${key})`)})`,
    )
    // The table's keys are of another type: the merge makes one of both.
    .catch(() => undefined);
  if (!found) return false;
  stream.tableColumns = columnsOf(found);
  const tableColumns = new Map(
    stream.tableColumns.map(({ name, type }, place) => [name.toLowerCase(), { type, place }]),
  );
  const own = columns.map(({ name }) => tableColumns.get(name.toLowerCase()));
  if (!own.every((column, index) => isComparable(staged.types[index], column?.type))) return false;
  const known = new Set(
    found.getRows().map((row) => textOf(own.map((column) => row[column?.place ?? -1] ?? null))),
  );
  return staged.rows.every((row) => known.has(textOf(row)));
}

/**
 * The staged rows as DuckDB's values, and the type of each column; undefined: it is null in all.
 */
async function stagedRows({ columns, stage }: OpenStream): Promise<{
  readonly rows: readonly (readonly DuckDBValue[])[];
  readonly types: readonly (string | undefined)[];
}> {
  const read = await loadValueReader();
  const types: (string | undefined)[] = columns.map(() => undefined);
  const rows: DuckDBValue[][] = [];
  for await (const batch of stage.batches()) {
    const given = new Map(batch.columns.map((column) => [column.name, column]));
    const values = columns.map(({ property, type }, index) => {
      const column = given.get(property);
      if (!column) return undefined;
      const fitted = fitColumn(column, batch.rowCount, type);
      const own = read(fitted, batch.rowCount);
      if (own.every((value) => value === null)) return undefined;
      // Each batch has its encodings: values of two types are taken for no type at all.
      types[index] = (types[index] ?? fitted.type) === fitted.type ? fitted.type : "";
      return own;
    });
    for (let row = 0; row < batch.rowCount; row++)
      rows.push(values.map((column) => column?.[row] ?? null));
  }
  return { rows, types };
}

/** Values of the types are the same when they say the same. */
function isComparable(one: string | undefined, other: string | undefined): boolean {
  if (one === undefined || one === other) return other !== undefined;
  const scale = digitsOf(one)?.scale;
  return scale !== undefined && scale === digitsOf(other ?? "")?.scale;
}

/** Undefined for a value whose literal is not a plain one. */
function literalOf(value: DuckDBValue): string | undefined {
  if (typeof value === "number") return Number.isInteger(value) ? `${value}` : undefined;
  if (typeof value === "bigint") return `${value}`;
  if (typeof value === "string") return value.includes("\0") ? undefined : quoteText(value);
  return isOfParts(value) && "hugeint" in value ? `'${value}'::UUID` : undefined;
}

const textOf = (row: readonly DuckDBValue[]) => JSON.stringify(row.map(partsOf));

function partsOf(value: DuckDBValue): string | null {
  if (value === null || !isOfParts(value)) return value === null ? null : String(value);
  // How many digits a decimal has room for is no part of it.
  return "scale" in value ? String(value.value) : Object.values(value).map(String).join(" ");
}

const isOfParts = (value: DuckDBValue): value is DuckDBValue & Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
