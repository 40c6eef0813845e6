import { createHash } from "node:crypto";
import { type SelectQueryBuilder, sql } from "kysely";
import { ControlError } from "../contract/reasons.ts";

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

/** Filters of a list, without paging: a cursor belongs to them. */
export type Filters = Readonly<Record<string, unknown>>;

const mark = (filters: Filters) =>
  createHash("sha256")
    .update(JSON.stringify(Object.entries(filters).sort()))
    .digest("base64url")
    .slice(0, 16);

/** @throws invalid_cursor: damaged, or of another list or other filters */
export function readCursor(cursor: string | undefined, filters: Filters): Position | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [at, id, filterMark, ...more] = JSON.parse(
      Buffer.from(cursor, "base64url").toString(),
    ) as unknown[];
    const createdAt = new Date(Number(at));
    const isOurs =
      more.length === 0 &&
      filterMark === mark(filters) &&
      typeof id === "string" &&
      /^\w{1,64}$/.test(id);
    if (isOurs && Number.isSafeInteger(at) && Number(at) >= 0 && Number(at) <= lastMs)
      return { createdAt, id };
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
): Page<Row> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit;
  const cursor = last && JSON.stringify([last.created_at.getTime(), last.id, mark(filters)]);
  return {
    items,
    has_more: hasMore,
    next_cursor: hasMore && cursor ? Buffer.from(cursor).toString("base64url") : null,
  };
}

/** The position of a row in a list. */
type Ordered = { readonly id: string; readonly created_at: Date };

/**
 * The page after the cursor, newest first.
 * @param table whose times and ids order the rows, where several are joined
 * @throws invalid_cursor: damaged, or of another list or other filters
 */
export async function readPage<DB, TB extends keyof DB, Row extends Ordered>(
  rows: SelectQueryBuilder<DB, TB, Row>,
  {
    cursor,
    limit,
    filters,
  }: { readonly cursor: string | undefined; readonly limit: number; readonly filters: Filters },
  table?: string,
): Promise<Page<Row>> {
  const after = readCursor(cursor, filters);
  const prefix = table === undefined ? "" : `${table}.`;
  const [time, id] = [sql.ref(`${prefix}created_at`), sql.ref(`${prefix}id`)];
  const rest = after
    ? rows.where(sql<boolean>`(${time}, ${id}) < (${after.createdAt}, ${after.id})`)
    : rows;
  const found = await rest
    .orderBy(time, "desc")
    .orderBy(id, "desc")
    .limit(limit + 1)
    .execute();
  return toPage(found as Row[], limit, filters);
}
