/** Runs scripts in processes of their own, and kills them (SIGKILL) at a chosen moment. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ChildCommand, ChildReport } from "./child.ts";
import type { KillMoment, ProcessRun } from "./contract.ts";

export interface ProcessOptions {
  readonly kill?: KillMoment | undefined;
  /** Files that it writes cannot grow beyond this: writing fails as on a full disk. */
  readonly maxFileBytes?: number | undefined;
}

export interface Processes extends AsyncDisposable {
  /**
   * `queryCount`: statements that have arrived at the server so far. `onChild` gets a function that
   * kills it.
   */
  run(
    command: ChildCommand,
    options: ProcessOptions,
    queryCount: () => number,
    onChild: (kill: () => void) => void,
  ): Promise<ProcessRun>;
}

const isSource = import.meta.url.endsWith(".ts");
const child = fileURLToPath(new URL(`./child.${isSource ? "ts" : "js"}`, import.meta.url));
const flags = isSource
  ? ["--expose-gc", "--no-warnings", "--conditions=svc-source"]
  : ["--expose-gc"];
/** A process that says nothing for so long is taken for hung; ms of real time. */
const silenceMs = 120_000;

/**
 * The next process is started while this one is looked at: it takes longer to start than to run.
 */
export function createProcesses(): Processes {
  const all = new Set<ChildProcess>();
  let next: Started | undefined;
  const start = (maxFileBytes?: number): Started => {
    // The limit is one of the shell's, which counts in blocks of 512 bytes (POSIX, ulimit).
    const limited = {
      execPath: "/bin/sh",
      execArgv: [
        "-c",
        `ulimit -f ${Math.ceil((maxFileBytes ?? 0) / 512)}; exec "$0" "$@"`,
        process.execPath,
        ...flags,
      ],
    };
    const started = fork(child, [], {
      ...(maxFileBytes === undefined ? { execArgv: flags } : limited),
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    all.add(started);
    started.once("exit", () => all.delete(started));
    return { child: started, ready: once(started, "message") };
  };
  return {
    async run(command, options, queryCount, onChild) {
      const mine =
        options.maxFileBytes === undefined ? (next ?? start()) : start(options.maxFileBytes);
      if (options.maxFileBytes === undefined) next = undefined;
      const exited = once(mine.child, "exit");
      await Promise.race([mine.ready, exited]);
      const run = follow(mine.child, exited, options, queryCount, onChild);
      mine.child.send(command);
      const result = await run;
      next ??= start();
      next.ready.catch(() => undefined);
      return result;
    },
    async [Symbol.asyncDispose]() {
      const ending = [...all].map(async (one) => {
        const exited = once(one, "exit");
        one.kill("SIGKILL");
        await exited;
      });
      await Promise.all(ending);
    },
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
}

async function follow(
  process: ChildProcess,
  exited: Promise<unknown>,
  { kill }: ProcessOptions,
  queryCount: () => number,
  onChild: (kill: () => void) => void,
): Promise<ProcessRun> {
  let isKilled = false;
  const end = () => {
    isKilled = true;
    process.kill("SIGKILL");
  };
  onChild(end);
  const run = {
    commits: [] as ProcessRun["commits"][number][],
    stepMs: [] as number[],
    queriesAt: [] as number[],
    openMs: 0,
    keptBytes: 0,
  };
  let error: ProcessRun["error"];
  let timer: NodeJS.Timeout | undefined;
  const hung = setTimeout(end, silenceMs);
  process.on("message", (report: ChildReport) => {
    hung.refresh();
    if (report.type === "committed") run.commits.push(report.commit);
    else if (report.type === "failed") error = report.error;
    else if (report.type === "ended") run.keptBytes = report.keptBytes;
    else if (report.type === "begun" && kill?.at === "step" && report.step === kill.index)
      timer = setTimeout(end, kill.afterMs);
    else if (report.type === "done") {
      if (report.step === -1) run.openMs = report.tookMs;
      else run.stepMs.push(report.tookMs);
      run.queriesAt.push(queryCount());
    }
  });
  await exited;
  clearTimeout(timer);
  clearTimeout(hung);
  return { ...run, isKilled, queryCount: queryCount(), error };
}
