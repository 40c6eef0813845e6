/** A PostgreSQL server for the kit: the installed one, else a container. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { onInterruption } from "./container-interruption.ts";
import { startServerContainer } from "./postgres-container.ts";
import { logSettings } from "./postgres-log.ts";
import { findPostgres, startInstalledServer } from "./postgres-server.ts";

export interface PostgresServer extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Runs SQL with psql as the superuser and gives its output. @throws Error with what psql said */
  psql(database: string, sql: string): Promise<string>;
}

/** Where there is neither: what to install. */
export interface NoPostgres {
  readonly missing: string;
}

/** Rows and nothing else, each ended by NUL: JSON may hold line breaks. The first error ends it. */
export const psqlFlags = [
  "--no-psqlrc",
  "--quiet",
  "--no-align",
  "--tuples-only",
  "--record-separator-zero",
  "--set=ON_ERROR_STOP=1",
  "--username=postgres",
];

const maxOutputBytes = 512 * 1_048_576;

/**
 * One transaction id is used by each statement that writes, and by nothing else: no clean-up runs
 * beside the connector.
 */
export const quietSettings = { autovacuum: "off", max_connections: "50", ...logSettings } as const;

export async function startPostgres(): Promise<PostgresServer | NoPostgres> {
  const bin = findPostgres();
  if (bin === undefined) return await startServerContainer();
  const server = await startInstalledServer({ settings: quietSettings });
  const { host, port, password } = server;
  const stop = async () => void (await server[Symbol.asyncDispose]());
  const release = onInterruption(stop);
  return {
    host,
    port,
    psql: (database, sql) =>
      runPsql(
        join(bin, "psql"),
        [...psqlFlags, `--host=${host}`, `--port=${port}`, database],
        sql,
        password,
      ),
    async [Symbol.asyncDispose]() {
      release();
      await stop();
    },
  };
}

function runPsql(
  program: string,
  args: readonly string[],
  sql: string,
  password: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const env = { PATH: process.env.PATH, PGPASSWORD: password, PGCLIENTENCODING: "UTF8" };
    const child = execFile(
      program,
      args,
      { env, maxBuffer: maxOutputBytes },
      (error, output, complaint) => {
        if (error) reject(new Error(complaint.trim() || error.message));
        else resolve(output);
      },
    );
    // psql that has stopped at an error reads no further.
    child.stdin?.on("error", () => {});
    child.stdin?.end(sql);
  });
}
