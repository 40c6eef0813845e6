/**
 * Serves the calls of a worker: requests, waits and database sessions, each with an id and one
 * answer. The other side is calls.ts.
 */

import type { Duplex } from "node:stream";
import { budgets } from "../contract/budgets.ts";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { Broker } from "../egress/broker.ts";
import { createSlots } from "../egress/concurrency.ts";
import { parseBounded } from "../wire/bounded-json.ts";
import {
  type Frame,
  type FrameWriter,
  frameKind,
  joinPayload,
  parseObject,
  requireObject,
} from "../wire/frames.ts";
import type { HttpCall } from "../wire/http-call.ts";

/** Requests that the broker has at once; more wait here. */
const maxRequests = 64;

const refused = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });

/** A database session on the host's side. */
interface OpenSession {
  readonly socket: Duplex;
  /** Sent to the worker and not yet read by its driver. */
  unreadBytes: number;
  isWireFull: boolean;
}

export interface CallServer {
  /** Begins to answer a call; false when the frame is none. @throws CONNECTOR_PROTOCOL */
  serve(frame: Frame): boolean;
  /** Resolves when the worker may be read from again: its open requests fill no memory. */
  room(): Promise<void>;
}

/** Answers the worker's requests, waits and sessions. */
export function createCallServer(
  writer: FrameWriter,
  broker: Broker,
  clock: Clock,
  signal: AbortSignal,
): CallServer {
  const sessions = new Map<number, OpenSession>();
  const requestSlots = createSlots(maxRequests);
  let openCalls = 0;
  let requestBytes = 0;
  /** Bytes of answers that the worker has not taken. */
  let answerBytes = 0;
  const waitingForAnswers: (() => void)[] = [];
  const resumeWaiting = () => {
    for (const resume of waitingForAnswers.splice(0)) resume();
  };
  let onRoom = () => {};
  signal.addEventListener("abort", () => {
    for (const { socket } of sessions.values()) socket.destroy();
    onRoom();
    resumeWaiting();
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

  /**
   * Waits until another answer may come: for an answer to be taken, not for the writer, which has
   * room at once where its stream ends.
   */
  const answerRoom = async () => {
    while (answerBytes > budgets.answers.together && !signal.aborted)
      await new Promise<void>((resolve) => waitingForAnswers.push(resolve));
  };

  const request = async (call: HttpCall) => {
    const giveBack = await requestSlots.take(signal);
    try {
      const { body, ...head } = await broker.request(call, signal, answerRoom);
      return (id: number) => {
        answerBytes += body.length;
        writer.send(frameKind.answer, id, ...joinPayload(head, body));
        writer.drained().then(() => {
          answerBytes -= body.length;
          resumeWaiting();
          giveBack();
        });
      };
    } catch (error) {
      giveBack();
      throw error;
    }
  };

  const openSession = async (id: number, isReplication: boolean) => {
    const socket = await broker.connect(signal, { isReplication });
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
        if (session.isWireFull || session.unreadBytes >= budgets.databaseReads.together)
          socket.pause();
      });
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        if (sessions.delete(id)) writer.send(frameKind.bytesEnd, id);
      });
    };
  };
  const resumeIfRoom = ({ socket, unreadBytes, isWireFull }: OpenSession) => {
    if (!isWireFull && unreadBytes < budgets.databaseReads.together) socket.resume();
  };

  const serve = (frame: Frame): boolean => {
    const { kind, id, payload } = frame;
    const session = sessions.get(id);
    if (openCalls > budgets.calls.count[0]) throw refused("too many calls at once");
    if (kind === frameKind.request) {
      const parsed = parseBounded(payload, budgets.request, (problem) =>
        refused(`a request ${problem}`),
      );
      const call = requireObject(parsed) as unknown as HttpCall;
      const { length } = payload;
      requestBytes += length;
      answer(id, async () => {
        try {
          const give = await request(call);
          return () => give(id);
        } finally {
          requestBytes -= length;
          onRoom();
        }
      });
    } else if (kind === frameKind.sleep) {
      answer(id, async () => {
        const { durationMs } = parseObject(payload);
        await clock.sleep(Number(durationMs) || 0, signal);
        return () => writer.send(frameKind.wake, id);
      });
    } else if (kind === frameKind.connect) {
      const isReplication = payload.length > 0 && parseObject(payload).isReplication === true;
      answer(id, () => openSession(id, isReplication));
    } else if (kind === frameKind.bytes) {
      session?.socket.write(Buffer.from(payload));
      const unsent = [...sessions.values()].reduce(
        (sum, { socket }) => sum + socket.writableLength,
        0,
      );
      if (unsent > budgets.databaseWrites.together)
        throw refused("it sends more to the database than that can take");
    } else if (kind === frameKind.bytesEnd) session?.socket.end();
    else if (kind === frameKind.credit && session) {
      const taken = Math.max(0, Number(parseObject(payload).bytes) || 0);
      session.unreadBytes = Math.max(0, session.unreadBytes - taken);
      resumeIfRoom(session);
    } else return kind === frameKind.credit;
    return true;
  };

  return {
    serve,
    async room() {
      while (requestBytes > budgets.openRequests.together && !signal.aborted)
        await new Promise<void>((resolve) => {
          onRoom = resolve;
        });
    },
  };
}
