/**
 * The way from a connector to its database: names, connections, each statement, and what goes wrong
 * with them.
 */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Clock } from "svc-connectors";
import type { DatabaseError, Query, QueryFault } from "../contract/database.ts";
import type { OpenNetwork } from "../replay/network.ts";
import { type ConnectionTrouble, createDialling } from "./dialling.ts";
import {
  createMessageSplitter,
  errorMessage,
  readyMessage,
  sqlOf,
  sqlStateOf,
  startupCodes,
  type WireMessage,
  withDatabase,
} from "./postgres-messages.ts";

export interface DatabaseNetworkOptions {
  /** Where the server really listens. */
  readonly server: { readonly host: string; readonly port: number };
  /** The database that is connected to, whatever the connector asks for. */
  readonly database?: string | undefined;
  readonly connection?: ConnectionTrouble | undefined;
  readonly fault?: QueryFault | undefined;
  readonly now: Clock["now"];
  readonly onDial?: (() => void) | undefined;
  /** A statement has arrived. */
  readonly onQuery?: ((index: number) => void) | undefined;
}

export interface DatabaseNetwork extends OpenNetwork {
  /** Every statement, the host's own included. Grows while the run goes on. */
  readonly queries: readonly Query[];
  /** Where it listens on loopback, for other processes. */
  readonly port: number;
}

type OpenQuery = { -readonly [Name in keyof Query]: Query[Name] };

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
    const session = createSession(socket, options, queries);
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

interface Session {
  /** An answer is on its way, or the login. */
  isBusy(): boolean;
  end(): void;
}

/** Passes one session on, message by message. */
function createSession(
  client: Socket,
  options: DatabaseNetworkOptions,
  queries: OpenQuery[],
): Session {
  const { server, fault, now, onQuery } = options;
  const upstream = connect({ ...server, noDelay: true });
  const fromClient = createMessageSplitter();
  const fromServer = createMessageSplitter();
  let startup: Buffer | undefined = Buffer.alloc(0);
  let isLoggedIn = false;
  let open: OpenQuery | undefined;
  let status = "I";
  let isHeld = false;
  /**
   * A statement was answered in the server's place: the rest of its messages is dropped until Sync.
   */
  let isSkipping = false;
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) socket.on("error", end).once("close", end);

  const toServer = (bytes: Buffer) => pass(client, upstream, bytes);
  const toClient = (bytes: Buffer) => pass(upstream, client, bytes);

  /** Requests for encryption are answered with no, the start-up message goes on. */
  const start = (chunk: Buffer) => {
    startup = Buffer.concat([startup ?? Buffer.alloc(0), chunk]);
    while (startup.length >= 8 && startup.length >= startup.readUInt32BE(0)) {
      const length = startup.readUInt32BE(0);
      const code = startup.readUInt32BE(4);
      const packet = startup.subarray(0, length);
      startup = startup.subarray(length);
      if (code === startupCodes.ssl || code === startupCodes.gss) {
        client.write("N");
        continue;
      }
      toServer(options.database === undefined ? packet : withDatabase(packet, options.database));
      const rest = startup;
      startup = undefined;
      if (rest.length > 0) take(rest);
      return;
    }
  };

  const take = (chunk: Buffer) => {
    for (const message of fromClient(chunk)) takeMessage(message);
  };

  const takeMessage = (message: WireMessage) => {
    if (isHeld) return;
    if (isSkipping) {
      if (message.type !== "S") return;
      isSkipping = false;
      toClient(readyMessage(status));
      return;
    }
    const sql = sqlOf(message);
    if (sql === undefined) return toServer(message.bytes);
    const index = queries.length;
    open = { sql, atMs: now(), rowCount: 0 };
    queries.push(open);
    const isMet = fault && (fault.isLasting ? index >= fault.at : index === fault.at);
    if (isMet) goWrong(fault.type, message.type === "P");
    onQuery?.(index);
    if (!isMet) toServer(message.bytes);
  };

  const goWrong = (type: QueryFault["type"], isExtended: boolean) => {
    if (type === "reset") return end();
    if (type === "hang") {
      isHeld = true;
      return;
    }
    answer(type, isExtended);
  };

  const answer = (error: DatabaseError, isExtended: boolean) => {
    if (open) open.error = error.sqlState;
    open = undefined;
    toClient(errorMessage(error));
    if (error.severity === "FATAL") {
      client.end();
      upstream.destroy();
      return;
    }
    if (status === "T") status = "E";
    if (isExtended) isSkipping = true;
    else toClient(readyMessage(status));
  };

  client.on("data", (chunk: Buffer) => (startup === undefined ? take(chunk) : start(chunk)));
  upstream.on("data", (chunk: Buffer) => {
    for (const message of fromServer(chunk)) {
      if (message.type === "D" && open) open.rowCount++;
      else if (message.type === "E" && open) open.error = sqlStateOf(message) ?? "";
      else if (message.type === "Z") {
        isLoggedIn = true;
        open = undefined;
        status = String.fromCharCode(message.bytes[5] ?? 0);
      }
    }
    toClient(chunk);
  });
  return { isBusy: () => !isHeld && (!isLoggedIn || open !== undefined), end };
}

/** Writes, and lets the source wait while the other side is slow. */
function pass(source: Socket, sink: Socket, bytes: Buffer): void {
  if (sink.destroyed || sink.write(bytes)) return;
  source.pause();
  sink.once("drain", () => source.resume());
}
