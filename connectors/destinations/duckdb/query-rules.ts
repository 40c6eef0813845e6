import type {
  DuckDBConnection,
  DuckDBExtractedStatements,
  DuckDBPreparedStatement,
} from "@duckdb/node-api";
import { ConnectorError, type JsonValue } from "svc-connectors";
import { duckdbFailed } from "./failures.ts";

const refused = (reason: string) => new ConnectorError("QUERY_REFUSED", { reason });

/** The number of DuckDB's statement type SELECT. */
const selectType = 1;

/**
 * Prepares a query that is exactly one SELECT and uses nothing that tells of the machine.
 * @throws QUERY_REFUSED, and as DuckDB fails
 */
export async function prepareSelect(
  connection: DuckDBConnection,
  sql: string,
): Promise<DuckDBPreparedStatement> {
  if (sql.includes("\0")) throw refused("it holds a NUL character");
  if (sql.trim() === "") throw refused("it is empty");
  let statements: DuckDBExtractedStatements;
  try {
    statements = await connection.extractStatements(sql);
  } catch {
    throw refused("it is not one valid SELECT");
  }
  if (statements.count !== 1) throw refused("it is not exactly one statement");
  const serialized = await connection.runAndReadAll("SELECT json_serialize_sql($1::VARCHAR)", [
    sql,
  ]);
  const tree = JSON.parse(String(serialized.getRowsJson()[0]?.[0])) as {
    error: boolean;
    statements: JsonValue;
  };
  if (tree.error) throw refused("it is not a SELECT");
  inspect(tree.statements);
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== selectType) throw refused("it is not a SELECT");
  if (prepared.parameterCount > 0) throw refused("it has parameters");
  return prepared;
}

/**
 * Functions that make rows out of their arguments. Others read files, settings or the database's
 * inside.
 */
const tableFunctions = new Set([
  "range",
  "generate_series",
  "unnest",
  "json_each",
  "json_tree",
  "repeat",
  "repeat_row",
  "generate_subscripts",
]);

/** Functions that tell of settings or the machine, or that change something. */
const refusedFunction =
  /^(current_setting|getenv|getvariable|nextval|currval|write_log|json_execute_serialized_sql|parse_.*path|current_query|txid_current|version|pg_.*|query|query_table)$/;

/** Views of DuckDB about itself, with paths and settings. */
const refusedTable = /^(duckdb_|pragma_|sqlite_|pg_)/;

/** Looks at every part of a parsed SELECT. @throws QUERY_REFUSED */
function inspect(node: JsonValue): void {
  if (typeof node !== "object" || node === null) return;
  if (Array.isArray(node)) {
    for (const part of node) inspect(part);
    return;
  }
  const { type, function_name: name, table_name: table, function: call } = node;
  if (type === "TABLE_FUNCTION") {
    const called = nameOf(call);
    if (!tableFunctions.has(called))
      throw refused(`the function ${printable(called)} is not allowed`);
  } else if (
    type === "FUNCTION" &&
    typeof name === "string" &&
    refusedFunction.test(name.toLowerCase())
  )
    throw refused(`the function ${printable(name)} is not allowed`);
  else if (
    type === "BASE_TABLE" &&
    typeof table === "string" &&
    refusedTable.test(table.toLowerCase())
  )
    throw refused(`the table ${printable(table)} is not allowed`);
  for (const part of Object.values(node)) inspect(part);
}

function nameOf(call: JsonValue | undefined): string {
  const name =
    typeof call === "object" && call !== null && !Array.isArray(call)
      ? call.function_name
      : undefined;
  return typeof name === "string" ? name.toLowerCase() : "";
}

/** DuckDB's words may quote values. Only a name that the query itself uses is told. */
const failures: readonly (readonly [RegExp, string])[] = [
  [/table with name "?([A-Za-z_]\w*)"? does not exist/i, "there is no table $"],
  [/table with name/i, "there is no table of that name"],
  [/schema with name "?([A-Za-z_]\w*)"? does not exist/i, "there is no schema $"],
  [
    /(?:referenced column|column with name|does not have a column named|referenced table) "?([A-Za-z_]\w*)"?/i,
    "there is no column $",
  ],
  [
    /(?:scalar|aggregate|macro|table)? ?function with name "?([A-Za-z_]\w*)"? does not exist/i,
    "there is no function $",
  ],
  [/conversion error|could not convert/i, "a value cannot be converted"],
  [/out of range|overflow/i, "a number is out of range"],
  [/out of memory/i, "it needs too much memory"],
  [/division by zero/i, "it divides by zero"],
  [/group by/i, "a column must be in GROUP BY or in an aggregate"],
  [/ambiguous/i, "a name is ambiguous"],
  [/cannot compare|no function matches|cannot mix|type/i, "types do not fit"],
];

/** QUERY_FAILED in our own words. */
export function queryFailed(error: unknown, sql: string): ConnectorError {
  if (error instanceof ConnectorError) return error;
  const message = error instanceof Error ? error.message : "";
  if (/^permission error/i.test(message) || /file system operations are disabled/i.test(message))
    return refused("it reaches out of the database");
  for (const [pattern, reason] of failures) {
    const match = pattern.exec(message);
    if (!match) continue;
    const [, name] = match;
    const isOfQuery = name !== undefined && sql.includes(name);
    return new ConnectorError("QUERY_FAILED", {
      reason: reason.replace(" $", isOfQuery ? ` ${printable(name)}` : " of that name"),
    });
  }
  const { details } = duckdbFailed(error);
  return new ConnectorError("QUERY_FAILED", { reason: `${details.reason ?? "DuckDB refused it"}` });
}

const printable = (name: string) => name.slice(0, 60);
