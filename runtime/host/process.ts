/**
 * One sandboxed child process: how it is started, watched and ended. What it says is session.ts's
 * matter.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import { budgets } from "../contract/budgets.ts";
import { ConnectorError } from "../contract/errors.ts";
import { keptFlag } from "../wire/kept-run.ts";
import { isSourceRun } from "../wire/location.ts";
import { bubblewrapCommand } from "./bubblewrap.ts";
import { collectorFlags } from "./collector.ts";
import { inheritedAsNull } from "./descriptors.ts";
import { workerEntry } from "./sandbox-code.ts";

export interface WorkerProcess {
  /** Frames, both ways. */
  readonly wire: Duplex;
  /**
   * Called with each chunk of the child's standard output and error, which are not part of the
   * protocol.
   */
  onText(listener: (text: string) => void): void;
  /**
   * Resolves when the process is gone: why it ended, as an error of the table; undefined after a
   * regular exit.
   */
  readonly ended: Promise<ConnectorError | undefined>;
  /** Ends the process group at once. `ended` gives the first reason. */
  kill(reason: ConnectorError): void;
  /** Whether the process keeps this one alive: false for a warm one. */
  hold(isHeld: boolean): void;
}

export interface ProcessOptions {
  /** For `--allow-fs-read`; folders end with a separator. */
  readonly paths: readonly string[];
  readonly level: "process" | "bubblewrap";
  readonly memoryMb: number;
  /** It serves one run after another. Default false. */
  readonly isKept?: boolean | undefined;
}

/**
 * Memory beyond the JavaScript heap that a worker may use: Node itself, code, buffers in flight.
 */
const overheadMb = 384;
const memoryCheckMs = 50;
/**
 * Standard output and error beyond this are read and thrown away, so that a chatty worker costs
 * nothing.
 */
const maxTextChars = budgets.output.together;

/** Of what V8 says before it gives up. A search that goes back and forth would be an attack's. */
const outOfMemory = ["heap out of memory", "Allocation failed"];

/**
 * Features that no connector needs and the permission model refuses piece by piece: libraries
 * called from JavaScript, the web's storage, addons. A Node that does not know a flag is started
 * without it.
 */
const switchedOff = ["--no-experimental-ffi", "--no-experimental-webstorage", "--no-addons"].filter(
  (flag) => process.allowedNodeEnvironmentFlags.has(flag),
);

/** @throws SANDBOX_UNAVAILABLE when the level needs something that is not installed */
export function startProcess(options: ProcessOptions): WorkerProcess {
  const node = [
    process.execPath,
    "--permission",
    ...options.paths.map((path) => `--allow-fs-read=${path}`),
    "--no-experimental-sqlite", // it ignores the permission model
    ...switchedOff,
    "--disable-sigusr1",
    "--disable-proto=delete",
    `--max-old-space-size=${options.memoryMb}`,
    // larger ones cost more time (memory is touched anew) as well as memory, measured in bench
    "--max-semi-space-size=8",
    // Node's own code is compiled anew under a flag of V8's, which short runs do not earn back
    ...(options.isKept ? [] : collectorFlags),
    ...(isSourceRun ? ["--conditions=svc-source"] : []),
    workerEntry,
    ...(options.isKept ? [keptFlag] : []),
  ];
  const command =
    options.level === "bubblewrap" ? bubblewrapCommand(node, options.paths) : dieWithHost(node);
  const child = spawn(command[0] ?? "", command.slice(1), {
    env: {},
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe", "pipe", ...inheritedAsNull(4)],
    detached: true, // its own process group, so that the whole group can be ended
  });
  return watch(child, options);
}

const setpriv = "/usr/bin/setpriv";

/**
 * On Linux the kernel ends the child when the host dies, and nothing it runs can gain rights. A
 * host of root starts it as nobody, who may read the code wherever it lies, and neither write nor
 * signal.
 * @see setpriv(1), capabilities(7)
 */
function dieWithHost(command: readonly string[]): readonly string[] {
  if (!existsSync(setpriv)) return command;
  return [setpriv, "--pdeathsig", "KILL", "--no-new-privs", ...asNobody(), ...command];
}

/** 65534 is nobody on Linux, whatever its name; CAP_DAC_READ_SEARCH alone is kept. */
const nobody = [
  ...["--reuid=65534", "--regid=65534", "--clear-groups"],
  ...["--inh-caps", "--ambient-caps", "--bounding-set"].map(
    (set) => `${set}=-all,+dac_read_search`,
  ),
];
let isNobodyPossible: boolean | undefined;

/** Empty for a host that is not root, or that may not change its user, as in some containers. */
function asNobody(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  isNobodyPossible ??=
    spawnSync(setpriv, [...nobody, process.execPath, "--version"], { env: {} }).status === 0;
  return isNobodyPossible ? nobody : [];
}

function watch(child: ChildProcess, { memoryMb }: ProcessOptions): WorkerProcess {
  const wire = child.stdio[3] as Duplex;
  let reason: ConnectorError | undefined;
  let isOutOfMemory = false;
  const listeners: ((text: string) => void)[] = [];
  let textChars = 0;
  const hear = (chunk: Buffer) => {
    const text = chunk.toString("utf8");
    // V8 has no exit code of its own for this; the line is written by Node itself before it aborts.
    if (text.includes("FATAL ERROR: ") && outOfMemory.some((words) => text.includes(words)))
      isOutOfMemory = true;
    textChars += text.length;
    if (textChars <= maxTextChars) for (const listener of listeners) listener(text);
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  wire.on("error", () => {}); // a broken pipe shows as the end of the process

  const kill = (why: ConnectorError) => {
    reason ??= why;
    wire.destroy(); // unread output would keep the end of the process from being seen
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      child.kill("SIGKILL"); // the group is already gone, or was never made
    }
  };
  const memoryWatch = setInterval(() => {
    const usedMb = residentMb(child.pid);
    if (usedMb > memoryMb + overheadMb)
      kill(new ConnectorError("CONNECTOR_OUT_OF_MEMORY", { limitMb: memoryMb }));
  }, memoryCheckMs);
  memoryWatch.unref();

  const ended = new Promise<ConnectorError | undefined>((resolve) => {
    child.once("error", () =>
      resolve(
        new ConnectorError("SANDBOX_UNAVAILABLE", {
          level: "process",
          problem: "the worker could not be started",
        }),
      ),
    );
    child.once("close", (code, signal) => {
      clearInterval(memoryWatch);
      if (reason) resolve(reason);
      else if (isOutOfMemory)
        resolve(new ConnectorError("CONNECTOR_OUT_OF_MEMORY", { limitMb: memoryMb }));
      else if (code === 0) resolve(undefined);
      else
        resolve(new ConnectorError("CONNECTOR_EXITED", { reason: signal ?? `exit code ${code}` }));
    });
  });

  return {
    wire,
    ended,
    kill,
    onText: (listener) => void listeners.push(listener),
    hold(isHeld) {
      const handles = [child, wire, child.stdout, child.stderr] as unknown as {
        ref?(): void;
        unref?(): void;
      }[];
      for (const handle of handles) isHeld ? handle.ref?.() : handle.unref?.();
    },
  };
}

/**
 * Resident memory of a process, in MB; 0 where the system does not say. The kernel answers at once:
 * to wait for a thread would take longer.
 * @see proc_pid_statm(5)
 */
function residentMb(pid: number | undefined): number {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
    return (pages * 4096) / 1024 / 1024;
  } catch {
    return 0;
  }
}
