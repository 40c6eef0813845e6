/** Sessions of PostgreSQL, message by message. */
import { connect, type Socket } from "node:net";
import type { DatabaseError, QueryFault } from "../contract/database.ts";
import {
  meetsFault,
  type OpenQuery,
  pass,
  type Session,
  type SessionOptions,
} from "./database-session.ts";
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

/** Passes one session on, message by message. */
export function createPostgresSession(
  client: Socket,
  options: SessionOptions,
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
  /** Messages behind a statement that has not gone on yet. */
  let waiting: WireMessage[] | undefined;
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
    if (waiting) return void waiting.push(message);
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
    const isMet = meetsFault(fault, index);
    if (isMet) goWrong(fault.type, message.type === "P");
    const mayGo = onQuery?.(index);
    if (isMet) return;
    if (!mayGo) return toServer(message.bytes);
    waiting = [];
    void mayGo.then(() => {
      const late = waiting ?? [];
      waiting = undefined;
      toServer(message.bytes);
      for (const one of late) takeMessage(one);
    }, end);
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
