/** Sessions of MySQL and MariaDB, packet by packet. */
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
  createAnswerReader,
  createPacketSplitter,
  endsLogin,
  errorPacket,
  isUnanswered,
  sqlOf,
  type WirePacket,
} from "./mysql-packets.ts";

/** Passes one session on. The server offers no TLS. */
export function createMysqlSession(
  client: Socket,
  options: SessionOptions,
  queries: OpenQuery[],
): Session {
  const { server, fault, now, onQuery } = options;
  const upstream = connect({ ...server, noDelay: true });
  const fromClient = createPacketSplitter();
  const fromServer = createPacketSplitter();
  let hasGreeted = false;
  let isLoggedIn = false;
  let open: OpenQuery | undefined;
  let readAnswer: ReturnType<typeof createAnswerReader> | undefined;
  let isHeld = false;
  /** Packets behind a statement that has not gone on yet. */
  let waiting: WirePacket[] | undefined;
  const end = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const socket of [client, upstream]) socket.on("error", end).once("close", end);

  const take = (packet: WirePacket) => {
    if (isHeld) return;
    if (waiting) return void waiting.push(packet);
    if (!isLoggedIn || packet.isRest) return pass(client, upstream, packet.bytes);
    const sql = sqlOf(packet);
    if (sql === undefined) return ask(packet);
    const index = queries.length;
    open = { sql, atMs: now(), rowCount: 0 };
    queries.push(open);
    const isMet = meetsFault(fault, index);
    if (isMet) goWrong(fault.type);
    const mayGo = onQuery?.(index);
    if (isMet) return;
    if (!mayGo) return ask(packet);
    waiting = [];
    void mayGo.then(() => {
      const late = waiting ?? [];
      waiting = undefined;
      ask(packet);
      for (const one of late) take(one);
    }, end);
  };

  const ask = (packet: WirePacket) => {
    if (!isUnanswered(packet)) readAnswer = createAnswerReader(packet.payload[0] ?? 0);
    pass(client, upstream, packet.bytes);
  };

  const goWrong = (type: QueryFault["type"]) => {
    if (type === "reset") end();
    else if (type === "hang") isHeld = true;
    else answer(type);
  };

  const answer = (error: DatabaseError) => {
    if (open) open.error = error.sqlState;
    open = undefined;
    pass(upstream, client, errorPacket(error));
    if (error.severity !== "FATAL") return;
    client.end();
    upstream.destroy();
  };

  const followAnswer = (packet: WirePacket) => {
    if (!isLoggedIn) {
      isLoggedIn = hasGreeted && endsLogin(packet);
      hasGreeted = true;
      return;
    }
    const { isRow, isOver, error } = readAnswer?.(packet) ?? {};
    if (open && isRow) open.rowCount++;
    if (open && error !== undefined) open.error = error;
    if (!isOver) return;
    readAnswer = undefined;
    open = undefined;
  };

  client.on("data", (chunk: Buffer) => {
    for (const packet of fromClient(chunk)) take(packet);
  });
  upstream.on("data", (chunk: Buffer) => {
    for (const packet of fromServer(chunk)) followAnswer(packet);
    pass(upstream, client, chunk);
  });
  const isBusy = () => !isHeld && (!isLoggedIn || open !== undefined || readAnswer !== undefined);
  return { isBusy, end };
}
