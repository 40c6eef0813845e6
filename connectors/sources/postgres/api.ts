import type { Duplex } from "node:stream";
import { Client, type Submittable } from "pg";
import { ConnectorError, type Row } from "svc-connectors";
import { toFailure } from "./failures.ts";
import type { PostgresContext } from "./spec.ts";

/** A connected client, and the stream below it, which can be paused. */
export interface Session {
  readonly client: Client;
  readonly stream: Duplex;
}

/**
 * Text output without loss and without local habits, and limits on what may hang. Names that a
 * server lacks are skipped.
 */
const settings = {
  datestyle: "ISO, YMD",
  timezone: "UTC",
  intervalstyle: "iso_8601",
  extra_float_digits: "3",
  bytea_output: "hex",
  lc_monetary: "C",
  jit: "off", // compiling takes longer than the catalog queries
  statement_timeout: "1h",
  lock_timeout: "1min",
  // While the output is slow the session is idle, by right.
  idle_in_transaction_session_timeout: "0",
  idle_session_timeout: "0",
};

/** A new session with known settings. It ends when the run is cancelled. @throws ConnectorError */
export async function openSession(ctx: PostgresContext): Promise<Session> {
  const stream = await ctx.connect();
  ctx.signal.addEventListener("abort", () => stream.destroy(), { once: true });
  // A server that is gone without a word leaves the stream half open; `pg` waits for its close.
  stream.once("end", () => stream.destroy());
  const client = new Client({ stream: () => stream, ssl: false, user: "svc", database: "svc" });
  client.on("error", () => {}); // the query that is under way, or the next one, fails
  const values = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`);
  try {
    await client.connect();
    await client.query(
      `SELECT pg_catalog.set_config(s.name, v.value, false) FROM (VALUES ${values}) v (name, value)
       JOIN pg_catalog.pg_settings s ON pg_catalog.lower(s.name) = v.name`,
    );
    // The server notices during a statement that nobody waits any more. Not every platform can.
    await client.query("SET client_connection_check_interval = '10s'").catch(() => {});
    return { client, stream };
  } catch (error) {
    stream.destroy();
    throw ctx.signal.aborted ? new ConnectorError("CANCELLED") : toFailure(error);
  }
}

/** One snapshot for all that `work` reads; rolled back in any case. */
export async function* inSnapshot<T>(
  { client }: Session,
  work: () => AsyncIterable<T>,
): AsyncGenerator<T> {
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  try {
    yield* work();
  } finally {
    await client.query("ROLLBACK").catch(() => {}); // the session may be gone
  }
}

/** A row as the server sends it. */
export type Fields = readonly (string | null)[];

export interface Page {
  readonly rows: readonly Row[];
  /** The last row as the server sent it. */
  readonly last: Fields;
}

export interface FetchOptions {
  readonly maxRows: number;
  readonly toRow: (fields: Fields) => Row;
  /** True for a row that must begin a new page. */
  readonly startsPage?: ((fields: Fields, previous: Fields | undefined) => boolean) | undefined;
}

/**
 * Bytes of a page as the server sends them. One page is ahead of the one in work, so about three
 * are in memory.
 */
const maxPageBytes = 8 * 1024 * 1024;
/** Rows of the first fetch, before the width of rows is known. */
const firstRows = 1_000;

/**
 * The rows of a query through a server-side cursor, in pages of at most `maxRows` rows and about 8
 * MiB; the next page comes while the last one is in work, never more. Needs a transaction. One at a
 * time per session.
 * @throws what `pg` throws
 */
export async function* fetchPages(
  session: Session,
  query: string,
  options: FetchOptions,
): AsyncGenerator<Page> {
  const { client, stream } = session;
  const { maxRows, toRow, startsPage } = options;
  const ready: Page[] = [];
  let rows: Row[] = [];
  let last: Fields | undefined;
  let bytes = 0;
  let nextCount = Math.min(firstRows, maxRows);
  let isFetching = false;
  let isDone = false;
  let isOver = false;
  let failure: unknown;
  let wake = () => {};

  const cut = () => {
    if (rows.length === 0 || last === undefined) return;
    ready.push({ rows, last });
    rows = [];
    bytes = 0;
    if (ready.length > 1) stream.pause();
    wake();
  };
  const fetch = () => {
    if (isFetching || isDone || failure !== undefined || ready.length > 0) return;
    isFetching = true;
    const count = nextCount;
    let fetchedRows = 0;
    let fetchedBytes = 0;
    const onRow = (fields: Fields, length: number) => {
      if (isOver || failure !== undefined) return;
      try {
        if (startsPage?.(fields, last)) cut();
        rows.push(toRow(fields));
      } catch (error) {
        failure ??= error; // thrown on by the loop below; here it would end the process
      }
      last = fields;
      bytes += length;
      fetchedRows++;
      fetchedBytes += length;
      if (bytes >= maxPageBytes || rows.length >= maxRows) cut();
    };
    const onEnd = (error?: unknown) => {
      isFetching = false;
      failure ??= error;
      if (error === undefined) cut();
      isDone = fetchedRows < count;
      const fitting = Math.floor((maxPageBytes * fetchedRows) / Math.max(1, fetchedBytes));
      nextCount = Math.max(1, Math.min(maxRows, fitting));
      wake();
    };
    client.query(createRowStream(`FETCH FORWARD ${count} FROM svc_rows`, onRow, onEnd));
  };

  await client.query(`DECLARE svc_rows NO SCROLL CURSOR FOR ${query}`);
  try {
    for (;;) {
      fetch();
      const page = ready.shift();
      if (page) {
        if (ready.length <= 1) stream.resume();
        fetch();
        yield page;
      } else if (failure !== undefined) throw failure;
      else if (isDone) break;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    // A reader that stops early leaves rows on their way.
    isOver = true;
    stream.resume();
    while (isFetching) await new Promise<void>((resolve) => (wake = resolve));
    await client.query("CLOSE svc_rows").catch(() => {}); // after a failure this fails too
  }
}

/**
 * The methods that `pg` calls on a query while its answer arrives; a public extension point that
 * pg-cursor uses too.
 */
function createRowStream(
  text: string,
  onRow: (fields: Fields, length: number) => void,
  onEnd: (error?: unknown) => void,
): Submittable {
  const query = {
    submit: (connection: { query(text: string): void }) => connection.query(text),
    handleRowDescription() {},
    handleDataRow: (message: { readonly fields: Fields; readonly length: number }) =>
      onRow(message.fields, message.length),
    handleCommandComplete() {},
    handleEmptyQuery() {},
    handleReadyForQuery: () => onEnd(),
    handleError: (error: unknown) =>
      onEnd(error ?? new ConnectorError("CONNECTION_FAILED", { reason: "reset" })),
  };
  return query;
}
