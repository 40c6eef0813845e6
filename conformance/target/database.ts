/** The database of a connector under test: filled from seed.sql, with a role that may only read. */
import { readFile } from "node:fs/promises";
import { type JsonObject, parseExact } from "svc-connectors";
import type { Manifest } from "svc-connectors/host";
import type { Database, DatabaseCopy } from "../contract/database.ts";
import { type DatabaseEgress, databaseEgress, databaseKinds } from "../contract/database-kind.ts";
import type { Target } from "../contract/target.ts";
import { UnusableError } from "../contract/unusable.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";

/** The login of the connector. */
export interface DatabaseLogin {
  readonly database: string;
  readonly role: string;
  readonly password: string;
}

export interface DatabaseServer extends AsyncDisposable {
  /** Where it listens. */
  readonly host: string;
  readonly port: number;
  /**
   * Makes the seeded database and its role. Called once.
   * @throws UnusableError when the seed is wrong
   */
  open(login: DatabaseLogin): Promise<Database>;
}

/** Beside the recordings, when the settings name no other. */
export const seedFileName = "seed.sql";

/**
 * The kind of database that a connector declares; undefined for others. One whose manifest cannot be
 * read is reported later.
 */
export async function databaseKindOf(target: Target): Promise<DatabaseEgress["kind"] | undefined> {
  const manifest = await target.manifest().catch(() => undefined);
  return databaseEgress((manifest as Manifest | undefined)?.egress)?.kind;
}

/** Seeded, and never connected to: all others are copies of it. */
const seedName = "svc_conformance_seed";

/**
 * `missing`: neither an installed server nor a container is to be had, with what to install; or the
 * kit has none of the kind.
 * @throws UnusableError
 */
export async function startDatabase(
  kind: DatabaseEgress["kind"],
  seedFile: string,
): Promise<DatabaseServer | { readonly missing: string }> {
  const { missing } = databaseKinds[kind];
  if (missing !== undefined) return { missing };
  const seed = await readFile(seedFile, "utf8").catch(() => {
    throw new UnusableError(
      "there is no database seed where conformance.yaml says (database: seed.sql, beside the recordings)",
    );
  });
  const server = await startPostgres();
  if ("missing" in server) return server;
  const { host, port } = server;
  return {
    host,
    port,
    open: (login) => openDatabase(server, seed, login),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function openDatabase(
  server: PostgresServer,
  seed: string,
  login: DatabaseLogin,
): Promise<Database> {
  const { role, password, database } = login;
  const run = (sql: string) => server.psql("postgres", sql);
  await run(`
    CREATE ROLE ${identifier(role)} LOGIN PASSWORD ${literal(password)};
    CREATE DATABASE ${identifier(seedName)} TEMPLATE template0;`);
  await server.psql(seedName, seed).catch((error: Error) => {
    throw new UnusableError(`the database seed is not taken: ${error.message}`);
  });
  await server.psql(seedName, grants(role));
  let copyCount = 0;
  const make = async (name: string, sql = "") => {
    await run(`CREATE DATABASE ${identifier(name)} TEMPLATE ${identifier(seedName)}`);
    if (sql !== "") await server.psql(name, sql);
    return copyOf(server, name);
  };
  return {
    ...(await make(database)),
    seed,
    role,
    async copy(sql) {
      copyCount++;
      const copy = await make(`${seedName}_copy_${copyCount}`, sql);
      const drop = `DROP DATABASE ${identifier(copy.name)} WITH (FORCE)`;
      return { ...copy, [Symbol.asyncDispose]: async () => void (await run(drop)) };
    },
    async withPassword(other, work) {
      const set = (value: string) =>
        run(`ALTER ROLE ${identifier(role)} PASSWORD ${literal(value)}`);
      await set(other);
      try {
        return await work();
      } finally {
        await set(password);
      }
    },
  };
}

function copyOf(server: PostgresServer, name: string): DatabaseCopy {
  return {
    name,
    async execute(sql) {
      await server.psql(name, sql);
    },
    async rows(select) {
      const output = await server.psql(
        name,
        `SET timezone = 'UTC'; SELECT pg_catalog.row_to_json(r) FROM (${select}) r`,
      );
      return output
        .split("\0")
        .filter((row) => row.trim() !== "")
        .map((row) => parseExact(row) as JsonObject);
    },
  };
}

/** The role may read everything that the seed made, and write nothing. */
const grants = (role: string) => `
  SELECT pg_catalog.format('GRANT USAGE ON SCHEMA %1$I TO %2$I; GRANT SELECT ON ALL TABLES IN SCHEMA %1$I TO %2$I;
    REVOKE CREATE ON SCHEMA %1$I FROM PUBLIC', nspname, ${literal(role)})
  FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' \\gexec`;

/** In SQL. */
export const identifier = (name: string) => `"${name.replaceAll('"', '""')}"`;
export const literal = (value: string) => `'${value.replaceAll("'", "''")}'`;
