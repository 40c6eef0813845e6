/** MySQL's and MariaDB's words for what rules need. */
import { type JsonValue, parseExact } from "svc-connectors";
import type { DatabaseCopy } from "../contract/database.ts";
import type {
  Cell,
  DatabaseSql,
  DatabaseStatements,
  TableColumn,
  TableRows,
  TableStream,
} from "../contract/database-sql.ts";
import { mysqlFaults } from "./mysql-faults.ts";
import { numberTable, textTable, uncommonTables } from "./mysql-values.ts";

const identifier = (name: string) => `\`${name.replaceAll("`", "``")}\``;
/** A text in SQL, in a session of the kit's, where a backslash is one. */
const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;
const tableName = ({ name }: TableStream) => identifier(name);
export const accountOf = (role: string): string => `${literal(role)}@'%'`;

/** A statement for each table, whose quoted name is `one.name`. */
const forTables = (condition: string, statement: string) => `
  DELIMITER //
  BEGIN NOT ATOMIC
    FOR one IN (SELECT CONCAT('\`', REPLACE(table_name, '\`', '\`\`'), '\`') AS name, table_type AS kind
                FROM information_schema.tables WHERE table_schema = DATABASE() HAVING ${condition}) DO
      EXECUTE IMMEDIATE CONCAT(${statement});
    END FOR;
  END //
  DELIMITER ;`;
const isBaseTable = "kind = 'BASE TABLE'";
/** The right to read, table by table: one of a whole database cannot be taken from one. */
const reading = (condition: string, role: string) =>
  forTables(
    condition,
    `'GRANT SELECT, SHOW VIEW ON ', one.name, ${literal(` TO ${accountOf(role)}`)}`,
  );
const revokeEverything = (role: string) =>
  `REVOKE ALL PRIVILEGES, GRANT OPTION FROM ${accountOf(role)};`;

const madeColumns = Array.from({ length: 19 }, (_, at) => {
  const types = ["varchar(50)", "int", "datetime", "decimal(12, 2)"];
  return `column_${at + 2} ${types[(at + 2) % types.length]}`;
});

const statements: DatabaseStatements = {
  empty: `SET FOREIGN_KEY_CHECKS = 0; ${forTables(isBaseTable, "'TRUNCATE ', one.name")}`,
  unchecked: "SET FOREIGN_KEY_CHECKS = 0;",
  // Who has no right at all to a table does not know of it.
  revoke: (table, role) =>
    `${revokeEverything(role)} ${reading(`name <> ${literal(table)}`, role)}
     GRANT INSERT ON ${table} TO ${accountOf(role)};`,
  revokeAll: (role) => `${revokeEverything(role)} GRANT INSERT ON * TO ${accountOf(role)};`,
  revokeAccess: revokeEverything,
  grantAll: (role) => `GRANT ALL ON * TO ${accountOf(role)};`,
  // The role has the right to all of the database.
  grantTables: () => "",
  grantLater: () => "",
  makeTables: (prefix, first, last) => `
  DELIMITER //
  BEGIN NOT ATOMIC
    FOR number IN ${first} .. ${last} DO
      EXECUTE IMMEDIATE CONCAT('CREATE TABLE ${prefix}', LPAD(number, 5, '0'), '(id bigint PRIMARY KEY, ${madeColumns}) ENGINE = MEMORY');
    END FOR;
  END //
  DELIMITER ;`,
};

/** Counters of rows that are written, and of tables that are made and changed. */
const writeCounters = [
  ...["handler_write", "handler_update", "handler_delete"],
  ...["com_create_table", "com_drop_table", "com_alter_table", "com_truncate", "com_rename_table"],
  ...["com_create_view", "com_create_index", "com_create_db", "com_grant"],
];

