/**
 * The difference between the rows that a destination has confirmed and those that the model gives
 * now. Both are kept in a private SQLite database that spills to the disk and goes with the
 * process: millions of rows need no more memory than thousands.
 */
import { DatabaseSync } from "node:sqlite";
import {
  identifyingOperations,
  type RowChangeKind,
  type RowOperation,
  type RowReason,
} from "svc-connectors/host";
import type { RowCounts } from "../store/tables.ts";

/** A row as the destination has confirmed it. */
export interface ConfirmedRow {
  readonly key: string;
  readonly hash: string;
  /** JSON of the identifier's value; null: not kept. */
  readonly identifier: string | null;
}

/** A row of the model. */
export interface ModelRow {
  /** Its key; where there is none, something that names the row to people. */
  readonly key: string;
  readonly hash: string;
  readonly identifier: string | null;
  /** JSON of the values by the destination's fields. */
  readonly fields: string;
  /** Known to be wrong already. */
  readonly reason?: RowReason | undefined;
}

export interface PlannedRow {
  readonly key: string;
  readonly change: RowChangeKind;
  /** Empty for removed rows. */
  readonly hash: string;
  readonly identifier: string | null;
  readonly fields: string | null;
}

export interface RefusedRow {
  readonly key: string;
  readonly change: RowChangeKind;
  readonly reason: RowReason;
}

export interface Plan {
  /** Rows that are to be sent. */
  readonly counts: RowCounts;
  /** Rows that cannot be sent, by what would have happened to them. */
  readonly refused: RowCounts;
}

export interface Diff extends Disposable {
  confirmed(rows: readonly ConfirmedRow[]): void;
  add(rows: readonly ModelRow[]): void;
  /** Compares. Called once, when everything is there. */
  plan(): Plan;
  /** Rows that are not sent again until the model is put right. At most `limit`. */
  refused(limit: number): RefusedRow[];
  /**
   * Takes these out of the rows to send; those that are not there any more as they were are left
   * out.
   */
  take(
    rows: readonly (readonly [key: string, hash: string, change: RowChangeKind])[],
  ): PlannedRow[];
  /**
   * The next rows to send: removed ones first, since another row may have their identifier now.
   * Empty: there are no more.
   */
  next(count: number): PlannedRow[];
}

const schema = `
  PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768; PRAGMA temp_store = FILE;
  CREATE TABLE confirmed (key TEXT PRIMARY KEY, hash TEXT NOT NULL, identifier TEXT) WITHOUT ROWID;
  CREATE TABLE staged (key TEXT NOT NULL, hash TEXT NOT NULL, identifier TEXT, fields TEXT NOT NULL, reason TEXT);
  CREATE TABLE changes (
    position INTEGER PRIMARY KEY, key TEXT NOT NULL, change TEXT NOT NULL, hash TEXT NOT NULL, identifier TEXT, fields TEXT, is_taken INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE refusals (key TEXT NOT NULL, change TEXT NOT NULL, reason TEXT NOT NULL);
`;

/** Rows whose key, or whose identifier, others have too: which of them is meant nobody knows. */
const duplicates = (column: "key" | "identifier") => `
  UPDATE staged SET reason = '${column}_duplicate' WHERE reason IS NULL AND ${column} IN (
    SELECT ${column} FROM staged WHERE ${column} IS NOT NULL AND coalesce(reason, '') NOT IN ('key_missing', 'key_invalid')
    GROUP BY ${column} HAVING count(*) > 1)`;

/** A row that has got another identifier is, at a mirror, one that goes and one that comes. */
const hasMoved = "staged.identifier IS NOT confirmed.identifier";

