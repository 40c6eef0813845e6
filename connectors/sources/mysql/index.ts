/**
 * Source for MySQL 5.7 and later, and MariaDB. Read on: spec.ts (settings) → streams.ts (discovery,
 * catalog.ts its queries) → reading.ts (what is read in which order) → client.ts (the protocol) →
 * types.ts (types). Beside tables: queries.ts; some rows of them: row-filter.ts.
 */
import { defineSource, mysqlServer } from "svc-connectors";
import { databaseVerbs, type RowState } from "svc-connectors/database";
import { openSession, type Session } from "./api.ts";
import { hasReadableTable, selectChosen } from "./catalog.ts";
import { queryReason, toFailure } from "./failures.ts";
import { readTable, state } from "./reading.ts";
import { type Config, spec } from "./spec.ts";
import { discoverStreams, tryQueries } from "./streams.ts";

export default defineSource({
  id: "conn_mysql",
  version: "1.0.0",
  title: "MySQL",
  spec,
  egress: mysqlServer(),
  state,

  ...databaseVerbs<Config, Session, RowState>({
    openSession,
    toFailure,
    queryReason,
    discover: discoverStreams,
    read: readTable,

    async isUsable(ctx, session) {
      const hasTable = await hasReadableTable(session, selectChosen(ctx.config));
      await tryQueries(ctx, session);
      return hasTable || ctx.config.queries.length > 0;
    },
  }),
});
