/**
 * Places of destinations that declare `postgres(...)`: a database each on one real server, whose
 * role may make what it needs.
 */
import type { JsonObject, PostgresEgress } from "svc-connectors";
import { openDatabaseNetwork } from "../faults/database.ts";
import { databaseConfig, databaseLogin } from "../target/database-config.ts";
import type { PostgresServer } from "../target/postgres.ts";
import { postgresSql } from "../target/postgres-sql.ts";
import type { Place, Trouble, UnwritablePlace } from "./contract.ts";
import { createPlace, type PlaceContext, type PlaceParts, type Way } from "./place.ts";

const { identifier, literal } = postgresSql;

/** Settings that lead to the kit's server, where the author does not say otherwise. */
export const connectionConfig = databaseConfig;

export interface PostgresPlaces {
  create(): Promise<Place>;
}

export async function createPostgresPlaces(
  context: PlaceContext,
  server: PostgresServer,
  egress: PostgresEgress,
  config: JsonObject,
): Promise<PostgresPlaces> {
  const { role, password } = databaseLogin(egress, config);
  const run = (sql: string) => server.psql("postgres", sql);
  await run(`CREATE ROLE ${identifier(role)} LOGIN PASSWORD ${literal(password)}`);
  let count = 0;

  /** @param sql runs in the new database as its owner's superior */
  async function make(sql?: string, owner = identifier(role)): Promise<PlaceParts> {
    count += 1;
    const name = `svc_destination_${count}`;
    await run(`CREATE DATABASE ${identifier(name)} OWNER ${owner} TEMPLATE template0`);
    if (sql !== undefined) await server.psql(name, sql);
    return {
      config,
      passwordField: egress.password,
      path: undefined,
      way: (trouble) => openWay(server, name, trouble),
      sql: async (statement) =>
        void (await server.psql(name, `SET ROLE ${identifier(role)}; ${statement}`)),
      files: async () => [],
      unwritable: () => Promise.all(obstacles.map((obstacle) => makeUnwritable(obstacle))),
      remove: async () => void (await run(`DROP DATABASE ${identifier(name)} WITH (FORCE)`)),
    };
  }

  async function makeUnwritable({ name, sql, trouble = {} }: Obstacle): Promise<UnwritablePlace> {
    const place = createPlace(context, await make(sql?.(identifier(role)), "postgres"));
    return {
      name,
      check: () => place.check(trouble),
      damage: async () => undefined,
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  }

  return { create: async () => createPlace(context, await make()) };
}

interface Obstacle {
  readonly name: string;
  sql?(role: string): string;
  readonly trouble?: Trouble | undefined;
}

const obstacles: readonly Obstacle[] = [
  {
    name: "the role may make nothing in the database",
    sql: () => "REVOKE CREATE ON SCHEMA public FROM PUBLIC",
  },
  {
    name: "every transaction of the database is read-only",
    sql: () =>
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$; GRANT ALL ON SCHEMA public TO PUBLIC;",
  },
  { name: "the password is a wrong one", trouble: { password: "another-password" } },
  { name: "nobody listens there", trouble: { connection: "refused" } },
  { name: "the host has no address", trouble: { connection: "unknown-host" } },
];

async function openWay(server: PostgresServer, database: string, trouble: Trouble): Promise<Way> {
  const { connection, fault, onQuery } = trouble;
  const opened = await openDatabaseNetwork({
    server: { kind: "postgres", host: server.host, port: server.port },
    database,
    now: Date.now,
    connection: connection && { fault: connection },
    fault,
    onQuery,
  });
  return {
    seams: opened.network.seams,
    port: opened.port,
    queryCount: () => opened.queries.length,
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  };
}
