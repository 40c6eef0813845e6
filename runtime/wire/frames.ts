/**
 * The wire between host and worker: one duplex byte stream of frames, each a header and a payload
 * of plain bytes. Neither side ever sends code, handles or live objects. The host treats all that
 * it receives as hostile.
 *
 * header: length u32 · kind u8 · id u32 · host clock f64 (ms; 0 from the worker), little-endian
 */
import type { Duplex } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";

/**
 * Kinds of frames. `id` ties answers to requests, and records to the stream's place in the
 * selection.
 */
export const frameKind = {
  // host → worker
  load: 1, //     {url}: import the connector
  start: 2, //    {verb, …}: run one verb
  answer: 3, //   id · head JSON and body of an HTTP answer
  refusal: 4, //  id · error record: the request, wait or connect failed
  wake: 5, //     id · the wait is over, or the session is open
  bytes: 6, //    id · bytes of a database session (both ways)
  bytesEnd: 7, // id · the session ended (both ways)
  credit: 8, //   id · {bytes}: the worker has consumed that much
  cancel: 9, //   stop soon
  ping: 10, //    answer with pong
  release: 11, // there is nothing to run after all
  // worker → host
  ready: 32, //      the worker can take a load frame
  manifest: 33, //   what the connector says of itself
  request: 34, //    id · HttpCall
  sleep: 35, //      id · {durationMs}
  connect: 36, //    id · {isReplication}: open a database session
  log: 37, //        {level, message, fields}
  streams: 38, //    CatalogStream[]: a part of the catalog
  status: 39, //     id · {status, error?, nulledCount}
  batch: 40, //      id · rows as columns: columns/pack.ts
  checkpoint: 41, // id · JSON state
  denied: 42, //     {resource}: the sandbox refused something
  done: 43, //       the verb ended well
  failed: 44, //     error record: the verb failed
  pong: 45,
  result: 46, //     JSON object: what entities gives
  over: 47, //       the run has left nothing behind, and the worker waits for the next one
} as const;
export type FrameKind = (typeof frameKind)[keyof typeof frameKind];

export interface Frame {
  readonly kind: number;
  readonly id: number;
  /** The host's clock when it sent the frame; ms. */
  readonly nowMs: number;
  /** Valid until the next frame is asked for. */
  readonly payload: Buffer;
}

export const headerBytes = 17;

/**
 * Decides on a frame, by its kind and the bytes of its payload, before any of these is read.
 * @throws the reason why it ends the run
 */
export type FrameGate = (kind: number, bytes: number) => "take" | "drop";

/** Takes what a host may send: an answer has 256 MiB at most. */
export const gateOfWorker: FrameGate = (_, bytes) => {
  if (bytes > 257 * 1024 * 1024)
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a frame is too large" });
  return "take";
};

/** Writes frames to a stream. */
export interface FrameWriter {
  /**
   * False when the reader is behind: wait for `drained` before sending more of a bulk. The payload
   * must not change afterwards.
   */
  send(kind: FrameKind, id: number, ...payload: readonly Uint8Array[]): boolean;
  /** As `send`, with so many bytes that `write` puts into memory that is used again. */
  sendPacked(
    kind: FrameKind,
    id: number,
    length: number,
    write: (into: Uint8Array) => void,
  ): boolean;
  sendJson(kind: FrameKind, id: number, value: unknown): boolean;
  /** Resolves when the stream takes more, or is closed. */
  drained(): Promise<void>;
  /** For how long the reader has taken nothing of what waits for it; 0 when nothing does. */
  untakenMs(): number;
}

/** Larger payloads have memory of their own. */
const pooledBytes = 1024 * 1024;
const maxIdleBuffers = 8;

function writeHeader(into: Buffer, length: number, kind: number, id: number, nowMs: number): void {
  into.writeUInt32LE(length, 0);
  into.writeUInt8(kind, 4);
  into.writeUInt32LE(id, 5);
  into.writeDoubleLE(nowMs, 9);
}

/** @param now the host's clock; the worker has none. */
export function createFrameWriter(stream: Duplex, now: () => number = () => 0): FrameWriter {
  let untakenWrites = 0;
  let lastTakenMs = 0;
  const endWrite = () => {
    untakenWrites--;
    lastTakenMs = performance.now();
  };
  const beginWrite = () => {
    if (untakenWrites++ === 0) lastTakenMs = performance.now();
    return endWrite;
  };
  const send: FrameWriter["send"] = (kind, id, ...payload) => {
    if (stream.destroyed || stream.writableEnded) return true;
    const header = Buffer.allocUnsafe(headerBytes);
    let length = 0;
    for (const part of payload) length += part.length;
    writeHeader(header, length, kind, id, now());
    stream.cork();
    let hasRoom = stream.write(header, beginWrite());
    for (const part of payload) if (part.length > 0) hasRoom = stream.write(part, beginWrite());
    stream.uncork();
    return hasRoom;
  };
  /** One for all who wait, so that many of them are one listener. */
  let draining: Promise<void> | undefined;
  const idle: Buffer[] = [];
  const pooled = (bytes: number): Buffer =>
    bytes <= pooledBytes
      ? (idle.pop() ?? Buffer.allocUnsafeSlow(pooledBytes))
      : Buffer.allocUnsafeSlow(bytes);
  const writePooled = (buffer: Buffer, length: number): boolean => {
    const taken = beginWrite();
    return stream.write(buffer.subarray(0, length), () => {
      taken();
      if (buffer.length === pooledBytes && idle.length < maxIdleBuffers) idle.push(buffer);
    });
  };
  const sendPacked: FrameWriter["sendPacked"] = (kind, id, length, write) => {
    if (stream.destroyed || stream.writableEnded) return true;
    const buffer = pooled(headerBytes + length);
    writeHeader(buffer, length, kind, id, now());
    write(buffer.subarray(headerBytes, headerBytes + length));
    return writePooled(buffer, headerBytes + length);
  };
  return {
    send,
    sendPacked,
    sendJson: (kind, id, value) => send(kind, id, Buffer.from(JSON.stringify(value))),
    drained: () => {
      if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
      draining ??= new Promise((resolve) => {
        const settle = () => {
          stream.off("drain", settle).off("close", settle);
          draining = undefined;
          resolve();
        };
        stream.on("drain", settle).on("close", settle);
      });
      return draining;
    },
    untakenMs: () => (untakenWrites === 0 ? 0 : performance.now() - lastTakenMs),
  };
}

