/** Values of MySQL that are easily lost on the way to JSON, and rows as few tables have them. */
import type { UncommonTable, ValueTable } from "../contract/database-sql.ts";

export const numberTable: ValueTable = {
  name: "svc_exact_numbers",
  columns: {
    bigint: [
      "9007199254740993",
      "-9007199254740993",
      "9223372036854775807",
      "-9223372036854775808",
      "0",
    ],
    "bigint unsigned": [
      "18446744073709551615",
      "9223372036854775808",
      "9007199254740993",
      "0",
      "1",
    ],
    "decimal(65, 30)": [
      "0.1",
      "0.30000000000000004",
      "12345678901234567890123456789012345.123456789012345678901234567891",
      "-0.000000000000000000000000000001",
      "0",
    ],
    "decimal(20, 4)": ["1234567890123456.7891", "-0.0001", "10.0000", "0", "9999999999999999.9999"],
    double: ["0.30000000000000004", "1.7976931348623157e308", "5e-324", "-0", "123456789.125"],
    float: ["0.1", "3.4028234e38", "1e-45", "-1.5", "16777216"],
    "int unsigned zerofill": ["4294967295", "2147483648", "0", "1", "7"],
    int: ["2147483647", "-2147483648", "0", "1", "-1"],
    year: ["1901", "2155", "0000", "1999", "2026"],
  },
};

export const textTable: ValueTable = {
  name: "svc_times_and_texts",
  columns: {
    "timestamp(6)": [
      "2026-03-29 02:30:00.123456",
      "2026-10-25 02:30:00.000001",
      "1970-01-01 00:00:01",
      "2038-01-19 03:14:07.999999",
      "2026-01-01 00:00:00.100000",
    ],
    "datetime(6)": [
      "2026-03-29 02:30:00.123456",
      "2026-10-25 02:30:00",
      "1969-12-31 23:59:59.999999",
      "0001-01-01 00:00:00",
      "9999-12-31 23:59:59",
    ],
    date: ["2024-02-29", "0001-01-01", "9999-12-31", "1582-10-10", "1970-01-01"],
    "time(6)": ["23:59:59.999999", "00:00:00", "-838:59:59", "838:59:59", "00:00:00.000001"],
    text: [
      "",
      "null",
      "nai\u0308ve \u{1f4d3} 名前\u200b MiXeD \u0130",
      " \u2028\u2029\u00a0 padded \n ",
      "line\r\nbreak\ttab",
      '\\"{}[]',
    ],
    "varchar(20) CHARACTER SET latin1": ["", "naïve", "ÿ", "null", "  two  "],
    "varbinary(20)": ["", "null", "naïve", "\\x00", "a b"],
    json: [
      '{"a": 12345678901234567890.10}',
      "null",
      '"text"',
      "[]",
      '{"": {"__proto__": 1}}',
      "0.30000000000000004",
    ],
    "enum('', 'so so', 'happy')": ["", "so so", "happy"],
    "set('a', 'b', 'c d')": ["", "a", "a,b,c d"],
  },
};

const columns = Array.from({ length: 999 }, (_, at) => `column_${at + 2}`);
const textBytes = 10 * 1_048_576;
/** MariaDB takes no JSON of more than 32. */
const levels = 30;

export const uncommonTables: readonly UncommonTable[] = [
  {
    name: "svc_wide",
    what: "a table of 1,000 columns",
    sql: `CREATE TABLE svc_wide (id int PRIMARY KEY, ${columns.map((name) => `${name} int`).join(", ")});
      INSERT INTO svc_wide VALUES (1, ${columns.map((_, at) => at).join(", ")});`,
  },
  {
    name: "svc_long",
    what: "a row of 10 MB",
    sql: `CREATE TABLE svc_long (id int PRIMARY KEY, body longtext);
      INSERT INTO svc_long VALUES (1, 'short'), (2, REPEAT('0123456789abcdef', ${textBytes / 16})), (3, 'short');`,
  },
  {
    name: "svc_deep",
    what: "a value of 30 levels",
    sql: `CREATE TABLE svc_deep (id int PRIMARY KEY, body json);
      INSERT INTO svc_deep VALUES (1, '${"[".repeat(levels)}1${"]".repeat(levels)}'), (2, '${'{"a":'.repeat(levels)}1${"}".repeat(levels)}');`,
  },
];
