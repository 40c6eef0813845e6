import { randomBytes } from "node:crypto";
import { ConnectorError } from "svc-connectors";
import { toFailure } from "./failures.ts";
import { schemaName } from "./opening.ts";
import { openSession } from "./session.ts";
import type { PostgresContext } from "./spec.ts";
import { createSchemas, createStateTables } from "./state.ts";
import { tableName } from "./tables.ts";

/**
 * Makes a table in the schema, writes, reads and removes it. Of `_svc` it only tries whether it can
 * be made.
 */
export async function checkPlace(ctx: PostgresContext): Promise<void> {
  const session = await openSession(ctx, "svc");
  const { client } = session;
  const schema = schemaName(ctx.config.schema);
  const probe = tableName({ schema, name: `_svc_probe_${randomBytes(6).toString("hex")}` });
  try {
    await client.query("BEGIN");
    await client.query("SAVEPOINT svc_own");
    await createStateTables(client);
    await client.query("INSERT INTO _svc.writers VALUES ('', 0, now())");
    await client.query("ROLLBACK TO SAVEPOINT svc_own");
    await createSchemas(client, [schema]);
    await client.query(`CREATE TABLE ${probe} (id bigint, data jsonb)`);
    await client.query(`INSERT INTO ${probe} VALUES (1, '{}')`);
    const { rows } = await client.query<{ id: string }>(`SELECT id FROM ${probe}`);
    if (rows[0]?.id !== "1")
      throw new ConnectorError("DATABASE_UNUSABLE", {
        reason: "a row that was written cannot be read",
      });
    await client.query(`DROP TABLE ${probe}`);
    await client.query("COMMIT");
  } catch (error) {
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  } finally {
    await session.close();
  }
}
