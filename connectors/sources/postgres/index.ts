/**
 * Source for PostgreSQL 12 and later. Read on: spec.ts (settings) → streams.ts (discovery,
 * catalog.ts its queries) → reading.ts (what is read in which order) → copy.ts (a query's rows as
 * columns) → types.ts (types). Beside tables: queries.ts; some rows of them: row-filter.ts. From
 * the log: replication/reading.ts.
 */
import { defineSource, postgresServer, type SelectedStream } from "svc-connectors";
import { databaseVerbs } from "svc-connectors/database";
import { openSession, type Session } from "./api.ts";
import { countTables, selectChosen } from "./catalog.ts";
import { queryReason, toFailure } from "./failures.ts";
import { readTable, requireOfRows, type State, state } from "./reading.ts";
import { readChanges } from "./replication/reading.ts";
import { checkReplication, isOfLog } from "./replication/server.ts";
import { type Config, spec } from "./spec.ts";
import { discoverStreams, tryQueries } from "./streams.ts";

export default defineSource({
  id: "conn_postgres",
  version: "1.0.0",
  title: "PostgreSQL",
  spec,
  egress: postgresServer({ replicationSlot: "replication.slot" }),
  state,

  ...databaseVerbs<Config, Session, State>({
    openSession,
    toFailure,
    queryReason,
    discover: discoverStreams,

    async isUsable(ctx, session) {
      const { queries, replication } = ctx.config;
      const count = await countTables(session, selectChosen(ctx.config));
      await tryQueries(ctx, session);
      if (replication) await checkReplication(ctx, session, replication);
      return count + queries.length > 0;
    },

    read(ctx, session, stream, saved, run = alone(stream, saved)) {
      return isOfLog(stream)
        ? readChanges(ctx, session, stream, saved, run)
        : readTable(ctx, session, stream, requireOfRows(saved, stream));
    },
  }),
});

const alone = (stream: SelectedStream, state: State | undefined) => ({
  streams: [{ stream, state }],
  isPart: true,
});
