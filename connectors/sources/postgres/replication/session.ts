/**
 * A session of streaming replication: commands with their answers, and the messages of a slot.
 * @see https://www.postgresql.org/docs/current/protocol-replication.html (read 2026-11)
 */
import type { Duplex } from "node:stream";
import { ConnectorError } from "svc-connectors";
import { toFailure } from "../failures.ts";
import type { PostgresContext } from "../spec.ts";
import { formatLsn } from "./lsn.ts";
import { tags } from "./pgoutput.ts";

export interface ReplicationSession {
  /** Runs a command. Gives its rows as text. @throws ServerError, ConnectorError */
  command(text: string): Promise<readonly (readonly (string | null)[])[]>;
  /**
   * A slot's messages from a place on. The memory of a piece is valid until the next is asked for.
   * @param confirmed what the server may forget
   */
  stream(options: StreamOptions): AsyncGenerator<SlotPiece>;
  end(): void;
}

export interface StreamOptions {
  readonly slot: string;
  readonly publication: string;
  readonly from: bigint;
  readonly confirmed: bigint;
}

/** Messages of a slot, as many as have come at once. */
export interface SlotPiece {
  readonly bytes: Buffer;
  /** Where each change begins and where it ends, in turn. */
  readonly places: readonly number[];
  /**
   * All transactions that were committed before this place have come. Undefined: it is not told.
   */
  readonly reached?: bigint | undefined;
}

/** A refusal of the server; its text stays here. */
class ServerError extends Error {
  readonly code: string;
  constructor(code: string) {
    super("the server refused a command");
    this.code = code;
  }
}

/** Values as text without loss and without local habits, as in the sessions of SQL. */
const settings = {
  datestyle: "ISO, YMD",
  timezone: "UTC",
  intervalstyle: "iso_8601",
  extra_float_digits: "3",
  bytea_output: "hex",
  lc_monetary: "C",
  // The session that exports a snapshot is idle as long as rows are read.
  idle_in_transaction_session_timeout: "0",
};

/** Of a change that is larger, only its table is looked at. */
export const maxMessageBytes = 64 * 1024 * 1024;
/** The server ends a session that says nothing for a minute. */
const statusIntervalMs = 10_000;
/** The session of the last run may still be ending. */
const busyTries = 200;
const busyWaitMs = 100;
const objectInUse = "55006";
const protocolVersion = 196_608;

const malformed = () =>
  new ConnectorError("DATABASE_UNUSABLE", {
    reason: "its answer in a session of replication has not the form of PostgreSQL's",
  });

/** @throws as `ctx.connect`, and PERMISSION_DENIED when the role may not replicate */
export async function openReplication(ctx: PostgresContext): Promise<ReplicationSession> {
  const stream = await ctx.connect({ isReplication: true });
  ctx.signal.addEventListener("abort", () => stream.destroy(), { once: true });
  stream.once("end", () => stream.destroy());
  stream.on("error", () => {});
  const messages = createMessages(stream);
  const session = createSession(stream, messages, ctx.clock);
  const startup = Buffer.concat([Buffer.alloc(8), Buffer.from("user\0svc\0database\0svc\0\0")]);
  startup.writeUInt32BE(startup.length, 0);
  startup.writeUInt32BE(protocolVersion, 4);
  stream.write(startup);
  await untilReady(messages);
  for (const [name, value] of Object.entries(settings))
    await session.command(`SET ${name} TO '${value}'`);
  return session;
}

function createSession(
  stream: Duplex,
  messages: Messages,
  clock: PostgresContext["clock"],
): ReplicationSession {
  const write = (type: string, body: Buffer) => {
    const head = Buffer.alloc(5);
    head.write(type, 0, "latin1");
    head.writeUInt32BE(body.length + 4, 1);
    stream.write(Buffer.concat([head, body]));
  };
  const sendQuery = (text: string) => write("Q", Buffer.from(`${text}\0`));
  return {
    async command(text) {
      sendQuery(text);
      return await untilReady(messages);
    },
    async *stream({ slot, publication, from, confirmed }) {
      const sendStatus = () => write("d", toStatus(confirmed));
      for (let triesLeft = busyTries; ; triesLeft--) {
        sendQuery(
          `START_REPLICATION SLOT "${slot}" LOGICAL ${formatLsn(from)} (proto_version '1', publication_names '"${publication}"')`,
        );
        if (await isStreaming(messages, triesLeft > 0)) break;
        await clock.sleep(busyWaitMs);
      }
      sendStatus();
      const timer = setInterval(sendStatus, statusIntervalMs);
      try {
        for (;;) {
          const piece = toPiece(await messages.all(), sendStatus);
          if (piece.places.length > 0 || piece.reached !== undefined) yield piece;
        }
      } finally {
        clearInterval(timer);
      }
    },
    end: () => void stream.destroy(),
  };
}

