/** PostgreSQL's log of changes: publications and logical replication slots. */
import type { DatabaseCopy } from "../contract/database.ts";
import type { DatabaseLog } from "../contract/database-log.ts";

/** A server of the kit logs what logical decoding needs, and brings it to the disk at once. */
export const logSettings = {
  wal_level: "logical",
  wal_writer_delay: "10ms",
  max_replication_slots: "40",
  max_wal_senders: "40",
} as const;

/** The publication that a connector's settings name. */
const publication = "svc_conformance";
const tables = ["svc_log_first", "svc_log_second"] as const;
const ofThisDatabase = "database = pg_catalog.current_database()";
const settleTries = 400;
const settleEveryMs = 25;

export const postgresLog: DatabaseLog = {
  tables,
  prepare: (role) => `
  ALTER ROLE "${role.replaceAll('"', '""')}" REPLICATION;
  CREATE PUBLICATION ${publication} FOR ALL TABLES WITH (publish_via_partition_root = true);`,

  /** Large values lie beside their rows; the log of the second table has whole rows. */
  makeTables: `${tables
    .map(
      (table) => `
  DROP TABLE IF EXISTS ${table};
  CREATE TABLE ${table} (id int PRIMARY KEY, n int NOT NULL, word text, large text);
  ALTER TABLE ${table} ALTER large SET STORAGE EXTERNAL;
  INSERT INTO ${table} SELECT i, i, 'row ' || i, pg_catalog.repeat(i || ' ', 2000) FROM pg_catalog.generate_series(1, 12) i;`,
    )
    .join("")}
  ALTER TABLE ${tables[1]} REPLICA IDENTITY FULL;`,

  touchAll: `
  SELECT pg_catalog.format('UPDATE %I.%I SET %3$I = %3$I', n.nspname, c.relname, a.attname)
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0] AND a.attidentity <> 'a'
  WHERE i.indisprimary AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND n.nspname !~ '^pg_' \\gexec`,

  losses: (slot) => {
    const drop = `SELECT pg_catalog.pg_drop_replication_slot('${slot}')`;
    return [
      { name: "is gone", statements: [drop] },
      {
        name: "is gone, and somebody has made another one of its name",
        statements: [
          drop,
          `SELECT pg_catalog.pg_create_logical_replication_slot('${slot}', 'pgoutput')`,
        ],
      },
      {
        name: "was read on by somebody else",
        statements: [
          `SELECT pg_catalog.pg_replication_slot_advance('${slot}', pg_catalog.pg_current_wal_lsn())`,
        ],
      },
    ];
  },

  settle,

  async release(copy) {
    await copy.execute(
      `SELECT pg_catalog.pg_terminate_backend(active_pid) FROM pg_catalog.pg_replication_slots WHERE ${ofThisDatabase} AND active`,
    );
    await settle(copy);
    await copy.execute(
      `SELECT pg_catalog.pg_drop_replication_slot(slot_name) FROM pg_catalog.pg_replication_slots WHERE ${ofThisDatabase}`,
    );
  },
};

async function settle(copy: DatabaseCopy): Promise<void> {
  const reading = `SELECT 1 AS one FROM pg_catalog.pg_replication_slots WHERE ${ofThisDatabase} AND active`;
  for (let left = settleTries; (await copy.rows(reading)).length > 0; left--) {
    if (left === 0) throw new Error("a session that is over still reads the log");
    await new Promise((resolve) => setTimeout(resolve, settleEveryMs));
  }
}
