import type { DuckDBConnection, DuckDBResult } from "@duckdb/node-api";
import { ConnectorError, type JsonValue } from "svc-connectors";
import type { QueryCommand, QueryResult } from "svc-connectors/destination";
import { type Database, openDatabase } from "./database.ts";
import { prepareSelect, queryFailed } from "./query-rules.ts";
import { createToJson, fromJson } from "./query-values.ts";
import type { DuckdbContext } from "./spec.ts";

/**
 * Runs one SELECT, on a connection of its own, in a transaction that only reads and is rolled back.
 * No statement reaches a file: the database was opened that way; nothing but a SELECT runs.
 * @throws QUERY_REFUSED, QUERY_FAILED, OUTPUT_BUSY, OUTPUT_FAILED, CANCELLED
 */
export async function runQuery(
  { path, signal }: DuckdbContext,
  command: QueryCommand,
): Promise<QueryResult> {
  const database = await openDatabase(path);
  const session = await openSession(
    database,
    AbortSignal.any([signal, AbortSignal.timeout(command.timeoutMs)]),
  );
  const toFailure = (error: unknown) => {
    if (signal.aborted) return new ConnectorError("CANCELLED");
    return session.isStopped() ? tooLong() : queryFailed(error, command.sql);
  };
  try {
    const prepared = await prepareSelect(session.connection, command.sql);
    const result = await prepared.stream();
    session.stream = result;
    const columns = result
      .columnNames()
      .map((name, index) => ({ name, type: String(result.columnType(index)) }));
    return { columns, pages: readPages(result, command.maxRows, session, toFailure) };
  } catch (error) {
    await session[Symbol.asyncDispose]();
    throw toFailure(error);
  }
}

const tooLong = () => new ConnectorError("QUERY_FAILED", { reason: "it took too long" });

interface Session extends AsyncDisposable {
  readonly connection: DuckDBConnection;
  /** The statement that runs there. */
  stream?: DuckDBResult;
  isStopped(): boolean;
}

const interruptEveryMs = 20;

/**
 * A connection in a transaction that only reads. The signal interrupts whatever runs there.
 * Disposing leaves the database too.
 */
async function openSession(database: Database, signal: AbortSignal): Promise<Session> {
  let connection: DuckDBConnection;
  try {
    connection = await database.connect();
    await connection.run("BEGIN TRANSACTION READ ONLY");
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw queryFailed(error, "");
  }
  let isClosed = false;
  let interrupting: NodeJS.Timeout | undefined;
  // Again and again: an interrupt that comes just before a statement begins is lost.
  const interrupt = () => {
    interrupting ??= setInterval(() => connection.interrupt(), interruptEveryMs);
  };
  if (signal.aborted) interrupt();
  signal.addEventListener("abort", interrupt);
  const session: Session = {
    connection,
    isStopped: () => signal.aborted,
    async [Symbol.asyncDispose]() {
      if (isClosed) return;
      isClosed = true;
      signal.removeEventListener("abort", interrupt);
      clearInterval(interrupting);
      if (session.stream) await endStream(connection, session.stream);
      await connection.run("ROLLBACK").catch(() => undefined);
      connection.closeSync();
      await database[Symbol.asyncDispose]();
    },
  };
  return session;
}

/**
 * Fetches to the end what nobody wants any more; interrupted, that is near. A result with rows left
 * would keep the database open after it was closed, until it is collected: whoever opened the file
 * meanwhile would have it twice in one process, and lose rows.
 */
async function endStream(connection: DuckDBConnection, stream: DuckDBResult): Promise<void> {
  const interrupting = setInterval(() => connection.interrupt(), interruptEveryMs);
  connection.interrupt();
  try {
    for (let left = 1; left > 0; ) left = (await stream.fetchChunk())?.rowCount ?? 0;
  } catch {
    // It has failed or was interrupted, and is over.
  } finally {
    clearInterval(interrupting);
  }
}

/** Rows of one page at most. */
const pageRows = 2_000;

/**
 * @throws QUERY_FAILED when there are more than `maxRows` rows: half of a result would look like
 * the rest was deleted
 */
async function* readPages(
  result: DuckDBResult,
  maxRows: number,
  session: Session,
  toFailure: (error: unknown) => ConnectorError,
): QueryResult["pages"] {
  const { JsonDuckDBValueConverter } = await import("@duckdb/node-api");
  const toJson = createToJson(JsonDuckDBValueConverter);
  const isJson = result.columnTypes().map(({ alias }) => alias === "JSON");
  let left = maxRows;
  let page: JsonValue[][] = [];
  try {
    for await (const rows of result.yieldConvertedRows(toJson)) {
      if (session.isStopped()) throw tooLong();
      for (const row of rows.slice(0, left))
        page.push(row.map((value, index) => (isJson[index] ? fromJson(value) : value)));
      const isOver = rows.length > left;
      left -= Math.min(left, rows.length);
      if (page.length >= pageRows || isOver) {
        yield page;
        page = [];
      }
      if (isOver)
        throw new ConnectorError("QUERY_FAILED", { reason: `it gives more than ${maxRows} rows` });
    }
    if (page.length > 0) yield page;
  } catch (error) {
    throw toFailure(error);
  } finally {
    await session[Symbol.asyncDispose]();
  }
}