/** Largest frame whose memory is kept for the next one. */
const keptFrameBytes = 4 * 1024 * 1024;

/**
 * Cuts incoming chunks into frames. A payload is valid until the next frame is asked for: frames
 * that span chunks are put together in one piece of memory that is used again, because fresh memory
 * for each is what a garbage collector is slow at. What the gate drops is never held.
 * @throws CONNECTOR_PROTOCOL for a stream that ends inside a frame, and what the gate throws
 */
export function createFrameReader(gate: FrameGate) {
  let held = Buffer.allocUnsafeSlow(64 * 1024);
  let heldBytes = 0;
  /** Bytes of a dropped frame that are still to come. */
  let droppedBytes = 0;

  /** Moves bytes from the chunk until `held` has `wanted`; gives the chunk's new position. */
  const fill = (chunk: Buffer, from: number, wanted: number): number => {
    const taken = Math.min(wanted - heldBytes, chunk.length - from);
    if (held.length < heldBytes + taken) {
      const larger = Buffer.allocUnsafeSlow(
        Math.max(heldBytes + taken, Math.min(wanted, held.length * 2)),
      );
      held.copy(larger, 0, 0, heldBytes);
      held = larger;
    }
    chunk.copy(held, heldBytes, from, from + taken);
    heldBytes += taken;
    return from + taken;
  };
  /** The bytes of the frame that begins there; 0 when it is dropped. */
  const frameBytes = (bytes: Buffer, at: number): number => {
    const length = bytes.readUInt32LE(at);
    if (gate(bytes.readUInt8(at + 4), length) === "take") return headerBytes + length;
    droppedBytes = length;
    return 0;
  };

  return {
    /** The frames that `chunk` completes, in order. */
    *push(chunk: Buffer): Generator<Frame, void, undefined> {
      let at = 0;
      while (at < chunk.length) {
        if (droppedBytes > 0) {
          const skipped = Math.min(droppedBytes, chunk.length - at);
          droppedBytes -= skipped;
          at += skipped;
          continue;
        }
        if (heldBytes === 0 && chunk.length - at >= headerBytes) {
          const total = frameBytes(chunk, at);
          if (total === 0) {
            at += headerBytes;
            continue;
          }
          if (chunk.length - at >= total) {
            yield toFrame(chunk, at, total);
            at += total;
            continue;
          }
        }
        if (heldBytes < headerBytes) at = fill(chunk, at, headerBytes);
        if (heldBytes < headerBytes) return;
        const total = frameBytes(held, 0);
        if (total === 0) {
          heldBytes = 0;
          continue;
        }
        at = fill(chunk, at, total);
        if (heldBytes < total) return;
        heldBytes = 0;
        yield toFrame(held, 0, total);
        if (held.length > keptFrameBytes) held = Buffer.allocUnsafeSlow(64 * 1024);
      }
    },
    /** Call when the stream has ended. */
    end(): void {
      if (heldBytes > 0 || droppedBytes > 0)
        throw new ConnectorError("CONNECTOR_PROTOCOL", {
          problem: "the output ends inside a frame",
        });
    },
  };
}

function toFrame(bytes: Buffer, at: number, total: number): Frame {
  return {
    kind: bytes.readUInt8(at + 4),
    id: bytes.readUInt32LE(at + 5),
    nowMs: bytes.readDoubleLE(at + 9),
    payload: bytes.subarray(at + headerBytes, at + total),
  };
}

/** The JSON of a payload. @throws CONNECTOR_PROTOCOL when it is none */
export function parsePayload(payload: Buffer): JsonValue {
  try {
    return JSON.parse(payload.toString("utf8")) as JsonValue;
  } catch {
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "a frame is not JSON" });
  }
}

/** As {@link parsePayload}, for a payload that must be an object. */
export function parseObject(payload: Buffer): JsonObject {
  return requireObject(parsePayload(payload));
}

/** @throws CONNECTOR_PROTOCOL when the value is no object */
export function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) {
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "an unexpected frame" });
  }
  return value;
}

/** Joins a JSON head and raw bytes into one payload; {@link splitPayload} takes them apart. */
export function joinPayload(head: unknown, body: Uint8Array): readonly Uint8Array[] {
  const text = Buffer.from(JSON.stringify(head));
  const size = Buffer.allocUnsafe(4);
  size.writeUInt32LE(text.length, 0);
  return [size, text, body];
}

export function splitPayload(payload: Buffer): { head: JsonValue; body: Buffer } {
  const end = 4 + payload.readUInt32LE(0);
  return { head: parsePayload(payload.subarray(4, end)), body: payload.subarray(end) };
}
