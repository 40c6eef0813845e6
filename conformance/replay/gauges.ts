/**
 * Measures the cost of a run for this process: memory, and turns of the event loop that keep
 * everything else waiting.
 */
import { readFileSync, readlinkSync, realpathSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const sampleMs = 5;

/** Bytes that are held right now, after a collection of garbage: heap and buffers. */
export function heldBytes(): number {
  collect ??= exposeCollector();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Bytes that are held after other work had its turn, which frees some more. */
export async function settledBytes(): Promise<number> {
  heldBytes();
  await new Promise((resolve) => setImmediate(resolve));
  return heldBytes();
}

let collect: (() => void) | undefined;

/** Node offers the collector as a flag of the command line only; V8 takes the flag at any time. */
function exposeCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

export interface MemoryGauge {
  /** True when much has changed since the last call. */
  isMoving(): boolean;
  /** Largest number of bytes of heap and buffers above those of the beginning. */
  stop(): number;
}

/** Fewer bytes come and go in any process. */
const movingBytes = 2 ** 18;

/** Samples again and again, so that memory held for a moment only is seen too. */
export function gaugeMemory(): MemoryGauge {
  const before = heldBytes();
  let peak = 0;
  const look = () => {
    const { heapUsed, external } = process.memoryUsage();
    peak = Math.max(peak, heapUsed + external - before);
  };
  const timer = setInterval(look, sampleMs);
  let lastSeen = before;
  return {
    isMoving() {
      const { heapUsed, external } = process.memoryUsage();
      const isMoving = Math.abs(heapUsed + external - lastSeen) > movingBytes;
      lastSeen = heapUsed + external;
      return isMoving;
    },
    stop() {
      look();
      clearInterval(timer);
      return peak;
    },
  };
}

export interface TurnGauge {
  /**
   * Milliseconds of processor time of the longest turn of the event loop. Not of real time: other
   * programs take that too.
   */
  stop(): number;
}

export function gaugeTurns(): TurnGauge {
  let before = process.threadCpuUsage();
  let longest = 0;
  const look = () => {
    const { user, system } = process.threadCpuUsage(before);
    before = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1_000);
  };
  const timer = setInterval(look, sampleMs);
  return {
    stop() {
      look();
      clearInterval(timer);
      return longest;
    },
  };
}

/** Measures the processes of Node that this one has started. */
export interface WorkerGauge {
  /** Largest number of bytes that one of them held in memory; 0 where the system does not say. */
  stop(): number;
}

const workerSampleMs = 50;

export function gaugeWorkers(): WorkerGauge {
  let peak = 0;
  const look = () => {
    for (const pid of childrenOfThis()) peak = Math.max(peak, residentBytes(pid));
  };
  const timer = setInterval(look, workerSampleMs);
  return {
    stop() {
      look();
      clearInterval(timer);
      return peak;
    },
  };
}

/** @see proc(5): only Linux has these files */
function childrenOfThis(): readonly string[] {
  try {
    const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, "utf8")
      .trim()
      .split(" ");
    return pids.filter(
      (pid) => pid !== "" && readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath),
    );
  } catch {
    return [];
  }
}

function residentBytes(pid: string): number {
  try {
    const [, kibibytes] =
      /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kibibytes ?? 0) * 1_024;
  } catch {
    return 0;
  }
}
