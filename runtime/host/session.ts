/**
 * The host's side of the wire: one run of one worker. Serves the worker's calls through the broker,
 * hands its output on, and turns whatever goes wrong with the worker into one error of the table.
 * All that a worker says is hostile until checked.
 */
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, fromErrorRecord, toConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { Broker } from "../egress/broker.ts";
import {
  createFrameReader,
  createFrameWriter,
  type Frame,
  type FrameWriter,
  frameKind,
  maxFrameBytes,
  parseObject,
  parsePayload,
  requireObject,
} from "../wire/frames.ts";
import type { VerbRequest } from "../wire/verb-request.ts";
import { createCallServer } from "./call-server.ts";
import type { WorkerProcess } from "./process.ts";

/**
 * The receivers of the worker's output. Each is awaited, so a slow receiver slows the worker.
 */
export interface SessionHandlers {
  /** A part of the catalog, as JSON text. */
  onStreams?(part: Buffer): void | Promise<void>;
  onResult?(result: JsonObject): void | Promise<void>;
  onStatus?(index: number, status: JsonObject): void | Promise<void>;
  onRecords?(index: number, rowCount: number, lines: Buffer): void | Promise<void>;
  onCheckpoint?(index: number, state: JsonValue): void | Promise<void>;
  onLog?(level: string, message: string, fields: JsonObject): void;
  onDenied?(resource: string): void;
}

export interface SessionLimits {
  /** The verb's wall clock. */
  readonly timeoutMs: number;
  /** A worker that does not answer a ping for so long is ended. */
  readonly unresponsiveMs: number;
  /** From cancel to kill. */
  readonly graceMs: number;
}

export interface Session {
  /** Imports the connector. @returns the manifest, unchecked */
  load(url: string, signal?: AbortSignal): Promise<JsonValue>;
  /** Runs one verb to its end. @throws ConnectorError */
  run(
    request: VerbRequest,
    broker: Broker,
    handlers: SessionHandlers,
    limits: SessionLimits,
    signal?: AbortSignal,
  ): Promise<void>;
}

/** Importing a module takes longer than this only when it waits for something. */
const maxLoadMs = 30_000;
/**
 * Largest payload of a frame that is parsed here, by what it should hold: a state has 1 MiB, the
 * others a few hundred bytes.
 */
const maxStateFrameBytes = 1024 * 1024;
const maxSmallFrameBytes = 256 * 1024;
/**
 * Log lines that one run may write; the rest is dropped, so that a chatty connector cannot fill a
 * disk.
 */
const maxLogLines = 10_000;
/** A longer log line is dropped unread. */
const maxLogBytes = 64 * 1024;

