/**
 * Source for PostgreSQL 12 and later. Read on: spec.ts (settings) → streams.ts (discovery,
 * catalog.ts its queries) → reading.ts (what is read in which order) → copy.ts (a query's rows as
 * columns) → types.ts (types). Beside tables: queries.ts; some rows of them: row-filter.ts. From the
 * log: replication/reading.ts.
 */
import { ConnectorError, defineSource, postgresServer, type SelectedStream } from "svc-connectors";
import { openSession, type Session } from "./api.ts";
import { countTables, selectChosen } from "./catalog.ts";
import { toFailure } from "./failures.ts";
import { queryFailure } from "./queries.ts";
import { readTable, requireOfRows, type State, state } from "./reading.ts";
import { readChanges } from "./replication/reading.ts";
import { checkReplication, isOfLog } from "./replication/server.ts";
import { type PostgresContext, spec } from "./spec.ts";
import { discoverStreams, labelOf, queryOf, tryQueries } from "./streams.ts";

export default defineSource({
  id: "conn_postgres",
  version: "1.0.0",
  title: "PostgreSQL",
  spec,
  egress: postgresServer({ replicationSlot: "replication.slot" }),
  state,

  async check(ctx) {
    const session = await openSession(ctx);
    const found = await countTables(session, selectChosen(ctx.config))
      .then(async (count) => {
        await tryQueries(ctx, session);
        const { replication } = ctx.config;
        if (replication) await checkReplication(ctx, session, replication);
        return count + ctx.config.queries.length;
      })
      .catch((error: unknown) => {
        throw toFailure(error);
      });
    session.stream.end();
    if (found === 0)
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

  async *read(ctx, stream, saved, run) {
    try {
      const session = await sessionOf(ctx);
      if (isOfLog(stream))
        yield* readChanges(ctx, session, stream, saved, run ?? alone(stream, saved));
      else yield* readTable(ctx, session, stream, requireOfRows(saved, stream));
    } catch (error) {
      throw ctx.signal.aborted
        ? new ConnectorError("CANCELLED")
        : toFailure(
            queryOf(ctx.config, stream) ? queryFailure(error, stream.name) : error,
            labelOf({ schema: stream.namespace ?? "", name: stream.name }),
          );
    }
  },
});

const alone = (stream: SelectedStream, state: State | undefined) => ({
  streams: [{ stream, state }],
  isPart: true,
});

/** One session serves all streams of a run: a login costs more than a small table. */
const sessions = new WeakMap<PostgresContext, Promise<Session>>();

function sessionOf(ctx: PostgresContext): Promise<Session> {
  const open = sessions.get(ctx);
  if (open) return open;
  const opening = openSession(ctx);
  sessions.set(ctx, opening);
  // After a failure the next stream gets a new one.
  const forget = () => sessions.get(ctx) === opening && sessions.delete(ctx);
  opening.then(({ client }) => client.once("end", forget), forget);
  return opening;
}
