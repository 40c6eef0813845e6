import { createHash } from "node:crypto";
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import { ControlError } from "../contract/reasons.ts";
import type { Sort } from "../contract/schemas.ts";

/** Where a page of a list begins: after this row, newest first. */
export interface Position {
  readonly createdAt: Date;
  readonly id: string;
}

export interface Page<Row> {
  readonly items: readonly Row[];
  readonly next_cursor: string | null;
  readonly has_more: boolean;
}

/** The end of the year 9999: every time up to it is one for PostgreSQL too. */
const lastMs = 253_402_300_799_999;
/** A name has 200 characters at most, and each two code units. */
const maxNameLength = 400;

/** Filters of a list, without paging: a cursor belongs to them. */
export type Filters = Readonly<Record<string, unknown>>;

const mark = (filters: Filters) =>
  createHash("sha256")
    .update(JSON.stringify(Object.entries(filters).sort()))
    .digest("base64url")
    .slice(0, 16);

/** @throws invalid_cursor: damaged, or of another list or other filters */
export function readCursor(cursor: string | undefined, filters: Filters): Position | undefined {
  const found = parseCursor(cursor, filters, isTime);
  return found && { createdAt: new Date(found.key), id: found.id };
}

const isTime = (key: unknown): key is number =>
  Number.isSafeInteger(key) && Number(key) >= 0 && Number(key) <= lastMs;

/** Whether the database could have given it as a name, and takes it as text. */
const isName = (key: unknown): key is string =>
  typeof key === "string" &&
  key.length <= maxNameLength &&
  key.isWellFormed() &&
  !key.includes("\u0000");

/** The place that a cursor names: the value by which its row is ordered, and its id. */
function parseCursor<Key>(
  cursor: string | undefined,
  filters: Filters,
  isKey: (key: unknown) => key is Key,
): { readonly key: Key; readonly id: string } | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [key, id, filterMark, ...more] = JSON.parse(
      Buffer.from(cursor, "base64url").toString(),
    ) as unknown[];
    const isOurs =
      more.length === 0 &&
      filterMark === mark(filters) &&
      typeof id === "string" &&
      /^\w{1,64}$/.test(id);
    if (isOurs && isKey(key)) return { key, id };
  } catch {
    // Told below.
  }
  throw new ControlError("invalid_cursor");
}

/** Makes the page of `limit` rows from a query that asked for one more. */
export function toPage<Row extends { readonly id: string; readonly created_at: Date }>(
  rows: readonly Row[],
  limit: number,
  filters: Filters,
  keyOf: (row: Row) => number | string = (row) => row.created_at.getTime(),
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit;
  const cursor = last && JSON.stringify([keyOf(last), last.id, mark(filters)]);
  return {
    items,
    has_more: hasMore,
    next_cursor: hasMore && cursor ? Buffer.from(cursor).toString("base64url") : null,
  };
}

/** The page that is asked for. */
export interface PageRequest {
  readonly cursor: string | undefined;
  readonly limit: number;
  readonly filters: Filters;
  readonly search?: string | undefined;
  /** Default: newest first. */
  readonly sort?: Sort | undefined;
}

/** The position of a row in a list. */
type Ordered = { readonly id: string; readonly created_at: Date };

/** Names are compared without case and by the codes of their characters: the same everywhere. */
const nameKey = (name: RawBuilder<unknown>) => sql`lower(${name}) COLLATE "C"`;

/**
 * The page after the cursor. Rows are ordered by one column and then by id, so that none is missed
 * and none comes twice, whatever is added meanwhile.
 * @param table whose times and ids order the rows, where several are joined
 * @param tableOfNames whose names they are searched and ordered by, where that is another one
 * @throws invalid_cursor: damaged, or of another list, or with other filters, search or order
 */
export async function readPage<DB, TB extends keyof DB, Row extends Ordered>(
  rows: SelectQueryBuilder<DB, TB, Row>,
  { cursor, limit, filters, search, sort = "-created_at" }: PageRequest,
  table?: string,
  tableOfNames = table,
): Promise<Page<Row>> {
  const columnOf = (of: string | undefined, column: string) =>
    sql.ref(of === undefined ? column : `${of}.${column}`);
  const [time, id] = [columnOf(table, "created_at"), columnOf(table, "id")];
  const name = columnOf(tableOfNames, "name");
  const isByName = sort === "name" || sort === "-name";
  const isDescending = sort.startsWith("-");
  const marked = { ...filters, search, sort };
  const key = isByName ? nameKey(name) : time;
  const after = isByName
    ? parseCursor(cursor, marked, isName)
    : parseCursor(cursor, marked, isTime);
  let rest = rows;
  if (search !== undefined)
    rest = rest.where(sql<boolean>`position(lower(${search}) in lower(${name})) > 0`);
  if (after) {
    const value =
      typeof after.key === "string"
        ? nameKey(sql`${after.key}::text`)
        : sql`${new Date(after.key)}`;
    const beyond = sql.raw(isDescending ? "<" : ">");
    rest = rest.where(sql<boolean>`(${key}, ${id}) ${beyond} (${value}, ${after.id})`);
  }
  const direction = isDescending ? "desc" : "asc";
  const found = await rest
    .orderBy(key, direction)
    .orderBy(id, direction)
    .limit(limit + 1)
    .execute();
  const nameOf = (row: Row) => (row as { readonly name?: string }).name ?? "";
  return toPage(found as Row[], limit, marked, isByName ? nameOf : undefined);
}
