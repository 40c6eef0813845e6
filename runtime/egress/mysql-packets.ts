/**
 * Packets of MySQL's protocol 4.1 as bytes: three of length, one of sequence, then what it says.
 * @see https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html (read
 * 2026-11)
 */
import type { Duplex } from "node:stream";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";

/**
 * Capabilities that both sides of a session may name. None of them makes the packets of an answer
 * others.
 */
export const capability = {
  longPassword: 0x1,
  longFlag: 0x4,
  withDatabase: 0x8,
  protocol41: 0x200,
  tls: 0x800,
  transactions: 0x2000,
  secureConnection: 0x8000,
  pluginAuth: 0x8_0000,
  longAuth: 0x20_0000,
} as const;

/** utf8mb4_general_ci: texts come as UTF-8. */
export const utf8mb4 = 45;

export const notMysql = () =>
  new ConnectorError("CONNECTION_FAILED", { reason: "this is not a MySQL server" });

export interface Packet {
  readonly sequence: number;
  readonly payload: Buffer;
}

export function toPacket({ sequence, payload }: Packet): Buffer {
  const head = Buffer.alloc(4);
  head.writeUIntLE(payload.length, 0, 3);
  head[3] = sequence & 0xff;
  return Buffer.concat([head, payload]);
}

/** The bytes that a server may say until a session begins, over all readers of one log-in. */
export interface LoginBudget {
  bytes: number;
}

/**
 * Reads a server's packets during a log-in, one at a time.
 * @param budget what it may still say
 */
export function readPackets(socket: Duplex, budget: LoginBudget) {
  let pending: Buffer = Buffer.alloc(0);
  let wake: (() => void) | undefined;
  let failure: ConnectorError | undefined;
  const onData = (chunk: Buffer) => {
    budget.bytes -= chunk.length;
    pending = Buffer.concat([pending, chunk]);
    if (budget.bytes < 0)
      failure ??= new ConnectorError("CONNECTION_FAILED", {
        reason: "the server says too much before a session begins",
      });
    wake?.();
  };
  const onClose = () => {
    failure ??= new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
    wake?.();
  };
  socket.on("data", onData).on("close", onClose).on("end", onClose);
  if (socket.destroyed) onClose();
  socket.resume();

  const take = (): Packet | undefined => {
    if (pending.length < 4) return undefined;
    const length = pending.readUIntLE(0, 3);
    // "HTTP" read as a length is 5 MB.
    if (length > budgets.databaseLogin.bytes) throw notMysql();
    if (pending.length < 4 + length) return undefined;
    const packet = { sequence: pending[3] as number, payload: pending.subarray(4, 4 + length) };
    pending = pending.subarray(4 + length);
    return packet;
  };

  return {
    /** @throws CONNECTION_FAILED when these are no packets, or too many */
    async next(): Promise<Packet> {
      for (;;) {
        const packet = take();
        if (packet) return packet;
        if (failure) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    /** Lets go of the socket. Gives the bytes behind the last packet that was taken. */
    release(): Buffer {
      socket.pause();
      socket.off("data", onData).off("close", onClose).off("end", onClose);
      return pending;
    },
  };
}

export interface Greeting {
  readonly version: string;
  readonly capabilities: number;
  readonly challenge: Buffer;
  readonly plugin: string;
}

/** @throws CONNECTION_FAILED when it is none of version 10 */
export function parseGreeting(payload: Buffer): Greeting {
  try {
    if (payload[0] !== 10) throw notMysql();
    const versionEnd = payload.indexOf(0, 1);
    if (versionEnd < 0 || versionEnd > 200) throw notMysql();
    const at = versionEnd + 1;
    const first = payload.subarray(at + 4, at + 12);
    const capabilities = payload.readUInt16LE(at + 13) + payload.readUInt16LE(at + 18) * 0x1_0000;
    const restLength = Math.max(13, payload.readUInt8(at + 20) - 8);
    const rest = payload.subarray(at + 31, at + 31 + restLength - 1);
    return {
      version: payload.toString("latin1", 1, versionEnd),
      capabilities,
      challenge: Buffer.concat([first, rest]),
      plugin: textAt(payload, at + 31 + restLength),
    };
  } catch {
    throw notMysql();
  }
}

/** A text that ends with NUL, or with the packet. */
export function textAt(payload: Buffer, start: number): string {
  const end = payload.indexOf(0, start);
  return payload.toString("latin1", start, end < 0 ? payload.length : end);
}
