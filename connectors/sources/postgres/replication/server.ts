/**
 * Checks that the server can replicate, and says what an administrator has to do where it cannot.
 */
import { escapeLiteral } from "pg";
import { ConnectorError, type SelectedStream, type Stream } from "svc-connectors";
import type { Session } from "../api.ts";
import type { Table } from "../catalog.ts";
import type { PostgresContext } from "../spec.ts";
import { parseLsn } from "./lsn.ts";
import { identify, openReplication, replicationFailure } from "./session.ts";
import { addedProperties, lsnField, type Replication } from "./settings.ts";

export interface ServerState {
  readonly room: Room;
  readonly version: number;
  /** Up to where the log is written: all that this session can see is before it. */
  readonly written: bigint;
  readonly slot: Slot | undefined;
  readonly keepsAllLog: boolean;
}

export interface Slot {
  /** The position before which commits are not given any more. */
  readonly confirmed: bigint;
  /** From here on the server keeps its log: also for transactions that are open for long. */
  readonly kept: bigint;
  readonly isLost: boolean;
  /** It takes more of the disk than the server plans for, or may be lost at any time. */
  readonly isAtRisk: boolean;
  /** Bytes that may be written before the server drops the log that the slot needs. */
  readonly safeBytes: number | undefined;
}

/** Room and rights for the sessions of replication. */
interface Room {
  readonly role: string;
  readonly mayReplicate: boolean;
  readonly slots: number;
  readonly freeSlots: number;
  readonly senders: number;
  readonly freeSenders: number;
}

interface Described extends Room {
  /** Settings that only a provider's servers have. */
  readonly rds: string | null;
  readonly cloudsql: string | null;
  readonly azure: string | null;
  readonly standby: boolean;
  readonly level: string;
  readonly version: number;
  readonly written: string | null;
  readonly kept: string | null;
  readonly slot: Record<string, unknown> | null;
  readonly publication: Record<string, unknown> | null;
}

const unusable = (reason: string) => new ConnectorError("DATABASE_UNUSABLE", { reason });

/** @throws DATABASE_UNUSABLE with what an administrator has to run */
export async function inspectServer(
  { client }: Session,
  { slot, publication }: Replication,
): Promise<ServerState> {
  const { rows } = await client.query<Described>(`
    SELECT pg_catalog.pg_is_in_recovery() AS standby, pg_catalog.current_setting('wal_level') AS level,
      pg_catalog.current_setting('server_version_num')::int AS version,
      pg_catalog.current_setting('max_slot_wal_keep_size', true) AS kept,
      CASE WHEN NOT pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_current_wal_insert_lsn()::text END AS written,
      pg_catalog.quote_ident(CURRENT_USER) AS role, COALESCE((SELECT rolsuper OR rolreplication FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER), false)
        OR EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'rds_replication' AND pg_catalog.pg_has_role(CURRENT_USER, oid, 'MEMBER')) AS "mayReplicate",
      pg_catalog.current_setting('max_replication_slots')::int AS slots,
      pg_catalog.current_setting('max_replication_slots')::int - (SELECT count(*) FROM pg_catalog.pg_replication_slots)::int AS "freeSlots",
      pg_catalog.current_setting('max_wal_senders')::int AS senders,
      pg_catalog.current_setting('max_wal_senders')::int - (SELECT count(*) FROM pg_catalog.pg_stat_replication)::int AS "freeSenders",
      pg_catalog.current_setting('rds.logical_replication', true) AS rds,
      pg_catalog.current_setting('cloudsql.logical_decoding', true) AS cloudsql, pg_catalog.current_setting('azure.extensions', true) AS azure,
      (SELECT pg_catalog.row_to_json(s) FROM (SELECT *, database = pg_catalog.current_database() AS is_here
         FROM pg_catalog.pg_replication_slots WHERE slot_name = ${escapeLiteral(slot)}) s) AS slot,
      (SELECT pg_catalog.row_to_json(p) FROM pg_catalog.pg_publication p WHERE pubname = ${escapeLiteral(publication)}) AS publication`);
  const [found] = rows;
  if (!found || found.version < 120_000) throw unusable("it is older than PostgreSQL 12");
  if (found.standby || found.written === null)
    throw unusable("it is a standby server: changes are read from the primary one");
  if (found.level !== "logical")
    throw unusable(
      `its wal_level is ${found.level}; an administrator ${logicalLevel(found)} and restarts the server`,
    );
  requirePublication(found.publication, publication);
  const { role, mayReplicate, slots, freeSlots, senders, freeSenders } = found;
  return {
    room: { role, mayReplicate, slots, freeSlots, senders, freeSenders },
    version: found.version,
    written: parseLsn(found.written),
    slot: found.slot ? toSlot(found.slot, slot) : undefined,
    keepsAllLog: found.kept === "-1",
  };
}

