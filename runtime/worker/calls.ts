/**
 * The worker's calls to the host: requests, waits and database sessions, each with an id and one
 * answer.
 */

import { Duplex } from "node:stream";
import type { ConnectOptions } from "../contract/context.ts";
import { ConnectorError, fromErrorRecord } from "../contract/errors.ts";
import { asSocket } from "../wire/as-socket.ts";
import {
  type Frame,
  type FrameWriter,
  frameKind,
  parsePayload,
  splitPayload,
} from "../wire/frames.ts";
import type { HttpCall } from "../wire/http-call.ts";
import type { TextAnswer } from "../wire/http-sender.ts";

export interface Calls {
  request(call: HttpCall): Promise<TextAnswer>;
  sleep(durationMs: number, signal?: AbortSignal): Promise<void>;
  connect(options?: ConnectOptions): Promise<Duplex>;
  /** The host's clock, at least as late as its last frame. */
  now(): number;
  /** From now on the clock moves only when the host says so. */
  standStill(): void;
  log(level: "debug" | "info" | "warn", message: string, fields: object): void;
  /** Takes a frame that belongs to a call; false when it is none of them. */
  settle(frame: Frame): boolean;
}

interface Pending {
  /** Called while the frame's payload is valid. */
  resolve(frame: Frame): void;
  reject(error: ConnectorError): void;
}

/**
 * Bytes of a database session that may lie unread in the worker before the host stops sending.
 * @see runtime/host/session.ts
 */
const readAheadBytes = 1024 * 1024;

/** The last id in all runs of this worker: what comes late belongs to no later one. */
let lastId = 0;

export function createCalls(writer: FrameWriter, signal: AbortSignal): Calls {
  const pending = new Map<number, Pending>();
  const sessions = new Map<number, Duplex>();
  let clockMs = Date.now();
  let clockReadMs = performance.now();
  let isStill = false;

  const open = <T>(take: (frame: Frame) => T): { id: number; answer: Promise<T> } => {
    const id = ++lastId;
    const answer = new Promise<T>((resolve, reject) => {
      pending.set(id, { resolve: (frame) => resolve(take(frame)), reject });
    });
    return { id, answer };
  };
  const refuseIfCancelled = () => {
    if (signal.aborted) throw new ConnectorError("CANCELLED");
  };
  signal.addEventListener("abort", () => {
    for (const call of pending.values()) call.reject(new ConnectorError("CANCELLED"));
    pending.clear();
    for (const session of sessions.values()) session.destroy(new ConnectorError("CANCELLED"));
  });

  /**
   * The worker's end of a session: what it writes goes to the host as it is; what it has read is
   * credited back.
   */
  const openSession = (id: number): Duplex => {
    let unreadBytes = 0;
    const session = new Duplex({
      readableHighWaterMark: readAheadBytes,
      read() {
        if (unreadBytes > 0) writer.sendJson(frameKind.credit, id, { bytes: unreadBytes });
        unreadBytes = 0;
      },
      write(chunk: Buffer, _encoding, done) {
        if (writer.send(frameKind.bytes, id, chunk)) done();
        else writer.drained().then(() => done());
      },
      final(done) {
        writer.send(frameKind.bytesEnd, id);
        done();
      },
      destroy(_error, done) {
        if (sessions.delete(id)) writer.send(frameKind.bytesEnd, id);
        done(null);
      },
    });
    session.on("error", () => {}); // the reader of the session learns of it by its end
    receive.set(session, (chunk) => {
      unreadBytes += chunk.length;
      if (session.push(chunk)) {
        writer.sendJson(frameKind.credit, id, { bytes: unreadBytes });
        unreadBytes = 0;
      }
    });
    sessions.set(id, session);
    return asSocket(session);
  };
  const receive = new WeakMap<Duplex, (chunk: Buffer) => void>();

  return {
    async request(call) {
      refuseIfCancelled();
      const { id, answer } = open(({ payload }): TextAnswer => {
        const { head, body } = splitPayload(payload);
        return { ...(head as unknown as Omit<TextAnswer, "text">), text: body.toString("utf8") };
      });
      writer.sendJson(frameKind.request, id, call);
      return answer;
    },
    async sleep(durationMs, ownSignal) {
      refuseIfCancelled();
      if (ownSignal?.aborted) throw new ConnectorError("CANCELLED");
      const { id, answer } = open(() => {});
      const stop = () => pending.get(id)?.reject(new ConnectorError("CANCELLED"));
      ownSignal?.addEventListener("abort", stop, { once: true });
      writer.sendJson(frameKind.sleep, id, { durationMs });
      await answer.finally(() => ownSignal?.removeEventListener("abort", stop));
    },
    async connect({ isReplication = false } = {}) {
      refuseIfCancelled();
      // Opened as the answer comes: what a server says first may be in the next frame.
      const { id, answer } = open((frame) => openSession(frame.id));
      writer.sendJson(frameKind.connect, id, { isReplication });
      return await answer;
    },
    now: () => (isStill ? clockMs : Math.round(clockMs + performance.now() - clockReadMs)),
    standStill() {
      isStill = true;
    },
    log: (level, message, fields) =>
      void writer.sendJson(frameKind.log, 0, { level, message, fields }),
    settle(frame) {
      if (frame.nowMs > 0) {
        clockMs = frame.nowMs;
        clockReadMs = performance.now();
      }
      const session = sessions.get(frame.id);
      if (frame.kind === frameKind.bytes) {
        if (session) receive.get(session)?.(Buffer.from(frame.payload));
        return true;
      }
      if (frame.kind === frameKind.bytesEnd) {
        sessions.delete(frame.id);
        session?.push(null);
        return true;
      }
      const isAnswer = frame.kind === frameKind.answer || frame.kind === frameKind.wake;
      if (!isAnswer && frame.kind !== frameKind.refusal) return false;
      const call = pending.get(frame.id);
      pending.delete(frame.id);
      if (isAnswer) call?.resolve(frame);
      else call?.reject(fromErrorRecord(parsePayload(frame.payload)));
      return true;
    },
  };
}
