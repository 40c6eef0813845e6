import type { Client } from "pg";
import {
  type ActivationCommand,
  type BatchResult,
  type FailedRow,
  quoteName,
  type RowBatch,
  type RowChange,
} from "svc-connectors/destination";
import { rowFailure } from "./failures.ts";
import { groupsOf, statementFor } from "./statements.ts";
import type { Table } from "./tables.ts";

/** Remembers batches for so long. A crash is over by then. */
const keptDays = 30;

const batchTable = (table: Table) => `${quoteName(table.schema)}."_svc_activation_batches"`;

/**
 * Inserting twice makes two rows: such batches are remembered, in the transaction that writes them.
 */
export const isRemembered = ({ identifier }: ActivationCommand): boolean =>
  identifier === undefined;

/** Makes the table of batches beside the one that is written, and forgets old ones. */
export async function openBatches(
  client: Client,
  table: Table,
  { owner }: ActivationCommand,
): Promise<void> {
  const name = batchTable(table);
  const { rows } = await client.query("SELECT pg_catalog.to_regclass($1) IS NULL AS missing", [
    name,
  ]);
  if (rows[0]?.missing) {
    await client.query(
      `CREATE TABLE IF NOT EXISTS ${name} (activation_id text NOT NULL, batch_id text NOT NULL, failed jsonb NOT NULL,
        taken_at timestamptz NOT NULL DEFAULT pg_catalog.now(), PRIMARY KEY (activation_id, batch_id))`,
    );
  }
  await client.query(
    `DELETE FROM ${name} WHERE activation_id = $1 AND taken_at < pg_catalog.now() - interval '${keptDays} days'`,
    [owner],
  );
}

/**
 * Writes a batch in one transaction: all of its rows that can be written, or, when the connection
 * breaks, none.
 */
export async function writeBatch(
  client: Client,
  table: Table,
  command: ActivationCommand,
  batch: RowBatch,
): Promise<BatchResult> {
  await client.query("BEGIN");
  try {
    const earlier = isRemembered(command)
      ? await claimBatch(client, table, command, batch)
      : undefined;
    if (earlier) {
      await client.query("ROLLBACK");
      return { failed: earlier };
    }
    // A constraint that is checked at the end is checked with its row.
    await client.query("SET CONSTRAINTS ALL IMMEDIATE");
    const failed: FailedRow[] = [];
    for (const group of groupsOf(batch.rows))
      failed.push(...(await writeRows(client, table, command, group)));
    if (isRemembered(command) && failed.length > 0)
      await client.query(
        `UPDATE ${batchTable(table)} SET failed = $3 WHERE activation_id = $1 AND batch_id = $2`,
        [command.owner, batch.id, JSON.stringify(failed)],
      );
    await client.query("COMMIT");
    return { failed };
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {}); // the session may be gone
    throw error;
  }
}

/** The result of the batch when it came before; undefined: it is new, and noted. */
async function claimBatch(
  client: Client,
  table: Table,
  { owner }: ActivationCommand,
  { id }: RowBatch,
): Promise<FailedRow[] | undefined> {
  const name = batchTable(table);
  const noted = await client.query(
    `INSERT INTO ${name} (activation_id, batch_id, failed) VALUES ($1, $2, '[]') ON CONFLICT DO NOTHING`,
    [owner, id],
  );
  if (noted.rowCount === 1) return undefined;
  const { rows } = await client.query<{ failed: FailedRow[] }>(
    `SELECT failed FROM ${name} WHERE activation_id = $1 AND batch_id = $2`,
    [owner, id],
  );
  return rows[0]?.failed ?? [];
}

/**
 * Writes rows of one form at once; when one of them cannot be written, halves, until it stands
 * alone.
 */
async function writeRows(
  client: Client,
  table: Table,
  command: ActivationCommand,
  rows: readonly RowChange[],
): Promise<FailedRow[]> {
  const [first] = rows;
  if (!first) return [];
  await client.query("SAVEPOINT _svc_rows");
  try {
    const { text, returnsFound } = statementFor(
      table,
      command,
      first.change,
      Object.keys(first.fields),
    );
    const result = await client.query<{ position: string }>(text, [
      JSON.stringify(rows.map(({ fields }) => fields)),
    ]);
    await client.query("RELEASE SAVEPOINT _svc_rows");
    if (!returnsFound) return [];
    const found = new Set(result.rows.map(({ position }) => Number(position)));
    return rows
      .filter((_, index) => !found.has(index + 1))
      .map(({ key }) => ({ key, reason: "row_not_found" }));
  } catch (error) {
    const failure = rowFailure(error);
    if (!failure) throw error;
    await client.query("ROLLBACK TO SAVEPOINT _svc_rows");
    if (rows.length === 1) return [{ key: first.key, ...failure }];
    const middle = Math.ceil(rows.length / 2);
    return [
      ...(await writeRows(client, table, command, rows.slice(0, middle))),
      ...(await writeRows(client, table, command, rows.slice(middle))),
    ];
  }
}