/** Providers that run the server themselves have a setting of their own. */
function logicalLevel({ rds, cloudsql, azure }: Described): string {
  if (rds !== null) return "sets rds.logical_replication = 1 in its parameter group";
  if (cloudsql !== null) return "sets its flag cloudsql.logical_decoding = on";
  if (azure !== null) return "sets its server parameter wal_level = logical";
  return "runs ALTER SYSTEM SET wal_level = 'logical'";
}

/**
 * A first read needs two slots, the second one for as long as rows are copied, and a session for
 * each of them.
 */
function requireRoom({ log }: PostgresContext, { room, slot }: ServerState, name: string): void {
  const { role, mayReplicate, slots, freeSlots, senders, freeSenders } = room;
  if (!mayReplicate)
    throw new ConnectorError("PERMISSION_DENIED", {
      reason: `the role ${role} may not replicate; an administrator runs ALTER ROLE ${role} REPLICATION (in Amazon RDS: GRANT rds_replication TO ${role})`,
    });
  const needed = slot ? 1 : 2;
  const lacking =
    freeSlots < needed
      ? `of its ${slots} replication slots ${freeSlots} are free, and ${needed} are needed to copy rows; an administrator raises max_replication_slots and restarts the server, or drops a slot that nobody needs (SELECT slot_name, active FROM pg_replication_slots)`
      : freeSenders < needed
        ? `of its ${senders} sessions of replication ${freeSenders} are free, and ${needed} are needed to copy rows; an administrator raises max_wal_senders and restarts the server`
        : undefined;
  if (lacking === undefined) return;
  if (!slot) throw unusable(lacking);
  log.warn("The server has no room to copy the rows of another table.", { slot: name, lacking });
}

function requirePublication(found: Record<string, unknown> | null, name: string): void {
  if (!found)
    throw unusable(
      `it has no publication ${name}; the owner of the tables runs CREATE PUBLICATION ${name} FOR TABLE … WITH (publish_via_partition_root = true)`,
    );
  if (!found.pubinsert || !found.pubupdate || !found.pubdelete || !found.pubtruncate)
    throw unusable(
      `the publication ${name} leaves changes out; its owner runs ALTER PUBLICATION ${name} SET (publish = 'insert, update, delete, truncate')`,
    );
}

function toSlot(found: Record<string, unknown>, name: string): Slot {
  if (found.plugin !== "pgoutput" || found.is_here !== true)
    throw unusable(
      `the replication slot ${name} is another's: of another database, or not of pgoutput; choose another name`,
    );
  const confirmed = parseLsn(String(found.confirmed_flush_lsn ?? "0/0"));
  return {
    confirmed,
    kept: found.restart_lsn ? parseLsn(String(found.restart_lsn)) : confirmed,
    isAtRisk: found.wal_status === "extended" || found.wal_status === "unreserved",
    safeBytes: typeof found.safe_wal_size === "number" ? found.safe_wal_size : undefined,
    isLost: found.wal_status === "lost" || found.confirmed_flush_lsn === null,
  };
}

/**
 * Has the server bring its log to the disk, up to here at least: only from there it is sent. A
 * transaction of its own makes it do so; without one, the end of the log may wait for the next.
 */
export async function flushLog({ client }: Session): Promise<void> {
  await client.query("SELECT pg_catalog.txid_current()");
}

/**
 * Whether one of the tables has values beside its rows that the log may leave out: only those have
 * to be read by key.
 */
