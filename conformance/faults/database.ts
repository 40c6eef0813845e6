/**
 * The way from a connector to its database: names, connections, each statement, and what goes wrong
 * with them.
 */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import type { Clock } from "svc-connectors";
import type { Query, QueryFault } from "../contract/database.ts";
import type { DatabaseAddress, DatabaseEgress } from "../contract/database-kind.ts";
import type { OpenNetwork } from "../replay/network.ts";
import type { CreateSession, OpenQuery, Session } from "./database-session.ts";
import { type ConnectionTrouble, createDialling } from "./dialling.ts";
import { createMysqlSession } from "./mysql-session.ts";
import { createPostgresSession } from "./postgres-session.ts";

/** How the sessions of each kind of database pass. */
const createSessions: Readonly<Record<DatabaseEgress["kind"], CreateSession>> = {
  postgres: createPostgresSession,
  mysql: createMysqlSession,
};

export interface DatabaseNetworkOptions {
  /** Where the server really listens. */
  readonly server: DatabaseAddress;
  /** The database that is connected to, whatever the connector asks for. */
  readonly database?: string | undefined;
  readonly connection?: ConnectionTrouble | undefined;
  readonly fault?: QueryFault | undefined;
  readonly now: Clock["now"];
  readonly onDial?: (() => void) | undefined;
  /** A statement has arrived; it goes on when the promise resolves. */
  readonly onQuery?: ((index: number) => void | Promise<void>) | undefined;
}

export interface DatabaseNetwork extends OpenNetwork {
  /** Every statement, the host's own included. Grows while the run goes on. */
  readonly queries: readonly Query[];
  /** Where it listens on loopback, for other processes. */
  readonly port: number;
}

/** Real time in which a session that is being given up is closed; ms. */
const closingMs = 250;

/** Made anew for each run. Leads every host to the database. */
export async function openDatabaseNetwork(
  options: DatabaseNetworkOptions,
): Promise<DatabaseNetwork> {
  const { connection, onDial } = options;
  const queries: OpenQuery[] = [];
  const sessions = new Set<Session>();
  const server = createServer({ noDelay: true }, (socket) => {
    const session = createSessions[options.server.kind](socket, options, queries);
    sessions.add(session);
    socket.once("close", () => sessions.delete(session));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const dialling = createDialling(port, connection, onDial);
  return {
    port,
    network: {
      seams: {
        resolve: async (host) => insideAddress(host) ?? (await dialling.resolve(host)),
        dial: dialling.dial,
      },
      fetch: () => Promise.reject(new TypeError("this connector speaks to a database")),
      lookup: () => Promise.reject(new TypeError("this connector speaks to a database")),
    },
    exchanges: [],
    queries,
    lookups: dialling.lookups,
    dials: dialling.dials,
    requestCount: () => queries.length,
    inFlight: () => [...sessions].filter((session) => session.isBusy()).length,
    openConnections: () => sessions.size,
    async openRequests() {
      const giveUpMs = performance.now() + closingMs;
      while (sessions.size > 0 && performance.now() < giveUpMs)
        await new Promise((resolve) => setTimeout(resolve, 5));
      return sessions.size;
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.end();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * Names that mean this machine or its network everywhere: a guard that lets them through is seen by
 * what is dialled.
 */
function insideAddress(host: string): readonly { address: string; family: 4 }[] | undefined {
  if (/(?:^|\.)localhost\.?$/i.test(host)) return [{ address: "127.0.0.1", family: 4 }];
  return /^metadata(?:\.google\.internal)?\.?$/i.test(host)
    ? [{ address: "169.254.169.254", family: 4 }]
    : undefined;
}