export const mysqlSql: DatabaseSql = {
  identifier,
  literal,
  // Planes beyond the first are not for names, and no name ends with a space.
  canName: (name) => /^[\u0001-\uffff]{0,63}[\u0001-\u001f\u0021-\uffff]$/u.test(name),
  tableName,
  ownTable: identifier,
  patternPrefix: "",
  keyType: "varchar(180) COLLATE utf8mb4_bin",
  statements,
  faults: mysqlFaults,
  values: { numbers: numberTable, texts: textTable },
  uncommonTables,

  async baseTables(copy) {
    const found = await copy.rows(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'",
    );
    return new Set(found.map(({ name }) => identifier(String(name))));
  },

  async hasOwnTable(copy, name) {
    const found = await copy.rows(
      `SELECT 1 AS there FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ${literal(name)}`,
    );
    return found.length > 0;
  },

  async countWrites(copy) {
    const [row] = await copy.rows(
      `SELECT CAST(SUM(variable_value) AS UNSIGNED) AS count FROM information_schema.global_status WHERE variable_name IN (${writeCounters.map(literal)})`,
    );
    return BigInt(String(row?.count));
  },

  tableRows,

  async isSameValue(_, { type }, text, given) {
    const [base] = baseOf(type);
    const isZoned = base === "timestamp";
    if (!isZoned && base !== "datetime" && base !== "time") return false;
    // A time with a zone has to say so, and another one must not.
    const local = isZoned ? given.replace(/(Z|[+-]00:00)$/, "") : given;
    return (!isZoned || local !== given) && withoutZeros(local) === withoutZeros(text);
  },

  /** No calendar has them. */
  isUnwritable: (text) => /^\d{4}-(00-\d\d|\d\d-00)( |$)/.test(text),
};

const baseOf = (type: string) => type.toLowerCase().split(/[\s(]/);

/** A fraction without the zeros behind it. */
const withoutZeros = (time: string) =>
  time.replace("T", " ").replace(/\.(\d*?)0*$/, (_, digits) => (digits === "" ? "" : `.${digits}`));

async function tableRows(copy: DatabaseCopy, { name }: TableStream): Promise<TableRows> {
  const of = `table_schema = DATABASE() AND table_name = ${literal(name)}`;
  const listed = await copy.rows(
    `SELECT c.column_name AS name, IF(k.constraint_name IS NULL, c.column_type, 'json') AS type
     FROM (SELECT * FROM information_schema.columns WHERE ${of}) c
     LEFT JOIN information_schema.check_constraints k ON k.constraint_schema = DATABASE()
       AND k.table_name = ${literal(name)} AND k.constraint_name = c.column_name AND k.check_clause LIKE 'json_valid%'
     ORDER BY c.ordinal_position`,
  );
  const columns = listed as unknown as readonly TableColumn[];
  if (columns.length === 0) return { columns, rows: [] };
  const texts = columns.map((column, at) => `HEX(${expressionOf(column)}) AS v${at}`);
  const rows = await copy.rows(`SELECT ${texts} FROM ${identifier(name)}`);
  return {
    columns,
    rows: rows.map((row) => columns.map((column, at) => toCell(column, row[`v${at}`]))),
  };
}

const binary = new Set(["binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"]);
const whole = new Set(["tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit"]);
const geometry = /^(geometry|geometrycollection|(multi)?(point|linestring|polygon))$/;

/** Its bytes as they are, or a text that says all of its value. */
function expressionOf({ name, type }: TableColumn): string {
  const [base = ""] = baseOf(type);
  const column = identifier(name);
  if (binary.has(base)) return column;
  if (geometry.test(base)) return `ST_AsText(${column})`;
  const value = whole.has(base)
    ? `(${column} + 0)`
    : base === "float"
      ? `(${column} + 0e0)`
      : column;
  return `CONVERT(CAST(${value} AS CHAR) USING utf8mb4)`;
}

function toCell({ type }: TableColumn, hex: JsonValue | undefined): Cell {
  if (typeof hex !== "string") return { json: null, text: null };
  const [base = ""] = baseOf(type);
  if (binary.has(base)) return { json: undefined, text: `\\x${hex.toLowerCase()}` };
  const text = Buffer.from(hex, "hex").toString("utf8");
  if (base === "json") return { json: parseExact(text), text };
  if (base === "float") return { json: shortestFloat(Number(text)), text };
  const isNumber = whole.has(base) || base === "decimal" || base === "double";
  return { json: isNumber ? parseExact(text) : text, text };
}

/** The number that is written with the fewest digits and means the same of 32 bits. */
function shortestFloat(value: number): number {
  const short = Array.from({ length: 9 }, (_, at) => Number(value.toPrecision(at + 1)));
  return short.find((one) => Math.fround(one) === Math.fround(value)) ?? value;
}