export async function haveLargeValues(
  { client }: Session,
  streams: readonly Stream[],
): Promise<boolean> {
  const names = streams.map(
    ({ namespace = "public", name }) => `(${escapeLiteral(namespace)}, ${escapeLiteral(name)})`,
  );
  const { rows } = await client.query<{ found: boolean }>(`
    SELECT EXISTS (SELECT FROM (VALUES ${names}) v (schema, name)
      JOIN pg_catalog.pg_namespace n ON n.nspname = v.schema
      JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = v.name
      CROSS JOIN LATERAL (SELECT c.oid UNION SELECT relid FROM pg_catalog.pg_partition_tree(c.oid)) part (oid)
      JOIN pg_catalog.pg_class p ON p.oid = part.oid
      WHERE p.relreplident <> 'f' AND p.reltoastrelid <> 0
        AND pg_catalog.pg_relation_size(p.reltoastrelid) > 0) AS found`);
  return rows[0]?.found === true;
}

/**
 * Tries all that a first read needs, but for the slot: one that is made holds the log back.
 * @throws DATABASE_UNUSABLE, PERMISSION_DENIED with what an administrator has to run
 */
export async function checkReplication(
  ctx: PostgresContext,
  session: Session,
  settings: Replication,
): Promise<void> {
  const server = await inspectServer(session, settings);
  requireRoom(ctx, server, settings.slot);
  const replicationSession = await openReplication(ctx);
  await identify(replicationSession).catch((error: unknown) => {
    throw replicationFailure(error);
  });
  replicationSession.end();
  const tables = await publishedTables(session, settings);
  if (![...tables.values()].some(({ problem }) => problem === undefined))
    throw unusable(
      `the publication ${settings.publication} has no table with a primary key whose changes can be read`,
    );
  if (server.keepsAllLog)
    ctx.log.warn(
      "The server keeps its log for as long as a slot is not read: max_slot_wal_keep_size limits what that may take of the disk.",
      { slot: settings.slot },
    );
}

export interface PublishedTable {
  /** Why its changes cannot be read; undefined: they can. */
  readonly problem: string | undefined;
  /** Columns that the log does not have: they are computed from others. */
  readonly generated: readonly string[];
}

/** A query of such a table has their rows, and the log has them by other names. */
export const heirsProblem = "has tables that inherit from it";

export const tableKey = (schema: string, name: string) => JSON.stringify([schema, name]);

/** The tables of the publication. */
export async function publishedTables(
  { client }: Session,
  { publication }: Replication,
): Promise<ReadonlyMap<string, PublishedTable>> {
  const { rows } = await client.query<{
    schema: string;
    name: string;
    identity: string;
    filtered: boolean;
    listed: number | null;
    columns: number;
    generated: string[];
    heirs: boolean;
  }>(`
    SELECT p.schemaname AS schema, p.tablename AS name, c.relreplident::text AS identity,
      pg_catalog.to_jsonb(p)->>'rowfilter' IS NOT NULL AS filtered,
      pg_catalog.jsonb_array_length(NULLIF(pg_catalog.to_jsonb(p)->'attnames', 'null')) AS listed, a.columns, a.generated,
      c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid) AS heirs
    FROM pg_catalog.pg_publication_tables p
    JOIN pg_catalog.pg_namespace n ON n.nspname = p.schemaname
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = p.tablename
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS columns,
        COALESCE(pg_catalog.json_agg(attname) FILTER (WHERE attgenerated <> ''), '[]') AS generated
      FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
    ) a WHERE p.pubname = ${escapeLiteral(publication)}`);
  return new Map(
    rows.map(({ schema, name, identity, filtered, listed, columns, generated, heirs }) => {
      const isWhole = listed === null || listed >= columns - generated.length;
      const problem =
        identity !== "d" && identity !== "f"
          ? "its replica identity is neither the primary key nor the whole row"
          : filtered || !isWhole
            ? "the publication leaves rows or columns of it out"
            : heirs
              ? `it ${heirsProblem}`
              : undefined;
      return [tableKey(schema, name), { problem, generated }];
    }),
  );
}

/** Whether a selected stream is read from the log. */
export const isOfLog = ({ syncMode, cursorField }: SelectedStream) =>
  syncMode === "incremental" && cursorField === lsnField;

/**
 * Why changes of a table cannot be read from the log although it is published; undefined: they can.
 */
export function logProblem(
  { primaryKey, columns }: Table,
  { problem }: PublishedTable,
): string | undefined {
  if (primaryKey.length === 0) return "it has no primary key";
  if (columns.some(({ name }) => Object.hasOwn(addedProperties, name)))
    return "it has a column of the name that the changes need";
  return problem;
}
