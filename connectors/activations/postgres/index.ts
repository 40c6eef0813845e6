/**
 * Activation for tables of the customer's own in PostgreSQL 12 and later. Read on: spec.ts
 * (settings) → tables.ts (what can be written) → batches.ts (one transaction a batch) →
 * statements.ts (the SQL) → failures.ts.
 */
import { ConnectorError, postgresServer } from "svc-connectors";
import { defineActivation } from "svc-connectors/destination";
import { isRemembered, openBatches, writeBatch } from "./batches.ts";
import { toFailure } from "./failures.ts";
import { openSession, withSession } from "./session.ts";
import { spec } from "./spec.ts";
import { findTables, toObject } from "./tables.ts";

export default defineActivation({
  id: "conn_postgres",
  version: "1.0.0",
  title: "PostgreSQL rows",
  spec,
  egress: postgresServer(),
  maxBatchRows: 1_000,

  async objects(ctx, name) {
    return await withSession(ctx, async (client) => (await findTables(client, name)).map(toObject));
  },

  async check(ctx) {
    const found = await withSession(ctx, (client) => findTables(client));
    if (found.length === 0)
      throw new ConnectorError("DATABASE_UNUSABLE", {
        reason: "there is no table that the role may change",
      });
  },

  async *write(ctx, command, batches) {
    const session = await openSession(ctx);
    try {
      const [table] = await findTables(session.client, command.object);
      if (!table)
        throw new ConnectorError("RESOURCE_NOT_FOUND", {
          reason: "there is no such table that the role may change",
        });
      if (isRemembered(command)) await openBatches(session.client, table, command);
      for await (const batch of batches)
        yield await writeBatch(session.client, table, command, batch);
    } catch (error) {
      throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
    } finally {
      session.close();
    }
  },
});
