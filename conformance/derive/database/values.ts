/** Values that are easily lost between a database and JSON, in tables of the kit's own. */

import type { DatabaseSql, ValueTable } from "../../contract/database-sql.ts";
import { messageEvidence } from "../../contract/evidence.ts";
import type { Lab } from "../../contract/lab.ts";
import type { Reporter } from "../../contract/rule.ts";
import { readTable, withTables } from "./tables.ts";

/**
 * Each value in a row of its own "9999-12-31 23:59:59",
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

/**
 * Each value in a row of its own beside the others, and a row of nulls: all of them come out as
 * they are.
 */
export async function tryValueTable(
  lab: Lab,
  report: Reporter,
  sql: DatabaseSql,
  table: ValueTable,
): Promise<void> {
  const { copy, discover, streams } = await withTables(lab, table.name, sqlOf(sql, table));
  const stream = streams.find((one) => one.stream.name === table.name);
  if (!stream)
    return report.fail(
      `The database has the table ${table.name}, whose columns are ${Object.keys(table.columns).join(", ")}, and discover ${discover.outcome.status} without it: ${discover.outcome.failures[0]?.message ?? "it gives no reason"}`,
      messageEvidence("Discover", discover, []),
    );
  for (const type of Object.keys(table.columns)) report.checked(`${table.name}: ${type}`);
  const { observation, faults } = await readTable(lab, copy, stream);
  for (const fault of faults)
    report.fail(`${stream.label}: ${fault}.`, messageEvidence("The run", observation, []));
}

function sqlOf({ literal, ownTable }: DatabaseSql, { name, columns }: ValueTable): string {
  const entries = Object.entries(columns);
  const declared = entries.map(([type], at) => `v${at} ${type}`);
  const count = Math.max(...entries.map(([, values]) => values.length));
  const rows = Array.from({ length: count }, (_, row) => {
    const values = entries.map(([, own]) => (own[row] === undefined ? "NULL" : literal(own[row])));
    return `(${[row + 1, ...values].join(", ")})`;
  });
  const nulls = `(${[count + 1, ...entries.map(() => "NULL")].join(", ")})`;
  return `CREATE TABLE ${ownTable(name)} (id int PRIMARY KEY, ${declared.join(", ")});
    INSERT INTO ${ownTable(name)} VALUES ${[...rows, nulls].join(", ")};`;
}
