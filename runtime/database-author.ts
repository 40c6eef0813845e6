/**
 * "svc-connectors/database": what sources of databases have in common, for their authors; the SQL
 * is theirs. Start at databaseVerbs; docs/authors.md has an example.
 */

export { proposeCursors } from "./database/cursors.ts";
export {
  describeQueries,
  discoverTables,
  maxTables,
  type TableWalk,
} from "./database/discovery.ts";
export { textEncodings } from "./database/encodings.ts";
export { planReading, type ReadingPlan, type ReadingSql } from "./database/plan.ts";
export {
  type QueryReason,
  queryFailure,
  queryOf,
  queryRefused,
  requireOwnColumns,
  statementOf,
  toQueryTable,
} from "./database/queries.ts";
export {
  type QueriedRows,
  type RowsOptions,
  type RowsQuery,
  readRows,
} from "./database/reading.ts";
export {
  type FilterCondition,
  type FilterSql,
  filterConditions,
  filterRefused,
  hasNoComparison,
} from "./database/row-filter.ts";
export {
  type DatabaseQuery,
  pageSettings,
  querySettings,
  tableSettings,
} from "./database/settings.ts";
export {
  alongCursorState,
  alongKeyState,
  type RowState,
  stateInvalid,
} from "./database/state.ts";
export {
  createTableNames,
  type DatabaseColumn,
  type DatabaseTable,
  keyColumns,
  labelOf,
  resumableKey,
  type TableNames,
  toStream,
} from "./database/tables.ts";
export { type DatabaseVerbs, databaseVerbs } from "./database/verbs.ts";