/** Written, flushed and applied up to a place. */
function toStatus(confirmed: bigint): Buffer {
  const body = Buffer.alloc(34);
  body[0] = 0x72;
  for (const at of [1, 9, 17]) body.writeBigUInt64BE(confirmed, at);
  return body;
}

interface Message {
  readonly type: string;
  readonly body: Buffer;
}

const lost = () => new ConnectorError("CONNECTION_FAILED", { reason: "reset" });

/** The messages of the server, as they are asked for. @throws CONNECTION_FAILED, ServerError */
interface Messages {
  next(): Promise<Message>;
  /** All whole messages that have come, one at least, as they lie. */
  all(): Promise<Buffer>;
}

/** Bytes of a message's type and length. */
const headBytes = 5;

function createMessages(stream: Duplex): Messages {
  const pieces = readWhole(stream);
  let bytes: Buffer = Buffer.alloc(0);
  const fill = async () => {
    if (bytes.length > 0) return;
    const step = await pieces.next().catch((error: unknown) => {
      throw error instanceof ConnectorError ? error : lost();
    });
    if (step.done) throw lost();
    bytes = step.value;
  };
  return {
    async next() {
      await fill();
      const end = 1 + bytes.readUInt32BE(1);
      const message = {
        type: String.fromCharCode(bytes[0] as number),
        body: bytes.subarray(headBytes, end),
      };
      bytes = bytes.subarray(end);
      if (message.type === "E") throw new ServerError(sqlStateOf(message.body));
      return message;
    },
    async all() {
      await fill();
      const taken = bytes;
      bytes = Buffer.alloc(0);
      return taken;
    },
  };
}

/** Types of the server's messages, and of those in a stream of copied data. */
const kinds = { copyData: 0x64, copyDone: 0x63, error: 0x45, change: 0x77, keepalive: 0x6b };
/** Bytes before a change: its type, two places and a time. */
const changeHeadBytes = 25;
const keepaliveBytes = 18;

/** @throws ServerError, CONNECTION_FAILED when the server has ended */
function toPiece(bytes: Buffer, sendStatus: () => void): SlotPiece {
  const places: number[] = [];
  let reached: bigint | undefined;
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = at + 1 + bytes.readUInt32BE(at + 1);
    const body = at + headBytes;
    if (bytes[at] === kinds.error) throw new ServerError(sqlStateOf(bytes.subarray(body, end)));
    if (bytes[at] === kinds.copyDone) throw lost();
    if (bytes[at] !== kinds.copyData) continue;
    if (bytes[body] === kinds.change && end - body >= changeHeadBytes)
      places.push(body + changeHeadBytes, end);
    else if (bytes[body] === kinds.keepalive && end - body === keepaliveBytes) {
      if (bytes[body + 17] === 1) sendStatus();
      reached = bytes.readBigUInt64BE(body + 1);
    } else throw malformed();
  }
  return { bytes, places, reached };
}

/** The code of an error: fields are a letter and a text each. */
function sqlStateOf(body: Buffer): string {
  const code = body
    .toString("latin1")
    .split("\0")
    .find((field) => field.startsWith("C"))
    ?.slice(1);
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) ? code : "XX000";
}

/** False where somebody else reads the slot, if it may be asked for again. */
async function isStreaming(messages: Messages, mayBeBusy: boolean) {
  try {
    while ((await messages.next()).type !== "W");
    return true;
  } catch (error) {
    if (!mayBeBusy || !(error instanceof ServerError) || error.code !== objectInUse) throw error;
    await untilReady(messages);
    return false;
  }
}

/** The rows of an answer. */
async function untilReady(messages: Messages): Promise<readonly (readonly (string | null)[])[]> {
  const rows: (string | null)[][] = [];
  for (;;) {
    const { type, body } = await messages.next();
    if (type === "Z") return rows;
    if (type === "D") rows.push(toRow(body));
  }
}

function toRow(body: Buffer): (string | null)[] {
  let at = 2;
  return Array.from({ length: body.length < 2 ? 0 : body.readUInt16BE(0) }, () => {
    if (body.length - at < 4) throw malformed();
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) return null;
    if (length > body.length - at) throw malformed();
    at += length;
    return body.toString("utf8", at - length, at);
  });
}

