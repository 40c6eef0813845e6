/**
 * Values of PostgreSQL that are easily lost on the way to JSON, and rows as few tables have them.
 */
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
    numeric: [
      "0.1",
      "0.30000000000000004",
      "123456789012345678901234567890.123456789012345678",
      `1${"0".repeat(400)}`,
      "1e-30",
    ],
    "numeric(20, 4)": ["1234567890123456.7891", "-0.0001", "10.0000", "0", "9999999999999999.9999"],
    "double precision": [
      "0.30000000000000004",
      "1.7976931348623157e308",
      "5e-324",
      "-0",
      "123456789.125",
    ],
    real: ["0.1", "3.4028235e38", "1e-45", "-1.5", "16777216"],
    integer: ["2147483647", "-2147483648", "0", "1", "-1"],
  },
};

export const textTable: ValueTable = {
  name: "svc_times_and_texts",
  columns: {
    timestamptz: [
      "2026-03-29 02:30:00.123456+02",
      "2026-10-25 02:30:00.000001+00",
      "1969-12-31 23:59:59.999999+00",
      "0001-01-01 00:00:00+00",
      "9999-12-31 23:59:59.999999+00",
      "infinity",
    ],
    timestamp: [
      "2026-03-29 02:30:00.123456",
      "2026-10-25 02:30:00",
      "1969-12-31 23:59:59.999999",
      "0001-01-01 00:00:00",
      "9999-12-31 23:59:59",
      "-infinity",
    ],
    date: ["2024-02-29", "0001-01-01", "9999-12-31", "1582-10-10", "1970-01-01", "infinity"],
    time: ["23:59:59.999999", "00:00:00", "12:00:00.5", "00:00:00.000001", "23:59:59", "01:02:03"],
    text: [
      "",
      "null",
      "nai\u0308ve \u{1f4d3} 名前\u200b MiXeD \u0130",
      " \u2028\u2029\u00a0 padded \n ",
      "line\r\nbreak\ttab",
      '\\"{}[]',
    ],
    bytea: ["\\x", "\\x00", "\\xff00fe", "\\xdeadbeef", "\\x7f80", "\\x5c"],
    jsonb: [
      '{"a": 12345678901234567890.10}',
      "null",
      '"text"',
      "[]",
      '{"": {"__proto__": 1}}',
      "0.30000000000000004",
    ],
    uuid: [
      "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12",
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a13",
      "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a14",
    ],
    "text[]": ["{}", '{""}', "{NULL}", '{"a,b","\\"","\\\\"}', "{{a,b},{c,d}}", '{null,"null"}'],
  },
};

const columns = Array.from({ length: 999 }, (_, at) => `column_${at + 2}`);
const textBytes = 10 * 1_048_576;
const levels = 200;

export const uncommonTables: readonly UncommonTable[] = [
  {
    name: "svc_wide",
    what: "a table of 1,000 columns",
    sql: `CREATE TABLE public.svc_wide (id int PRIMARY KEY, ${columns.map((name) => `${name} int`).join(", ")});
      INSERT INTO public.svc_wide VALUES (1, ${columns.map((_, at) => at).join(", ")});`,
  },
  {
    name: "svc_long",
    what: "a row of 10 MB",
    sql: `CREATE TABLE public.svc_long (id int PRIMARY KEY, body text);
      INSERT INTO public.svc_long VALUES (1, 'short'), (2, pg_catalog.repeat('0123456789abcdef', ${textBytes / 16})), (3, 'short');`,
  },
  {
    name: "svc_deep",
    what: "a value of 200 levels",
    sql: `CREATE TABLE public.svc_deep (id int PRIMARY KEY, body jsonb);
      INSERT INTO public.svc_deep VALUES (1, '${"[".repeat(levels)}1${"]".repeat(levels)}'), (2, '${'{"a":'.repeat(levels)}1${"}".repeat(levels)}');`,
  },
];
