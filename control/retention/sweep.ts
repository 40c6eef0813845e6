/**
 * Deletes what is older than the operator wants it to be kept, in small batches, so that nobody
 * waits for it.
 */
import { type Kysely, sql } from "kysely";
import type { Retention } from "../services/settings.ts";
import type { Tables } from "../store/tables.ts";
import { pruneAudit } from "./audit.ts";

/** Rows of one statement. */
export const batchRows = 500;

/** One kind of row, and which of them may go: those whose `time` is before the cutoff. */
interface Rule {
  readonly table: keyof Tables & string;
  readonly keptFor: Exclude<keyof Retention, "audit">;
  /** The columns that name a row. */
  readonly key: readonly string[];
  /** SQL: which rows of the table `old` are older than `cutoff`. */
  readonly isOld: string;
}

const isOver = (status: string) => `${status} IN ('succeeded', 'failed', 'cancelled')`;

/** In this order: what belongs to others goes before them. */
const rules: readonly Rule[] = [
  {
    table: "job_logs",
    keptFor: "job_logs",
    key: ["job_id", "index"],
    // By their job: the log of one that is under way stays whole.
    isOld: `EXISTS (SELECT FROM jobs WHERE jobs.id = old.job_id AND ${isOver("jobs.status")} AND jobs.ended_at < cutoff.at)`,
  },
  {
    table: "jobs",
    keptFor: "jobs",
    key: ["id"],
    // The latest of each pipeline or activation stays: it says how that stands.
    isOld: `${isOver("old.status")} AND old.ended_at < cutoff.at AND EXISTS (
      SELECT FROM jobs later WHERE later.subject_id = old.subject_id AND later.created_at > old.created_at)`,
  },
  {
    table: "pipeline_rows",
    keptFor: "jobs",
    key: ["pipeline_id", "slot"],
    // The last 90 days are shown, however soon jobs go.
    isOld: "old.slot < cutoff.at - interval '91 days'",
  },
  {
    table: "reverse_etl_runs",
    keptFor: "jobs",
    key: ["id"],
    isOld: `old.finished_at < cutoff.at AND EXISTS (
      SELECT FROM reverse_etl_runs later
      WHERE later.activation_id = old.activation_id AND later.created_at > old.created_at)`,
  },
  {
    table: "event_deliveries",
    keptFor: "deliveries",
    key: ["id"],
    isOld: "old.status <> 'pending' AND old.ended_at < cutoff.at",
  },
  {
    table: "events",
    keptFor: "events",
    key: ["id"],
    // With the last of its deliveries.
    isOld: `old.created_at < cutoff.at AND NOT EXISTS (
      SELECT FROM event_deliveries WHERE event_deliveries.event_id = old.id)`,
  },
  {
    table: "credential_uses",
    keptFor: "credential_uses",
    key: ["id"],
    isOld: "old.used_at < cutoff.at",
  },
  // A row that expires by itself is kept no longer than that.
  {
    table: "idempotency_keys",
    keptFor: "ended",
    key: ["session_id", "method", "path", "key"],
    isOld: "old.expires_at < cutoff.at",
  },
  {
    table: "oauth_sessions",
    keptFor: "ended",
    key: ["id"],
    isOld: "old.expires_at < cutoff.at",
  },
  { table: "catalogs", keptFor: "ended", key: ["id"], isOld: "old.expires_at < cutoff.at" },
];

/** Every table that rows are deleted from as they grow old. */
export const sweptTables: readonly (keyof Tables & string)[] = [
  ...rules.map(({ table }) => table),
  "audit_logs",
];

const dayMs = 86_400_000;

export interface Sweeping {
  readonly retention: Retention;
  readonly now: Date;
  readonly signal: AbortSignal;
  /** The folder to which the audit log goes before it is deleted; undefined: nowhere. */
  readonly auditArchive?: string | undefined;
  /** Of one kind that could not be swept: the others are all the same. */
  onFailure(kind: string): void;
}

/**
 * Deletes what is old. Any number of processes may do it at once.
 * @returns how many rows have gone, by table
 */
export async function sweepOld(
  db: Kysely<Tables>,
  { retention, now, signal, auditArchive, onFailure }: Sweeping,
): Promise<Readonly<Record<string, number>>> {
  const cutoffOf = (days: number) => new Date(now.getTime() - days * dayMs);
  const gone: Record<string, number> = {};
  for (const rule of rules) {
    const days = retention[rule.keptFor];
    if (days === null) continue;
    await sweepTable(db, rule, cutoffOf(days), signal).then(
      (count) => {
        gone[rule.table] = count;
      },
      () => onFailure(rule.table),
    );
  }
  if (retention.audit !== null)
    await pruneAudit(db, {
      cutoff: cutoffOf(retention.audit),
      now,
      signal,
      archive: auditArchive,
    }).then(
      (count) => {
        gone.audit_logs = count;
      },
      () => onFailure("audit_logs"),
    );
  return gone;
}

async function sweepTable(
  db: Kysely<Tables>,
  { table, key, isOld }: Rule,
  cutoff: Date,
  signal: AbortSignal,
): Promise<number> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  const old = sql.join(key.map((name) => sql.ref(`old.${name}`)));
  let total = 0;
  while (!signal.aborted) {
    const { numAffectedRows } = await sql`
      DELETE FROM ${sql.table(table)} WHERE (${columns}) IN (
        SELECT ${old} FROM ${sql.table(table)} AS old, (SELECT ${cutoff}::timestamptz AS at) AS cutoff
        WHERE ${sql.raw(isOld)} LIMIT ${sql.lit(batchRows)} FOR UPDATE OF old SKIP LOCKED)`.execute(
      db,
    );
    const count = Number(numAffectedRows ?? 0);
    total += count;
    if (count < batchRows) break;
  }
  return total;
}
