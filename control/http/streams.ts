/**
 * Sends answers that come bit by bit: looks again and again, shows that it is alive, and ends with
 * its listener, its time or the server.
 */
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import type { Answer, AnswerStream } from "../door/answer.ts";

export interface StreamSettings {
  /** Between two looks when there was nothing more to tell. */
  readonly lookEveryMs: number;
  /** Proxies close what is silent for a minute. */
  readonly heartbeatEveryMs: number;
  /** Time after which events end, and who listens comes again. */
  readonly lifetimeMs: number;
  /** Most streams at once of one session in this process. */
  readonly perSession: number;
  /** Most streams at once in this process: each looks into the database once a second. */
  readonly inAll: number;
}

const usual: StreamSettings = {
  lookEveryMs: 1_000,
  heartbeatEveryMs: 15_000,
  lifetimeMs: 3_600_000,
  perSession: 10,
  inAll: 300,
};

/** Who reads more slowly than that after the end is not waited for. */
const graceMs = 60_000;
/** A browser waits so long before it comes again. */
const retryMs = 3_000;

export interface Streams {
  /**
   * Keeps a place for the answer, until it has been sent or nobody waits for it any more.
   * @throws too_many_streams
   */
  takePlace(caller: Caller, reply: FastifyReply): void;
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: Answer,
    stream: AnswerStream,
  ): FastifyReply;
  /** Ends all of them. */
  end(): void;
}

export function createStreams(own: Partial<StreamSettings> = {}): Streams {
  const settings = { ...usual, ...own };
  const ending = new AbortController();
  const open = new Map<string, number>();
  let openCount = 0;

  const countOf = ({ session }: Caller) => open.get(session.id) ?? 0;
  const change = (caller: Caller, by: 1 | -1) => {
    openCount += by;
    const count = countOf(caller) + by;
    if (count > 0) open.set(caller.session.id, count);
    else open.delete(caller.session.id);
  };

  return {
    takePlace(caller, { raw }) {
      if (countOf(caller) >= settings.perSession || openCount >= settings.inAll)
        throw new ControlError(
          "too_many_streams",
          { allowed: settings.perSession },
          { "retry-after": "10" },
        );
      change(caller, 1);
      raw.once("close", () => change(caller, -1));
    },
    send(request, reply, { requestId, status, headers }, stream) {
      request.requestId = requestId;
      const { raw } = reply;
      const gone = new AbortController();
      const late = setTimeout(() => raw.destroy(), settings.lifetimeMs + graceMs).unref();
      raw.once("close", () => {
        clearTimeout(late);
        gone.abort();
      });
      const signal = AbortSignal.any([gone.signal, ending.signal]);
      return reply
        .code(status)
        .headers({
          ...headers,
          "content-type": `${stream.media}; charset=utf-8`,
          "cache-control": "no-store, no-transform",
          "x-content-type-options": "nosniff",
          // A server that stops waits for no connection that was kept for later.
          connection: "close",
          // Some proxies gather an answer before they send any of it.
          "x-accel-buffering": "no",
          "x-request-id": requestId,
        })
        .send(Readable.from(write(stream, settings, signal), { objectMode: false }));
    },
    end: () => ending.abort(),
  };
}

async function* write(
  stream: AnswerStream,
  { lookEveryMs, heartbeatEveryMs, lifetimeMs }: StreamSettings,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const isEvents = stream.media === "text/event-stream";
  const begunMs = performance.now();
  let writtenMs = begunMs;
  if (isEvents) yield `retry: ${retryMs}\n\n`;
  while (!signal.aborted) {
    const { text, isOver, hasMore } = await stream.look();
    if (text !== "") {
      writtenMs = performance.now();
      yield text;
    }
    if (isOver) return;
    if (hasMore) continue;
    const nowMs = performance.now();
    if (isEvents && nowMs - begunMs >= lifetimeMs) return;
    if (isEvents && nowMs - writtenMs >= heartbeatEveryMs) {
      writtenMs = nowMs;
      yield ": still here\n\n";
    }
    await pause(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
  }
  // A document that was not told whole must not look as if it was.
  if (!isEvents) throw new ControlError("overloaded");
}
