/** The verbs of a source of a database: sessions, and failures in the words of the error table. */
import type { DatabaseContext } from "../contract/context.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { Output } from "../contract/output.ts";
import type { ReadRun } from "../contract/source.ts";
import type { SelectedStream, Stream } from "../contract/stream.ts";
import { type QueryReason, queryFailure, queryOf } from "./queries.ts";
import type { DatabaseQuery } from "./settings.ts";
import { labelOf } from "./tables.ts";

/** The stream under a session. */
interface SessionStream {
  once(event: "close", listener: () => void): unknown;
  end(): unknown;
}

interface QueriesConfig {
  readonly queries: readonly DatabaseQuery[];
}

export interface DatabaseVerbs<Config extends QueriesConfig, Session, State> {
  /** A new session with known settings. It ends when the run is cancelled. */
  openSession(ctx: DatabaseContext<Config>): Promise<Session>;
  /**
   * An error of the server or of the connection in words of the error table, and no text of theirs.
   */
  toFailure(error: unknown, stream?: string): ConnectorError;
  /** The fault of a stream's query in an error; undefined: it is none of the query's. */
  queryReason(error: unknown): QueryReason | undefined;
  /** Whether a table or a query can be read; what it throws is what is wrong. */
  isUsable(ctx: DatabaseContext<Config>, session: Session): Promise<boolean>;
  discover(ctx: DatabaseContext<Config>, session: Session): AsyncIterable<Stream>;
  read(
    ctx: DatabaseContext<Config>,
    session: Session,
    stream: SelectedStream,
    saved: State | undefined,
    run: ReadRun<Stream, State> | undefined,
  ): AsyncIterable<Output<State>>;
}

/**
 * `check`, `discover` and `read` of a source, to stand in `defineSource`. One session serves all
 * streams of a run: a login costs more than a small table.
 */
export function databaseVerbs<
  Config extends QueriesConfig,
  Session extends { readonly stream: SessionStream },
  State,
>(verbs: DatabaseVerbs<Config, Session, State>) {
  const sessions = new WeakMap<DatabaseContext<Config>, Promise<Session>>();
  const sessionOf = (ctx: DatabaseContext<Config>): Promise<Session> => {
    const open = sessions.get(ctx);
    if (open) return open;
    const opening = verbs.openSession(ctx);
    sessions.set(ctx, opening);
    // After a failure the next stream gets a new one.
    const forget = () => sessions.get(ctx) === opening && sessions.delete(ctx);
    opening.then(({ stream }) => stream.once("close", forget), forget);
    return opening;
  };
  const failureOf = (ctx: DatabaseContext<Config>, error: unknown, stream?: string) =>
    ctx.signal.aborted ? new ConnectorError("CANCELLED") : verbs.toFailure(error, stream);
  return {
    async check(ctx: DatabaseContext<Config>): Promise<void> {
      const session = await verbs.openSession(ctx);
      const isUsable = await verbs.isUsable(ctx, session).catch((error: unknown) => {
        throw failureOf(ctx, error);
      });
      session.stream.end();
      if (!isUsable)
        throw new ConnectorError("DATABASE_UNUSABLE", {
          reason: "no table that the settings choose can be read",
        });
    },

    async *discover(ctx: DatabaseContext<Config>): AsyncGenerator<Stream> {
      try {
        const session = await verbs.openSession(ctx);
        yield* verbs.discover(ctx, session);
        session.stream.end();
      } catch (error) {
        throw failureOf(ctx, error);
      }
    },

    async *read(
      ctx: DatabaseContext<Config>,
      stream: SelectedStream,
      saved: State | undefined,
      run?: ReadRun<Stream, State>,
    ): AsyncGenerator<Output<State>> {
      try {
        yield* verbs.read(ctx, await sessionOf(ctx), stream, saved, run);
      } catch (error) {
        const { namespace = "", name } = stream;
        const said = queryOf(ctx.config, stream)
          ? queryFailure(error, name, verbs.queryReason)
          : error;
        throw failureOf(ctx, said, labelOf({ schema: namespace, name }));
      }
    },
  };
}
