/** The PostgreSQL destination in this process, on a real broker, in a database of its own. */

import { Client } from "pg";
import destination from "../connectors/destinations/postgres/index.ts";
import { configuredOf, takingLines } from "../fixtures/taking-lines.ts";
import type { Clock } from "../runtime/contract/clock.ts";
import { createPostgresBroker } from "../runtime/egress/postgres-broker.ts";
import { createSecretRegistry } from "../runtime/filter/secrets.ts";
import { systemClock } from "../runtime/host/clock.ts";
import type { PostgresDatabase, PostgresServer } from "../simulators/postgres-server.ts";
import type { DestinationPlace } from "./destination-behaviour.ts";

export interface PostgresPlace extends DestinationPlace {
  readonly database: PostgresDatabase;
}

export interface PlaceOptions {
  readonly clock?: Clock;
  readonly username?: string;
  readonly password?: string;
  readonly schema?: string;
  readonly database?: PostgresDatabase;
}

export async function openPostgresPlace(
  server: PostgresServer,
  options: PlaceOptions = {},
): Promise<PostgresPlace> {
  const {
    clock = systemClock,
    username = "postgres",
    password = server.password,
    schema = "public",
  } = options;
  const database = options.database ?? (await server.createDatabase());
  const config = {
    host: server.host,
    port: server.port,
    database: database.name,
    schema,
    username,
    password,
    ssl_mode: "disable",
  };
  const cancelling = new AbortController();
  const brokers: { close(): Promise<void> }[] = [];
  const contextOf = () => {
    // As the host does: each call has sessions of its own.
    const broker = createPostgresBroker({
      mayWrite: true,
      declaration: destination.egress,
      config: config as never,
      secrets: createSecretRegistry(),
      clock,
      settings: { approvedHosts: [], allowNetworks: ["127.0.0.1/32"] },
    });
    brokers.push(broker);
    const log = () => {};
    return {
      config: config as never,
      clock,
      signal: cancelling.signal,
      log: { debug: log, info: log, warn: log },
      connect: () => broker.connect(cancelling.signal),
    };
  };
  const people = new Client({ connectionString: database.url, ssl: false });
  people.on("error", () => {});
  await people.connect();
  await people.query("SET timezone = 'UTC'");
  return {
    database,
    write: async (order) =>
      takingLines(await destination.write(contextOf(), order), configuredOf(order)),
    async compareKeys(order) {
      if (!destination.compareKeys) throw new Error("it compares keys");
      return takingLines(await destination.compareKeys(contextOf(), order), configuredOf(order));
    },
    check: () => destination.check(contextOf()),
    query: (order) => {
      if (!destination.query) throw new Error("it can be queried");
      return destination.query(contextOf(), order);
    },
    async sql(text) {
      const types = { getTypeParser: () => (value: string) => value };
      const { rows } = await people.query<(string | null)[]>({ text, rowMode: "array", types });
      return rows;
    },
    async close() {
      await people.end();
      for (const broker of brokers) await broker.close();
    },
  };
}
