import { type Static, Type } from "typebox";
import type { OperationContext } from "../contract/operation.ts";
import { refuseField } from "../contract/reasons.ts";
import { OneOf, StrictObject } from "../contract/schemas.ts";
import type { ModelTableRow } from "./rows.ts";
import { queryTypes } from "./schemas.ts";
import { columnsOf } from "./warehouse.ts";

export const queryProperties = {
  queryType: Type.Optional(
    OneOf(queryTypes, {
      description: "raw_sql and custom: raw.sql · table: table.name.",
    }),
  ),
  raw: Type.Optional(
    StrictObject(
      {
        sql: Type.String({
          minLength: 1,
          maxLength: 100_000,
          description: "One SELECT, in the warehouse's own SQL.",
        }),
      },
      { title: "RawQuery" },
    ),
  ),
  table: Type.Optional(
    StrictObject(
      {
        name: Type.String({
          pattern: '^[^.\\u0000-\\u001f"]{1,128}(\\.[^.\\u0000-\\u001f"]{1,128}){0,2}$',
          description: "With its schema, or without.",
        }),
      },
      { title: "TableQuery" },
    ),
  ),
};
export const PrimaryKey = Type.String({
  minLength: 1,
  maxLength: 200,
  description: "Column that tells the rows apart.",
});

const Query = StrictObject({ ...queryProperties, primaryKey: Type.Optional(PrimaryKey) });
type Entered = Static<typeof Query>;

export type ModelQueryParts = Pick<
  ModelTableRow,
  "query_type" | "sql" | "table_name" | "primary_key"
>;

/**
 * The query that a request means; of a change, what it does not name is as before.
 * @throws validation_failed
 */
export function queryPartsOf(entered: Entered, before?: ModelQueryParts): ModelQueryParts {
  const { primaryKey = before?.primary_key } = entered;
  const parts = sqlOf(entered, before);
  if (primaryKey === undefined) throw refuseField("validation_failed", "primaryKey", "is missing");
  return { ...parts, primary_key: primaryKey };
}

/**
 * As {@link queryPartsOf}, of a query alone.
 * @throws validation_failed
 */
export function sqlOf(
  { queryType, raw, table }: Omit<Entered, "primaryKey">,
  before?: Omit<ModelQueryParts, "primary_key">,
): Omit<ModelQueryParts, "primary_key"> {
  const query_type = queryType ?? before?.query_type ?? (table ? "table" : "raw_sql");
  if (raw && table) throw refuseField("validation_failed", "table", "does not go with raw");
  if (query_type === "table") {
    if (raw) throw refuseField("validation_failed", "raw", "does not go with the queryType table");
    const name = table?.name ?? before?.table_name ?? undefined;
    if (name === undefined) throw refuseField("validation_failed", "table", "is missing");
    const quoted = name.split(".").map((part) => `"${part}"`);
    return { query_type, sql: `SELECT * FROM ${quoted.join(".")}`, table_name: name };
  }
  if (table)
    throw refuseField("validation_failed", "table", `does not go with the queryType ${query_type}`);
  const sql = raw?.sql ?? (before?.table_name === null ? before.sql : undefined);
  if (sql === undefined) throw refuseField("validation_failed", "raw", "is missing");
  return { query_type, sql, table_name: null };
}

/**
 * Tries the query: what it gives is what activations can map.
 * @throws query_refused, query_failed, validation_failed when the primary key is no column
 */
export async function tryQuery(
  ctx: OperationContext,
  warehouseId: string,
  { sql, primary_key }: ModelQueryParts,
) {
  const columns = await columnsOf(ctx, ctx.workspaceId, warehouseId, sql);
  if (!columns.some(({ name }) => name === primary_key))
    throw refuseField("validation_failed", "primaryKey", "is no column of the query");
  return columns;
}
