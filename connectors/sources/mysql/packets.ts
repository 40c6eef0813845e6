/**
 * Packets of MySQL's protocol on a session: one at a time, and never many more of them in memory
 * than the one that is waited for.
 * @see https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_packets.html (read
 * 2026-11)
 */
import type { Duplex } from "node:stream";
import { ConnectorError } from "svc-connectors";

/** A row, and whatever else a packet says. A longer one comes in several packets. */
export const maxPacketBytes = 16 * 1024 * 1024 - 2;

/** Bytes that wait here before the server is slowed down. */
const readAheadBytes = 256 * 1024;
const headBytes = 4;
/** How long the server may be silent while its answer is waited for. */
const hourMs = 3_600_000;

export interface Packets {
  /** The next one, if it is there as a whole. @throws as {@link next} */
  tryNext(): Buffer | undefined;
  /** @throws CONNECTION_FAILED, PROVIDER_TIMEOUT, RECORD_TOO_LARGE, DATABASE_UNUSABLE */
  next(): Promise<Buffer>;
  /** A command, or with `sequence` 1 the answer to the greeting. */
  send(sequence: 0 | 1, payload: Buffer): void;
}

export function openPackets(stream: Duplex, maxSilenceMs = hourMs): Packets {
  let chunks: Buffer[] = [];
  let byteCount = 0;
  let wantedBytes = headBytes;
  let sequence = 0;
  let isOver = false;
  let wake = () => {};
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    byteCount += chunk.length;
    if (byteCount >= wantedBytes + readAheadBytes) stream.pause();
    wake();
  });
  const end = () => {
    isOver = true;
    wake();
  };
  // The statement that is under way, or the next one, fails.
  stream.on("error", end).on("end", end).on("close", end);

  /** The first bytes, in one piece. */
  const joined = (): Buffer => {
    const whole = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, byteCount);
    chunks = [whole];
    return whole;
  };

  const tryNext = (): Buffer | undefined => {
    if (byteCount < wantedBytes) return undefined;
    const bytes = joined();
    const length = bytes.readUIntLE(0, 3);
    if (length > maxPacketBytes)
      throw new ConnectorError("RECORD_TOO_LARGE", { limit: maxPacketBytes });
    if (bytes[3] !== sequence) throw malformed();
    const end = headBytes + length;
    if (byteCount < end) {
      wantedBytes = end;
      return undefined;
    }
    sequence = (sequence + 1) & 0xff;
    wantedBytes = headBytes;
    byteCount -= end;
    chunks = byteCount === 0 ? [] : [bytes.subarray(end)];
    return bytes.subarray(headBytes, end);
  };

  return {
    tryNext,
    async next() {
      for (;;) {
        const packet = tryNext();
        if (packet) return packet;
        if (isOver || stream.destroyed)
          throw new ConnectorError("CONNECTION_FAILED", { reason: "reset" });
        await untilChange();
      }
    },
    send(first, payload) {
      const head = Buffer.alloc(headBytes);
      head.writeUIntLE(payload.length, 0, 3);
      head[3] = first;
      sequence = first + 1;
      stream.write(Buffer.concat([head, payload]));
    },
  };

  async function untilChange(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        wake = resolve;
        timer = setTimeout(
          () => reject(new ConnectorError("PROVIDER_TIMEOUT", { phase: "statement" })),
          maxSilenceMs,
        );
        stream.resume();
      });
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Reads numbers and texts of a packet, one after the other. @throws DATABASE_UNUSABLE */
export function createReader(packet: Buffer, start = 0) {
  let at = start;
  const length = (): number | null => {
    const first = packet[at++];
    if (first === undefined || first === 0xff) throw malformed();
    if (first < 0xfb) return first;
    if (first === 0xfb) return null;
    const size = first === 0xfc ? 2 : first === 0xfd ? 3 : 8;
    if (at + size > packet.length) throw malformed();
    const value = size === 8 ? Number(packet.readBigUInt64LE(at)) : packet.readUIntLE(at, size);
    at += size;
    return value;
  };
  return {
    /** A number of up to eight bytes. Null is SQL's. */
    number: length,
    /** Null is SQL's. */
    bytes(): Buffer | null {
      const size = length();
      if (size === null) return null;
      if (size > packet.length - at) throw malformed();
      at += size;
      return packet.subarray(at - size, at);
    },
    /** A number of so many bytes. */
    fixed(size: 1 | 2 | 4): number {
      if (size > packet.length - at) throw malformed();
      at += size;
      return packet.readUIntLE(at - size, size);
    },
    isAtEnd: () => at === packet.length,
  };
}

export const malformed = () =>
  new ConnectorError("DATABASE_UNUSABLE", { reason: "its answer has not the form of MySQL's" });