export function createDiff(operation: RowOperation): Diff {
  const database = new DatabaseSync("");
  database.exec(schema);
  const confirm = database.prepare("INSERT INTO confirmed VALUES (?, ?, ?)");
  const stage = database.prepare("INSERT INTO staged VALUES (?, ?, ?, ?, ?)");
  const isMirror = operation === "mirror";
  const isIdentifying = identifyingOperations.includes(operation);
  const isNew = isMirror ? `confirmed.key IS NULL OR ${hasMoved}` : "confirmed.key IS NULL";
  const change = `CASE WHEN ${isNew} THEN 'added' ELSE 'changed' END`;
  const isDifferent = operation === "insert" ? isNew : `${isNew} OR staged.hash <> confirmed.hash`;

  const inTransaction = (work: () => void) => {
    database.exec("BEGIN");
    work();
    database.exec("COMMIT");
  };
  const countBy = (table: "changes" | "refusals"): RowCounts => {
    const rows = database
      .prepare(`SELECT change, count(*) AS count FROM ${table} GROUP BY change`)
      .all();
    const of = (kind: RowChangeKind) => Number(rows.find((row) => row.change === kind)?.count ?? 0);
    return { addedCount: of("added"), changedCount: of("changed"), removedCount: of("removed") };
  };
  const columns = "key, change, hash, identifier, fields";

  return {
    confirmed: (rows) =>
      inTransaction(() => {
        for (const { key, hash, identifier } of rows) confirm.run(key, hash, identifier);
      }),
    add: (rows) =>
      inTransaction(() => {
        for (const { key, hash, identifier, fields, reason } of rows)
          stage.run(key, hash, identifier, fields, reason ?? null);
      }),
    plan() {
      database.exec("CREATE INDEX staged_key ON staged (key)");
      database.exec(duplicates("key"));
      if (isIdentifying)
        database.exec(
          `CREATE INDEX staged_identifier ON staged (identifier); ${duplicates("identifier")}`,
        );
      if (isMirror) {
        database.exec(`INSERT INTO changes (key, change, hash, identifier)
          SELECT key, 'removed', '', identifier FROM confirmed WHERE NOT EXISTS (SELECT 1 FROM staged WHERE staged.key = confirmed.key)
          UNION ALL
          SELECT confirmed.key, 'removed', '', confirmed.identifier FROM staged JOIN confirmed USING (key) WHERE reason IS NULL AND ${hasMoved}
          ORDER BY 1`);
      }
      const joined = "staged LEFT JOIN confirmed ON confirmed.key = staged.key";
      database.exec(`INSERT INTO changes (key, change, hash, identifier, fields)
        SELECT staged.key, ${change} AS change, staged.hash, staged.identifier, staged.fields FROM ${joined}
        WHERE reason IS NULL AND (${isDifferent}) ORDER BY change, staged.key`);
      database.exec(`INSERT INTO refusals
        SELECT staged.key, CASE WHEN confirmed.key IS NULL THEN 'added' ELSE 'changed' END, reason FROM ${joined} WHERE reason IS NOT NULL`);
      database.exec("CREATE INDEX changes_key ON changes (key)");
      return { counts: countBy("changes"), refused: countBy("refusals") };
    },
    refused: (limit) =>
      database
        .prepare(
          "SELECT key, min(change) AS change, min(reason) AS reason FROM refusals GROUP BY key ORDER BY key LIMIT ?",
        )
        .all(limit) as unknown as RefusedRow[],
    take(rows) {
      const find = database.prepare(
        `SELECT position, ${columns} FROM changes WHERE key = ? AND change = ? AND hash = ? AND is_taken = 0`,
      );
      const mark = database.prepare("UPDATE changes SET is_taken = 1 WHERE position = ?");
      return rows.flatMap(([key, hash, kind]) => {
        const found = find.get(key, kind, hash) as
          | (PlannedRow & { readonly position: number })
          | undefined;
        if (!found) return [];
        mark.run(found.position);
        const { position: _, ...row } = found;
        return [row];
      });
    },
    next(count) {
      const rows = database
        .prepare(
          `SELECT position, ${columns} FROM changes WHERE is_taken = 0 ORDER BY position LIMIT ?`,
        )
        .all(count);
      const last = rows.at(-1)?.position;
      if (last !== undefined) database.prepare("DELETE FROM changes WHERE position <= ?").run(last);
      return rows.map(({ position: _, ...row }) => row) as unknown as PlannedRow[];
    },
    [Symbol.dispose]: () => database.close(),
  };
}
