/** A PostgreSQL server, a folder, and the commands that read from the one into the other. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  findPostgres,
  type PostgresDatabase,
  startPostgres,
} from "../../simulators/postgres-server.ts";
import type { Way } from "./measure.ts";

export const here = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
export const node: string = quoted(process.execPath);

export interface World extends AsyncDisposable {
  readonly psql: string;
  readonly folder: string;
  createDatabase(): Promise<PostgresDatabase>;
  settingsOf(database: PostgresDatabase): object;
  /** A path in the folder that nothing has yet. */
  place(name: string): string;
  /** `svc read` of all tables of a database. */
  svc(database: PostgresDatabase, out: string, flags?: string): Promise<string>;
  /** `svc` with another verb, without its output. */
  svcVerb(verb: string, database: PostgresDatabase): Promise<string>;
}

export async function createWorld(): Promise<World> {
  const binaries = findPostgres();
  if (binaries === undefined) throw new Error("no PostgreSQL server is installed");
  const server = await startPostgres();
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
  let places = 0;
  const settingsOf = (database: PostgresDatabase) => ({
    host: server.host,
    port: server.port,
    database: database.name,
    username: "postgres",
    password: server.password,
    ssl_mode: "disable",
  });
  const configOf = async (database: PostgresDatabase) => {
    const file = join(folder, `${database.name}.config.json`);
    await writeFile(file, JSON.stringify(settingsOf(database)));
    return quoted(file);
  };
  const program = `${node} ${quoted(here("../dist/svc.js"))}`;
  return {
    psql: quoted(join(binaries, "psql")),
    folder,
    createDatabase: () => server.createDatabase(),
    settingsOf,
    place: (name) => join(folder, `${name.replaceAll(/\W/g, "-")}-${places++}`),
    async svc(database, out, flags = "") {
      const config = await configOf(database);
      return `${program} read postgres --config ${config} --out ${quoted(out)} ${flags} >/dev/null 2>&1`;
    },
    async svcVerb(verb, database) {
      return `${program} ${verb} postgres --config ${await configOf(database)} >/dev/null 2>&1`;
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
      await server[Symbol.asyncDispose]();
    },
  };
}

const peers = process.env.SVC_PEERS;

/** A program of the peers' folder. */
export const peer = (path: string): string => quoted(join(peers ?? "", path));

/** Nothing where the peers are not installed. */
export const ofPeers = (ways: readonly Way[]): readonly Way[] =>
  peers !== undefined && existsSync(join(peers, "bin/python")) ? ways : [];

/** A library for Python that moves a table. */
export const python =
  (way: string, database: PostgresDatabase, table: string) =>
  (place: string): string =>
    `${peer("bin/python")} ${quoted(here("peers/move.py"))} ${way} ${quoted(database.url)} ${quoted(place)} ${table} >/dev/null 2>&1`;
