import { ConnectorError } from "svc-connectors";
import type { Session } from "./api.ts";

/**
 * Requires that all rows can be seen of the tables that this transaction has read. To a snapshot
 * from before a TRUNCATE, or an ALTER TABLE that writes the rows anew, the table has no rows: who
 * has waited for its lock, or comes later with an exported snapshot, reads nothing, and no error
 * says so. The catalog as the snapshot sees it names other files then than the table has now.
 * @param next a statement that is sent with the question
 * @throws DATA_CHANGED the next run has a snapshot of its own
 * @see https://www.postgresql.org/docs/current/mvcc-caveats.html (read 2026-11)
 */
export async function requireVisible({ client }: Session, next = ""): Promise<void> {
  const [seen] = [
    await client.query<{ hasOtherFiles: boolean }>(`
      SELECT EXISTS (
        SELECT FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_class c ON c.oid = l.relation
        WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation'
          AND c.relkind IN ('r', 'm') AND c.relfilenode <> 0
          AND c.relfilenode <> pg_catalog.pg_relation_filenode(c.oid)) AS "hasOtherFiles"; ${next}`),
  ].flat();
  if (seen?.rows[0]?.hasOtherFiles === true) throw new ConnectorError("DATA_CHANGED");
}
