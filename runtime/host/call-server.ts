/**
 * Serves the calls of a worker: requests, waits and database sessions, each with an id and one
 * answer. The other side is calls.ts.
 */

import type { Duplex } from "node:stream";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { Broker } from "../egress/broker.ts";
import { createSlots } from "../egress/concurrency.ts";
import {
  type Frame,
  type FrameWriter,
  frameKind,
  joinPayload,
  parseObject,
} from "../wire/frames.ts";
import type { HttpCall } from "../wire/http-call.ts";

/** Calls of a worker that may wait for an answer at once. */
const maxOpenCalls = 1_000;
/**
 * Requests under way at once. An answer counts until the worker has taken it: one that does not
 * read fills no memory here.
 */
const maxRequests = 64;
/** Bytes that a worker may send to its database before the database has taken them. */
const maxUnsentBytes = 64 * 1024 * 1024;
/** Bytes of a database session on their way to the worker before the host stops reading. */
const maxUnreadBytes = 4 * 1024 * 1024;

/** Largest call: a request with its body. */
const maxCallBytes = 8 * 1024 * 1024;

const refused = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });

/** A database session on the host's side. */
interface OpenSession {
  readonly socket: Duplex;
  /** Sent to the worker and not yet read by its driver. */
  unreadBytes: number;
  isWireFull: boolean;
}

/**
 * Answers the worker's requests, waits and sessions.
 * @returns a function that says whether a frame was one of them
 */
export function createCallServer(
  writer: FrameWriter,
  broker: Broker,
  clock: Clock,
  signal: AbortSignal,
): (frame: Frame) => boolean {
  const sessions = new Map<number, OpenSession>();
  const requestSlots = createSlots(maxRequests);
  let openCalls = 0;
  signal.addEventListener("abort", () => {
    for (const { socket } of sessions.values()) socket.destroy();
  });

  const answer = async (id: number, work: () => Promise<() => void>) => {
    openCalls++;
    try {
      (await work())();
    } catch (error) {
      writer.sendJson(frameKind.refusal, id, toConnectorError(error).toRecord());
    } finally {
      await writer.drained(); // an answer that the worker does not read keeps its call open
      openCalls--;
    }
  };

  const openSession = async (id: number) => {
    const socket = await broker.connect(signal);
    const session: OpenSession = { socket, unreadBytes: 0, isWireFull: false };
    sessions.set(id, session);
    return () => {
      writer.send(frameKind.wake, id);
      socket.on("data", (chunk: Buffer) => {
        session.unreadBytes += chunk.length;
        if (!writer.send(frameKind.bytes, id, chunk) && !session.isWireFull) {
          session.isWireFull = true;
          writer.drained().then(() => {
            session.isWireFull = false;
            resumeIfRoom(session);
          });
        }
        if (session.isWireFull || session.unreadBytes >= maxUnreadBytes) socket.pause();
      });
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        if (sessions.delete(id)) writer.send(frameKind.bytesEnd, id);
      });
    };
  };
  const resumeIfRoom = ({ socket, unreadBytes, isWireFull }: OpenSession) => {
    if (!isWireFull && unreadBytes < maxUnreadBytes) socket.resume();
  };

  return (frame) => {
    const { kind, id, payload } = frame;
    const session = sessions.get(id);
    if (openCalls > maxOpenCalls) throw refused("too many calls at once");
    const isBulk = kind === frameKind.bytes || kind === frameKind.records;
    if (!isBulk && payload.length > maxCallBytes) throw refused("a call is too large");
    if (kind === frameKind.request) {
      const call = parseObject(payload) as unknown as HttpCall;
      answer(id, async () => {
        const giveBack = await requestSlots.take(signal);
        try {
          const { body, ...head } = await broker.request(call, signal);
          return () => {
            writer.send(frameKind.answer, id, ...joinPayload(head, body));
            writer.drained().then(giveBack);
          };
        } catch (error) {
          giveBack();
          throw error;
        }
      });
    } else if (kind === frameKind.sleep) {
      answer(id, async () => {
        const { durationMs } = parseObject(payload);
        await clock.sleep(Number(durationMs) || 0, signal);
        return () => writer.send(frameKind.wake, id);
      });
    } else if (kind === frameKind.connect) answer(id, () => openSession(id));
    else if (kind === frameKind.bytes) {
      session?.socket.write(Buffer.from(payload));
      if ((session?.socket.writableLength ?? 0) > maxUnsentBytes) {
        throw refused("it sends more to the database than that can take");
      }
    } else if (kind === frameKind.bytesEnd) session?.socket.end();
    else if (kind === frameKind.credit && session) {
      session.unreadBytes -= Math.max(0, Number(parseObject(payload).bytes) || 0);
      resumeIfRoom(session);
    } else return kind === frameKind.credit;
    return true;
  };
}