export function createSession(worker: WorkerProcess, clock: Clock): Session {
  const writer = createFrameWriter(worker.wire, () => clock.now());
  const listener = createListener(worker, writer);

  return {
    async load(url, signal) {
      const stopWatching = listener.watch(60_000);
      const limitSeconds = maxLoadMs / 1000;
      const deadline = setTimeout(
        () => worker.kill(new ConnectorError("CONNECTOR_TIMEOUT", { phase: "load", limitSeconds })),
        maxLoadMs,
      );
      const cancel = () => worker.kill(new ConnectorError("CANCELLED"));
      if (signal?.aborted) cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        for (;;) {
          const frame = await listener.next();
          if (frame.kind === frameKind.ready) writer.sendJson(frameKind.load, 0, { url });
          else if (frame.kind === frameKind.manifest) return parsePayload(frame.payload);
          else if (frame.kind === frameKind.failed)
            throw fromErrorRecord(parsePayload(frame.payload));
          else if (!isNotice(frame)) throw unexpected();
        }
      } finally {
        stopWatching();
        clearTimeout(deadline);
        signal?.removeEventListener("abort", cancel);
      }
    },

    async run(request, broker, handlers, limits, signal) {
      const ending = new AbortController();
      const serveCall = createCallServer(writer, broker, clock, ending.signal);
      const stopWatching = listener.watch(limits.unresponsiveMs);
      const limitSeconds = Math.round(limits.timeoutMs / 1000);
      const timeout = setTimeout(
        () =>
          worker.kill(new ConnectorError("CONNECTOR_TIMEOUT", { phase: "finish", limitSeconds })),
        Math.min(limits.timeoutMs, 2 ** 31 - 1),
      );
      let grace: NodeJS.Timeout | undefined;
      const cancel = () => {
        writer.send(frameKind.cancel, 0);
        ending.abort();
        grace ??= setTimeout(() => worker.kill(new ConnectorError("CANCELLED")), limits.graceMs);
      };
      if (signal?.aborted) cancel();
      signal?.addEventListener("abort", cancel, { once: true });
      let logLines = 0;
      let hasDropped = false;
      try {
        writer.sendJson(
          frameKind.start,
          0,
          clock.standsStill ? { ...request, clockStandsStill: true } : request,
        );
        for (;;) {
          const frame = await listener.next();
          const isCancelled = signal?.aborted === true;
          if (serveCall(frame) || frame.kind === frameKind.pong) continue;
          if (frame.kind === frameKind.done) break;
          if (frame.kind === frameKind.failed) throw fromErrorRecord(parsePayload(frame.payload));
          if (isNotice(frame) && (++logLines > maxLogLines || frame.payload.length > maxLogBytes))
            continue;
          if (isCancelled && frame.kind !== frameKind.status) hasDropped = true;
          if (isCancelled && hasDropped) {
            // Nothing is put out after a cancel, and a stream whose rows were dropped is not
            // complete: what is open ends incomplete.
            continue;
          }
          await deliver(frame, handlers);
        }
        if (signal?.aborted) throw new ConnectorError("CANCELLED");
        await refuseMoreOutput(listener.frames, worker, limits.graceMs);
      } catch (error) {
        throw signal?.aborted
          ? new ConnectorError("CANCELLED")
          : toConnectorError(error, "INTERNAL");
      } finally {
        stopWatching();
        clearTimeout(timeout);
        clearTimeout(grace);
        signal?.removeEventListener("abort", cancel);
        ending.abort();
        worker.kill(new ConnectorError("CANCELLED"));
        await worker.ended;
      }
    },
  };
}

interface Listener {
  /** All that the worker still says. */
  readonly frames: AsyncGenerator<Frame, void, undefined>;
  /** The next frame. @throws the reason why there is none */
  next(): Promise<Frame>;
  /**
   * Ends the worker when it is silent for longer although a ping asked it to answer. Gives the
   * function that stops the watch.
   */
  watch(unresponsiveMs: number): () => void;
}

