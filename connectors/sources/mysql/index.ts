/**
 * Source for MySQL 5.7 and later, and MariaDB. Read on: spec.ts (settings) → streams.ts (discovery,
 * catalog.ts its queries) → reading.ts (what is read in which order) → client.ts (the protocol) →
 * types.ts (types). Beside tables: queries.ts; some rows of them: row-filter.ts.
 */
import { ConnectorError, defineSource, mysqlServer } from "svc-connectors";
import { openSession, type Session } from "./api.ts";
import { hasReadableTable, selectChosen } from "./catalog.ts";
import { toFailure } from "./failures.ts";
import { queryFailure } from "./queries.ts";
import { readTable, state } from "./reading.ts";
import { type MysqlContext, spec } from "./spec.ts";
import { describeQueries, discoverStreams, labelOf, queryOf } from "./streams.ts";

export default defineSource({
  id: "conn_mysql",
  version: "1.0.0",
  title: "MySQL",
  spec,
  egress: mysqlServer(),
  state,

  async check(ctx) {
    const session = await openSession(ctx);
    const isUsable = await hasReadableTable(session, selectChosen(ctx.config))
      .then(async (hasTable) => {
        for await (const _ of describeQueries(ctx, session));
        return hasTable || ctx.config.queries.length > 0;
      })
      .catch((error: unknown) => {
        throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
      });
    session.stream.end();
    if (!isUsable)
      throw new ConnectorError("DATABASE_UNUSABLE", {
        reason: "no table that the settings choose can be read",
      });
  },

  async *discover(ctx) {
    try {
      const session = await openSession(ctx);
      yield* discoverStreams(ctx, session);
      session.stream.end();
    } catch (error) {
      throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
    }
  },

  async *read(ctx, stream, saved) {
    try {
      yield* readTable(ctx, await sessionOf(ctx), stream, saved);
    } catch (error) {
      throw ctx.signal.aborted
        ? new ConnectorError("CANCELLED")
        : toFailure(
            queryOf(ctx.config, stream) ? queryFailure(error, stream.name) : error,
            labelOf({ database: stream.namespace ?? "", name: stream.name }),
          );
    }
  },
});

/** One session serves all streams of a run: a login costs more than a small table. */
const sessions = new WeakMap<MysqlContext, Promise<Session>>();

function sessionOf(ctx: MysqlContext): Promise<Session> {
  const open = sessions.get(ctx);
  if (open) return open;
  const opening = openSession(ctx);
  sessions.set(ctx, opening);
  // After a failure the next stream gets a new one.
  const forget = () => sessions.get(ctx) === opening && sessions.delete(ctx);
  opening.then(({ stream }) => stream.once("close", forget), forget);
  return opening;
}
