/** Databases on a PostgreSQL: copies of one that the seed has filled, beside each other. */
import { type JsonObject, parseExact } from "svc-connectors";
import type { Database, DatabaseCopy } from "../contract/database.ts";
import { UnusableError } from "../contract/unusable.ts";
import type { DatabaseLogin, DatabaseServer } from "./database.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { postgresSql } from "./postgres-sql.ts";

const { identifier, literal } = postgresSql;

/** Seeded, and never connected to: all others are copies of it. */
const seedName = "svc_conformance_seed";

export async function startPostgresDatabase(
  seed: string,
): Promise<DatabaseServer | { readonly missing: string }> {
  const server = await startPostgres();
  if ("missing" in server) return server;
  const { host, port } = server;
  return {
    kind: "postgres",
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
    sql: postgresSql,
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
    use: async () => {},
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
