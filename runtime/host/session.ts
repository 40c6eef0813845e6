/**
 * The host's side of the wire: one run of one worker. Serves the worker's calls through the broker,
 * hands its output on, and turns whatever goes wrong with the worker into one error of the table.
 * All that a worker says is hostile until checked.
 */
import { setImmediate as eventLoopTurn } from "node:timers/promises";
import { budgets } from "../contract/budgets.ts";
import type { Clock } from "../contract/clock.ts";
import { ConnectorError, toConnectorError } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import type { Broker } from "../egress/broker.ts";
import {
  createFrameReader,
  createFrameWriter,
  type Frame,
  type FrameWriter,
  frameKind,
} from "../wire/frames.ts";
import type { LoadRequest, VerbRequest } from "../wire/verb-request.ts";
import { createCallServer } from "./call-server.ts";
import type { WorkerProcess } from "./process.ts";
import {
  deliver,
  gateOfHost,
  isNotice,
  isOver,
  readFailure,
  readManifest,
  type SessionHandlers,
  unexpected,
} from "./worker-output.ts";

export interface SessionLimits {
  /** The verb's wall clock. */
  readonly timeoutMs: number;
  /** A worker that does not answer a ping for so long is ended. */
  readonly unresponsiveMs: number;
  /** Time from cancel to kill. */
  readonly graceMs: number;
}

export interface Session {
  /** Imports the connector. @returns the manifest, unchecked */
  load(request: LoadRequest, signal?: AbortSignal): Promise<JsonValue>;
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
const maxLoadMs = budgets.manifest.seconds * 1000;
export function createSession(worker: WorkerProcess, clock: Clock): Session {
  const writer = createFrameWriter(worker.wire, () => clock.now());
  const listener = createListener(worker, writer);

  return {
    async load(request, signal) {
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
          if (frame.kind === frameKind.ready) writer.sendJson(frameKind.load, 0, request);
          else if (frame.kind === frameKind.manifest) return readManifest(frame);
          else if (frame.kind === frameKind.failed) throw readFailure(frame);
          else if (!isNotice(frame) && frame.kind !== frameKind.pong) throw unexpected();
        }
      } finally {
        stopWatching();
        clearTimeout(deadline);
        signal?.removeEventListener("abort", cancel);
      }
    },

    async run(request, broker, handlers, limits, signal) {
      const ending = new AbortController();
      const calls = createCallServer(writer, broker, clock, ending.signal);
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
          if (calls.serve(frame)) {
            await calls.room();
            continue;
          }
          if (frame.kind === frameKind.pong) continue;
          if (frame.kind === frameKind.done) break;
          if (frame.kind === frameKind.failed) throw readFailure(frame);
          if (isNotice(frame) && (++logLines > budgets.log.count[0] || isOver(frame))) continue;
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
      const limitSeconds = Math.round(unresponsiveMs / 1000);
      const end = (phase: string) =>
        worker.kill(new ConnectorError("CONNECTOR_TIMEOUT", { phase, limitSeconds }));
      const timer = setInterval(() => {
        if (writer.untakenMs() > unresponsiveMs) return end("take what it was sent");
        if (!isListening) return; // the host itself is busy, with a slow receiver for instance
        const silentMs = performance.now() - lastHeardMs;
        if (silentMs > unresponsiveMs) end("respond");
        else if (silentMs > unresponsiveMs / 4) writer.send(frameKind.ping, 0);
      }, unresponsiveMs / 4);
      timer.unref();
      return () => clearInterval(timer);
    },
  };
}

/** Bytes of a worker that may wait to be handled before it is no longer read from. */
const readAheadBytes = 256 * 1024;

/** The worker's frames; pulling them is what lets the worker go on. */
async function* frames({ wire }: WorkerProcess): AsyncGenerator<Frame, void, undefined> {
  const reader = createFrameReader(gateOfHost);
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
      // First: a wire that has ended is destroyed soon after, and half a frame would go unseen.
      if (wire.readableEnded) return reader.end();
      if (isBroken || wire.destroyed) return;
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

/** Answers that cross the end on their way, besides notices. */
const afterEnd: ReadonlySet<number> = new Set([frameKind.pong, frameKind.bytesEnd]);

/** After `done` a worker only ends. @throws CONNECTOR_PROTOCOL when it says more */
async function refuseMoreOutput(
  incoming: AsyncGenerator<Frame>,
  worker: WorkerProcess,
  graceMs: number,
): Promise<void> {
  const late = setTimeout(() => worker.kill(new ConnectorError("CANCELLED")), graceMs);
  try {
    for (let step = await incoming.next(); !step.done; step = await incoming.next()) {
      if (step.value.kind === frameKind.failed) throw readFailure(step.value);
      if (!isNotice(step.value) && !afterEnd.has(step.value.kind)) {
        throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "output after the end" });
      }
    }
  } finally {
    clearTimeout(late);
  }
}
