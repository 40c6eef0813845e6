/**
 * The statements that write a batch: one parameter, the rows as a JSON list; PostgreSQL makes the
 * columns' types of the values.
 */
import { type ActivationCommand, quoteName, type RowChange } from "svc-connectors/destination";
import type { Table } from "./tables.ts";

export interface Statement {
  readonly text: string;
  /**
   * The statement gives the positions (from 1) of the rows that it found; the others are not there.
   */
  readonly returnsFound: boolean;
}

/**
 * How rows are written that have the same fields. The columns of the table that are not among them
 * are never touched.
 */
export function statementFor(
  table: Table,
  command: ActivationCommand,
  change: RowChange["change"],
  fields: readonly string[],
): Statement {
  const target = `${quoteName(table.schema)}.${quoteName(table.name)}`;
  const columns = fields.map(quoteName);
  const rows = `pg_catalog.jsonb_array_elements($1::jsonb) WITH ORDINALITY AS _svc_rows (value, position),
    LATERAL pg_catalog.jsonb_populate_record(NULL::${target}, _svc_rows.value) AS _svc_row`;
  const insert = `INSERT INTO ${target} (${columns}) SELECT ${columns.map((column) => `_svc_row.${column}`)} FROM ${rows}`;
  if (command.identifier === undefined) return { text: insert, returnsFound: false };

  const identifier = quoteName(command.identifier);
  const isSame = `_svc_target.${identifier} = _svc_row.${identifier}`;
  if (change === "removed")
    return {
      text: `DELETE FROM ${target} AS _svc_target USING ${rows} WHERE ${isSame}`,
      returnsFound: false,
    };

  const changed = columns.filter((column) => column !== identifier);
  // Nothing to set: the row is looked for all the same.
  const set = changed.length > 0 ? changed : [identifier];
  const update = `UPDATE ${target} AS _svc_target SET ${set.map((column) => `${column} = _svc_row.${column}`)} FROM ${rows}
    WHERE ${isSame} RETURNING _svc_rows.position`;
  if (command.operation === "update") return { text: update, returnsFound: true };
  // A row that is there need not have every column that a new one must: it is updated, not inserted
  // with a conflict.
  const onConflict =
    changed.length > 0
      ? `DO UPDATE SET ${changed.map((column) => `${column} = EXCLUDED.${column}`)}`
      : "DO NOTHING";
  return {
    text: `WITH _svc_found AS (${update}) ${insert}
      WHERE _svc_rows.position NOT IN (SELECT position FROM _svc_found) ON CONFLICT (${identifier}) ${onConflict}`,
    returnsFound: false,
  };
}

/** Rows in order, in groups that one statement can write. */
export function groupsOf(rows: readonly RowChange[]): RowChange[][] {
  const groups: RowChange[][] = [];
  let last: string | undefined;
  for (const row of rows) {
    const form = JSON.stringify([row.change === "removed", Object.keys(row.fields)]);
    if (form !== last) groups.push([]);
    groups.at(-1)?.push(row);
    last = form;
  }
  return groups;
}
