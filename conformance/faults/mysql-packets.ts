/**
 * Packets of MySQL's protocol 4.1, as far as the kit reads them between a connector and its
 * database.
 * @see https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html (read
 * 2026-11)
 */
import type { DatabaseError } from "../contract/database.ts";

export interface WirePacket {
  readonly payload: Buffer;
  /** With its head. */
  readonly bytes: Buffer;
  /** The rest of a payload that was too long for one packet. */
  readonly isRest: boolean;
}

const headBytes = 4;
/** A payload of this length goes on in the next packet. */
const longest = 0xff_ffff;

/** Takes whole packets out of what has arrived; the rest waits for more. */
export function createPacketSplitter(): (chunk: Buffer) => WirePacket[] {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let wanted = headBytes;
  let isRest = false;
  return (chunk) => {
    waiting.push(chunk);
    waitingBytes += chunk.length;
    // A large packet that comes in many pieces is put together once.
    if (waitingBytes < wanted) return [];
    const all = waiting.length === 1 ? chunk : Buffer.concat(waiting);
    const packets: WirePacket[] = [];
    let at = 0;
    wanted = headBytes;
    while (all.length - at >= headBytes) {
      const length = all.readUIntLE(at, 3);
      const end = at + headBytes + length;
      if (end > all.length) {
        wanted = end - at;
        break;
      }
      packets.push({
        payload: all.subarray(at + headBytes, end),
        bytes: all.subarray(at, end),
        isRest,
      });
      isRest = length === longest;
      at = end;
    }
    waiting = at === all.length ? [] : [all.subarray(at)];
    waitingBytes = all.length - at;
    return packets;
  };
}

/** The first byte of a payload that asks for something. */
export const commands = {
  quit: 0x01,
  query: 0x03,
  prepare: 0x16,
  execute: 0x17,
  longData: 0x18,
  closeStatement: 0x19,
} as const;

/** The first byte of a payload that answers. */
const heads = { ok: 0x00, more: 0x01, infile: 0xfb, end: 0xfe, error: 0xff } as const;
/** A packet that ends columns or rows is shorter than a row that begins with the same byte. */
const mostEndBytes = 8;

const isEnd = (payload: Buffer) => payload[0] === heads.end && payload.length <= mostEndBytes;

/** SQL of a statement; undefined for every other command. */
export const sqlOf = ({ payload }: WirePacket): string | undefined =>
  payload[0] === commands.query || payload[0] === commands.prepare
    ? payload.toString("utf8", 1)
    : undefined;

/** Whether the server says nothing to it. */
export const isUnanswered = ({ payload }: WirePacket): boolean =>
  payload[0] === commands.quit ||
  payload[0] === commands.longData ||
  payload[0] === commands.closeStatement;

/** The packet that ends a log-in: all is well, or not. */
export const endsLogin = ({ payload }: WirePacket): boolean =>
  payload[0] === heads.ok || payload[0] === heads.error;

/** The effect of a packet on the answer that it is part of. */
export interface AnswerStep {
  readonly isRow?: boolean | undefined;
  readonly isOver?: boolean | undefined;
  /** The code of an error. */
  readonly error?: string | undefined;
}

/** Follows the answer to a command, packet by packet. */
export function createAnswerReader(command: number): (packet: WirePacket) => AnswerStep {
  let stage: "first" | "columns" | "rows" = "first";
  /** Packets of a description that are still to come. */
  let left = 0;
  return ({ payload, isRest }) => {
    if (isRest) return {};
    if (payload[0] === heads.error && stage !== "columns")
      return { isOver: true, error: sqlStateOf(payload) };
    if (left > 0) return { isOver: --left === 0 };
    if (stage === "rows") return isEnd(payload) ? { isOver: true } : { isRow: true };
    if (stage === "columns") {
      if (isEnd(payload)) stage = "rows";
      return {};
    }
    if (command === commands.prepare) {
      const [columnCount, parameterCount] = [payload.readUInt16LE(5), payload.readUInt16LE(7)];
      // Each description has its end.
      left = [columnCount, parameterCount].reduce((sum, count) => sum + (count && count + 1), 0);
      return { isOver: left === 0 };
    }
    const isRows = command === commands.query || command === commands.execute;
    if (!isRows || payload[0] === heads.ok || payload[0] === heads.infile) return { isOver: true };
    stage = "columns";
    return {};
  };
}

/** Behind a number of two bytes and `#`. */
const sqlStateOf = (payload: Buffer) => payload.toString("latin1", 4, 9);

/** The answer of a server in place of a result. */
export function errorPacket({ number = 0, sqlState, message }: DatabaseError): Buffer {
  const text = Buffer.from(`#${sqlState}${message}`);
  const packet = Buffer.alloc(headBytes + 3);
  packet.writeUIntLE(3 + text.length, 0, 3);
  packet[3] = 1;
  packet[4] = heads.error;
  packet.writeUInt16LE(number, 5);
  return Buffer.concat([packet, text]);
}
