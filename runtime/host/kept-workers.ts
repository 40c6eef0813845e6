/**
 * Workers that serve one run after another, for the conformance kit: to start one takes longer than
 * most runs do. To whoever runs a connector each looks like a worker of its own, which ends with
 * its run. One that does not say that its run has left nothing behind serves no further one.
 * @see runtime/worker/kept.ts
 */
import { Duplex } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import { createFrameWriter, frameKind, headerBytes } from "../wire/frames.ts";
import { endMark } from "../wire/kept-run.ts";
import { createRunEnd } from "./kept-wire.ts";
import type { WorkerProcess } from "./process.ts";

export interface KeptWorkers extends AsyncDisposable {
  /** A worker for one run: one that was kept of this kind, or the one that `start` starts. */
  open(kind: string, start: () => WorkerProcess): WorkerProcess;
}

/** Time for a worker to look at what its run has left behind; ms. */
const lookMs = 5_000;

/** A process, and the run that it serves just now. */
interface Kept {
  readonly process: WorkerProcess;
  /** Bytes for the next run. */
  readonly waiting: Buffer[];
  run?: KeptRun | undefined;
  isGone: boolean;
}

interface KeptRun {
  take(bytes: Buffer): void;
  hear(text: string): void;
  end(): void;
}

/** @param graceMs for a run to end by itself when its consumer has gone */
export function createKeptWorkers(graceMs: number): KeptWorkers {
  const free = new Map<string, Kept[]>();
  const all = new Set<Kept>();

  const begin = (start: () => WorkerProcess): Kept => {
    const process = start();
    const kept: Kept = { process, waiting: [], isGone: false };
    all.add(kept);
    const { wire } = process;
    wire.on("data", (bytes: Buffer) => {
      if (kept.run) kept.run.take(bytes);
      else kept.waiting.push(bytes);
    });
    const end = () => {
      kept.isGone = true;
      kept.run?.end();
    };
    wire.on("end", end).on("close", end);
    process.onText((text) => kept.run?.hear(text));
    process.ended.then(() => {
      end();
      all.delete(kept);
    });
    return kept;
  };

  return {
    open(kind, start) {
      const ready = free.get(kind) ?? [];
      free.set(kind, ready);
      let kept = ready.pop();
      while (kept?.isGone) kept = ready.pop();
      const taken = kept ?? begin(start);
      taken.process.hold(true);
      return openRun(taken, graceMs, () => {
        taken.process.hold(false);
        ready.push(taken);
      });
    },
    async [Symbol.asyncDispose]() {
      for (const { process } of all) {
        process.hold(true); // its end is waited for
        process.kill(new ConnectorError("CANCELLED"));
        await process.ended;
      }
    },
  };
}

/** @param release is called when the worker may serve the next run */
function openRun(kept: Kept, graceMs: number, release: () => void): WorkerProcess {
  const { process } = kept;
  const end = createRunEnd();
  const listeners: ((text: string) => void)[] = [];
  const ended = Promise.withResolvers<ConnectorError | undefined>();
  /** Until it is asked to load anything, they are of whoever runs next as well. */
  const early: Buffer[] = [];
  const sent = new Set<number | undefined>();
  let marksToCome = 2;
  let isOver = false;
  let isReleased = false;
  let looking: NodeJS.Timeout | undefined;

  const leave = (reason?: ConnectorError) => {
    isReleased = true;
    clearTimeout(looking);
    kept.run = undefined;
    if (!wire.destroyed) wire.push(null);
    release();
    ended.resolve(reason);
  };
  const leaveWhenOver = () => {
    if (isOver && marksToCome <= 0 && !isReleased) leave();
  };
  const take = (bytes: Buffer) => {
    if (!sent.has(frameKind.load)) early.push(bytes);
    const { own, next } = end.split(bytes);
    if (own.length > 0 && !wire.destroyed && !wire.push(own)) process.wire.pause();
    if (!next) return;
    isOver = true;
    if (next.length > 0) kept.waiting.push(next);
    process.wire.resume();
    leaveWhenOver();
  };
  const wire = new Duplex({
    read: () => void process.wire.resume(),
    writev(chunks, done) {
      process.wire.cork();
      for (const { chunk } of chunks) {
        if (chunk.length === headerBytes) sent.add(chunk[4]);
        process.wire.write(chunk);
      }
      process.wire.uncork();
      if (!process.wire.writableNeedDrain || process.wire.destroyed) return done();
      process.wire.once("drain", done);
    },
    destroy(_, done) {
      process.wire.resume();
      done(null);
    },
  });
  process.ended.then((reason) => {
    clearTimeout(looking);
    ended.resolve(reason);
  });
  kept.run = {
    take(bytes) {
      if (isOver) kept.waiting.push(bytes);
      else take(bytes);
    },
    hear(text) {
      const parts = text.split(endMark);
      marksToCome -= parts.length - 1;
      const said = parts.join("");
      if (said !== "") for (const listener of listeners) listener(said);
      leaveWhenOver();
    },
    end() {
      if (!wire.destroyed) wire.push(null);
    },
  };
  const waiting = kept.waiting.splice(0);
  if (waiting.length > 0) take(Buffer.concat(waiting));

  return {
    wire,
    ended: ended.promise,
    onText: (listener) => void listeners.push(listener),
    hold: (isHeld) => process.hold(isHeld),
    kill(reason) {
      if (isReleased) return;
      wire.destroy();
      if (reason.code !== "CANCELLED" || kept.isGone) return process.kill(reason);
      if (!sent.has(frameKind.load)) {
        kept.waiting.push(...early);
        return leave(reason);
      }
      const hasStarted = sent.has(frameKind.start);
      const isUnused = end.isLoaded && !hasStarted;
      // Its consumer has gone: it ends by itself when it hears of it, as a cancelled run does.
      const isLeft = hasStarted && !sent.has(frameKind.cancel) && !end.isNear;
      if (!(end.isNear || isUnused || isLeft)) return process.kill(reason);
      if (looking) return;
      const writer = createFrameWriter(process.wire);
      if (isUnused) writer.send(frameKind.release, 0);
      if (isLeft) writer.send(frameKind.cancel, 0);
      looking = setTimeout(() => process.kill(reason), isLeft ? graceMs : lookMs).unref();
    },
  };
}