/** The server's bytes, in pieces of whole messages; pulling them is what lets it go on. */
async function* readWhole(stream: Duplex): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  /** Bytes of a message that are still to be passed over. */
  let passing = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const passed = Math.min(passing, chunk.length);
    passing -= passed;
    waiting.push(chunk.subarray(passed));
    waitingBytes += chunk.length - passed;
    const needed = held.length < headBytes ? headBytes : neededBytes(held);
    // A large message is put together once, and not anew with each chunk.
    if (held.length + waitingBytes < needed) continue;
    const bytes = Buffer.concat([held, ...waiting]);
    waiting = [];
    waitingBytes = 0;
    const end = endOfWhole(bytes);
    held = bytes.subarray(end);
    if (end > 0) yield bytes.subarray(0, end);
    if (!isOversized(held) || held.length < oversizedHeadBytes) continue;
    passing = Math.max(0, messageBytes(held) - held.length);
    const rest = held.subarray(Math.min(held.length, messageBytes(held)));
    yield toOversized(held);
    held = rest;
  }
}

const messageBytes = (bytes: Buffer, at = 0) => 1 + bytes.readUInt32BE(at + 1);

const isOversized = (bytes: Buffer) =>
  bytes.length >= headBytes && messageBytes(bytes) > maxMessageBytes;

/** Bytes that are needed: of a message that is passed over, only the beginning. */
const neededBytes = (bytes: Buffer) =>
  isOversized(bytes) ? oversizedHeadBytes : messageBytes(bytes);

/** Where the last message that is there as a whole ends, or one that is too large begins. */
function endOfWhole(bytes: Buffer): number {
  for (let at = 0; ; ) {
    if (bytes.length - at < headBytes) return at;
    const length = messageBytes(bytes, at);
    if (length < headBytes) throw malformed();
    if (length > maxMessageBytes || length > bytes.length - at) return at;
    at += length;
  }
}

/** Changes of rows say at once of which table they are. */
const rowTags: ReadonlySet<number | undefined> = new Set([tags.insert, tags.update, tags.delete]);
const oversizedHeadBytes = headBytes + changeHeadBytes + 5;

/** The beginning of a change, as a message. @throws RECORD_TOO_LARGE for anything else */
function toOversized(bytes: Buffer): Buffer {
  const isChange = bytes[0] === kinds.copyData && bytes[headBytes] === kinds.change;
  if (!isChange || !rowTags.has(bytes[headBytes + changeHeadBytes]))
    throw new ConnectorError("RECORD_TOO_LARGE", { limit: maxMessageBytes });
  const message = Buffer.from(bytes.subarray(0, oversizedHeadBytes));
  message.writeUInt32BE(oversizedHeadBytes - 1, 1);
  message[headBytes + changeHeadBytes] = tags.oversized;
  return message;
}

/** Who has said where the log is, and which server it is. */
export interface ServerIdentity {
  /** The server and its timeline: another one has another log. */
  readonly system: string;
}

export async function identify(session: ReplicationSession): Promise<ServerIdentity> {
  const [row] = await session.command("IDENTIFY_SYSTEM");
  const [system, timeline] = row ?? [];
  if (!system || !timeline) throw malformed();
  return { system: `${system}/${timeline}` };
}

/** The messages of a slot, in a session that ends with it. */
export async function* followSlot(
  session: ReplicationSession,
  options: StreamOptions,
): AsyncGenerator<SlotPiece> {
  try {
    yield* session.stream(options);
  } catch (error) {
    throw replicationFailure(error);
  } finally {
    session.end();
  }
}

/** The server's refusal of a command as an error of the table. */
export function replicationFailure(error: unknown): unknown {
  if (!(error instanceof ServerError)) return error;
  const unusable = (reason: string) => new ConnectorError("DATABASE_UNUSABLE", { reason });
  switch (error.code) {
    case "53400": // configuration_limit_exceeded
      return unusable(
        "all its replication slots are in use; an administrator raises max_replication_slots, or drops a slot that nobody needs (SELECT slot_name, active FROM pg_replication_slots)",
      );
    case objectInUse:
      return unusable("the replication slot is in use: two runs cannot read it at a time");
    case "55000": // object_not_in_prerequisite_state
      return unusable(
        "it does not log changes for logical replication; an administrator runs ALTER SYSTEM SET wal_level = 'logical' and restarts the server",
      );
    default:
      return toFailure(error);
  }
}
