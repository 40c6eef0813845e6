/** Values that are easily lost between a database and JSON, in tables of the kit's own. */

import type { DatabaseSql, ValueTable } from "../../contract/database-sql.ts";
import { messageEvidence } from "../../contract/evidence.ts";
import type { Lab } from "../../contract/lab.ts";
import type { Reporter } from "../../contract/rule.ts";
import { readTable, withTables } from "./tables.ts";

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
