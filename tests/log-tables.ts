/** Tables as a destination keeps them that reads PostgreSQL's log, and as the source has them. */
import { createHash } from "node:crypto";
import type { Clock, Output, Row, SelectedStream, Stream } from "svc-connectors";
import {
  type PostgresDatabase,
  type PostgresServer,
  startPostgres,
} from "../simulators/postgres-server.ts";
import {
  createPostgresRun,
  type Login,
  type PostgresSettings,
  type PostgresState,
} from "./postgres-run.ts";

/** The role of a server of startLogServer that reads its log. */
export const logReader = { username: "cdc_reader", password: "q7Zt3LmX9aRk" };

/** A server whose log logReader may read, by as many slots as a file of tests needs. */
export async function startLogServer(): Promise<PostgresServer> {
  const server = await startPostgres({
    settings: {
      wal_level: "logical",
      max_replication_slots: "80",
      max_wal_senders: "20",
      fsync: "off",
    },
  });
  const admin = await server.createDatabase();
  const { username, password } = logReader;
  await admin.query(`CREATE ROLE ${username} LOGIN REPLICATION PASSWORD '${password}'`);
  return server;
}

/** The database whose log is read, and how. */
export interface LogSource {
  readonly server: PostgresServer;
  readonly database: PostgresDatabase;
  readonly login: Login;
  readonly settings: PostgresSettings;
  readonly clock?: Clock | undefined;
}

interface Known {
  /** Undefined: it was deleted. */
  readonly row: Row | undefined;
  readonly lsn: bigint;
}

/** Tables as a destination has them: the newest state of each key, and the state of each stream. */
export function createLogTables({ server, database, login, settings, clock }: LogSource) {
  const tables = new Map<string, Map<string, Known>>();
  const states = new Map<string, PostgresState>();
  const logged: string[] = [];
  const fields: Record<string, unknown>[] = [];
  let read = 0;

  const apply = (stream: Stream, row: Row) => {
    const table = tables.get(stream.name) ?? new Map<string, Known>();
    tables.set(stream.name, table);
    const key = JSON.stringify((stream.primaryKey ?? []).map((name) => String(row[name])));
    const { _ab_cdc_lsn: lsn, _ab_cdc_deleted_at: deletedAt, ...values } = row;
    const known = table.get(key);
    if (known && known.lsn > BigInt(lsn as number)) return;
    const isThere = deletedAt === null || deletedAt === undefined;
    table.set(key, { row: isThere ? values : undefined, lsn: BigInt(lsn as number) });
  };

  /** The streams that go on by the log, as they are discovered now. */
  const discover = async (run: ReturnType<typeof createPostgresRun>): Promise<SelectedStream[]> => {
    const streams: SelectedStream[] = [];
    for await (const stream of run.discover())
      if (stream.cursorField) streams.push({ ...stream, syncMode: "incremental" });
    return streams;
  };

  return {
    states,
    async discover() {
      await using run = createPostgresRun(server, database, login, settings, clock);
      return await discover(run);
    },
    /** The log lines of the runs. */
    logged,
    /** Their fields, besides. */
    fields,
    get readCount() {
      return read;
    },
    rows: (name: string): Row[] =>
      [...(tables.get(name) ?? new Map<string, Known>()).values()].flatMap(({ row }) =>
        row ? [row] : [],
      ),
    /** Reads all streams once. `cut` says after which output the run is killed. */
    async run(
      cut: (output: Output<PostgresState>) => boolean | Promise<boolean> = () => false,
      only?: string,
      waitMs?: number,
      selected?: readonly SelectedStream[],
    ): Promise<unknown[]> {
      const isPart = only !== undefined;
      await using run = createPostgresRun(server, database, login, settings, clock);
      const found = selected ?? (await discover(run));
      const streams = found.filter(({ name }) => name === (only ?? name));
      const selection = streams.map((stream) => ({ stream, state: states.get(stream.name) }));
      const failures: unknown[] = [];
      for (const { stream, state } of selection) {
        /** Rows count once a checkpoint covers them. */
        let waiting: Row[] = [];
        try {
          for await (const output of run.read(stream, state, {
            streams: selection,
            isPart,
            waitMs,
          } as never)) {
            if (output.type === "records") waiting.push(...output.rows);
            if (output.type === "checkpoint") {
              const isNothing = Object.keys(output.state as object).length === 0;
              if (isNothing) tables.delete(stream.name);
              for (const row of isNothing ? [] : waiting) apply(stream, row);
              read += waiting.length;
              waiting = [];
              states.set(stream.name, isNothing ? undefined : output.state);
            }
            if (await cut(output)) return failures;
          }
        } catch (error) {
          failures.push(error);
        }
      }
      logged.push(...run.logged.map(({ message }) => message));
      fields.push(...run.logged.map((one) => one.fields));
      return failures;
    },
  };
}

/** Rows as short texts, in an order of their own. */
export const sorted = (rows: readonly Row[]) =>
  rows.map((row) => JSON.stringify(row, shortened)).sort();
const shortened = (_: string, value: unknown) =>
  typeof value === "string" && value.length > 40
    ? `${value.slice(0, 8)}… ${createHash("md5").update(value).digest("hex")}`
    : value;

/** The rows of a table as the source itself reads them whole. */
export async function wholeTable(
  { server, database, login }: Omit<LogSource, "settings">,
  name: string,
): Promise<Row[]> {
  await using run = createPostgresRun(server, database, login, {});
  const stream = { name, namespace: "public", schema: {}, syncMode: "full_refresh" } as const;
  const rows: Row[] = [];
  for await (const output of run.read(stream))
    if (output.type === "records") rows.push(...output.rows);
  return rows;
}