function createListener(worker: WorkerProcess, writer: FrameWriter): Listener {
  const incoming = frames(worker);
  let lastHeardMs = performance.now();
  let isListening = false;

  return {
    frames: incoming,
    async next() {
      isListening = true;
      lastHeardMs = performance.now();
      const step = await incoming.next().catch((error: unknown) => {
        worker.kill(toConnectorError(error, "CONNECTOR_PROTOCOL"));
        return { done: true, value: undefined } as const;
      });
      isListening = false;
      if (!step.done) return step.value;
      throw (
        (await worker.ended) ??
        new ConnectorError("CONNECTOR_EXITED", { reason: "before its work was done" })
      );
    },
    watch(unresponsiveMs) {
      const timer = setInterval(() => {
        if (!isListening) return; // the host itself is busy, with a slow receiver for instance
        const silentMs = performance.now() - lastHeardMs;
        if (silentMs > unresponsiveMs) {
          const limitSeconds = Math.round(unresponsiveMs / 1000);
          worker.kill(new ConnectorError("CONNECTOR_TIMEOUT", { phase: "respond", limitSeconds }));
        } else if (silentMs > unresponsiveMs / 4) writer.send(frameKind.ping, 0);
      }, unresponsiveMs / 4);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

const tooLarge = (what: string) =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: `a ${what} is too large` });
const unexpected = () =>
  new ConnectorError("CONNECTOR_PROTOCOL", { problem: "an unexpected frame" });
const isNotice = (frame: Frame) =>
  frame.kind === frameKind.log || frame.kind === frameKind.denied || frame.kind === frameKind.pong;

/** Bytes of a worker that may wait to be handled before it is no longer read from. */
const readAheadBytes = 256 * 1024;

/** The worker's frames; pulling them is what lets the worker go on. */
async function* frames({ wire }: WorkerProcess): AsyncGenerator<Frame, void, undefined> {
  const reader = createFrameReader(maxFrameBytes.fromWorker);
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let isBroken = false;
  let wake = () => {};
  wire.on("data", (chunk: Buffer) => {
    waiting.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes > readAheadBytes) wire.pause();
    wake();
  });
  wire.on("error", () => {
    isBroken = true; // the end of the process gives the reason
  });
  wire.on("close", () => wake());
  wire.on("end", () => wake());
  for (;;) {
    if (waiting.length === 0) {
      if (isBroken || wire.destroyed) return;
      if (wire.readableEnded) return reader.end();
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    const chunks = waiting;
    waiting = [];
    waitingBytes = 0;
    for (const chunk of chunks) {
      yield* reader.push(chunk);
      // answers on their way to the worker go on between frames, else it would wait for them
      await eventLoopTurn();
    }
    if (wire.isPaused()) wire.resume();
  }
}

async function deliver(frame: Frame, handlers: SessionHandlers): Promise<void> {
  const { kind, id, payload } = frame;
  if (kind === frameKind.checkpoint && payload.length > maxStateFrameBytes) throw tooLarge("state");
  if (kind === frameKind.status && payload.length > maxSmallFrameBytes) throw tooLarge("status");
  if (kind === frameKind.records) {
    if (payload.length < 4) throw unexpected();
    const lines = payload.subarray(4);
    if (lines.length > 0 && lines[lines.length - 1] !== 0x0a) throw unexpected();
    await handlers.onRecords?.(id, payload.readUInt32LE(0), lines);
  } else if (kind === frameKind.checkpoint)
    await handlers.onCheckpoint?.(id, parsePayload(payload));
  else if (kind === frameKind.status) await handlers.onStatus?.(id, parseObject(payload));
  else if (kind === frameKind.streams) await handlers.onStreams?.(payload);
  else if (kind === frameKind.result) await handlers.onResult?.(parseObject(payload));
  else if (kind === frameKind.log) {
    const { level, message, fields } = parseObject(payload);
    handlers.onLog?.(requireText(level), requireText(message), requireObject(fields ?? {}));
  } else if (kind === frameKind.denied)
    handlers.onDenied?.(requireText(parseObject(payload).resource));
  else throw unexpected();
}

/** @throws CONNECTOR_PROTOCOL when the value is no text */
function requireText(value: JsonValue | undefined): string {
  if (typeof value === "string") return value;
  throw unexpected();
}

/** After `done` a worker only ends. @throws CONNECTOR_PROTOCOL when it says more */
async function refuseMoreOutput(
  incoming: AsyncGenerator<Frame>,
  worker: WorkerProcess,
  graceMs: number,
): Promise<void> {
  const late = setTimeout(() => worker.kill(new ConnectorError("CANCELLED")), graceMs);
  try {
    for (let step = await incoming.next(); !step.done; step = await incoming.next()) {
      if (step.value.kind === frameKind.failed)
        throw fromErrorRecord(parsePayload(step.value.payload));
      if (!isNotice(step.value) && step.value.kind !== frameKind.bytesEnd) {
        throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "output after the end" });
      }
    }
  } finally {
    clearTimeout(late);
  }
}
