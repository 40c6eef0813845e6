/**
 * Further processes that try rules: what is watched of a connector in the kit's own process (its
 * output, environment, network, accidents) belongs to the process, so that each bears one run at a
 * time.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Lane } from "../certify/certify.ts";
import type { KitOptions } from "../contract/kit.ts";
import type { KitProcessAnswer, KitProcessCommand } from "./kit-process.ts";

/** When it ends while it tries a rule, that one fails, and the next one has a new process. */
export interface KitProcess extends Lane, AsyncDisposable {}

const isSource = import.meta.url.endsWith(".ts");
const script = fileURLToPath(new URL(`./kit-process.${isSource ? "ts" : "js"}`, import.meta.url));
const flags = isSource ? ["--no-warnings", "--conditions=svc-source"] : [];

/** Starts with its first rule. */
export function createKitProcess({
  signal,
  onStart,
  onFinished,
  ...options
}: KitOptions): KitProcess {
  let child: ChildProcess | undefined;
  /** Of processes that have ended, and of the one that is there. */
  let [earlierRuns, runs] = [0, 0];
  const start = (): ChildProcess => {
    // The report goes to standard output: nothing that a connector prints past its run.
    const started = fork(script, [], { execArgv: flags, stdio: ["ignore", 2, 2, "ipc"] });
    started.send({ options } satisfies KitProcessCommand);
    started.once("exit", () => {
      child = undefined;
      earlierRuns += runs;
      runs = 0;
    });
    return started;
  };
  const end = async () => {
    if (!child) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  };
  signal?.addEventListener("abort", () => void end(), { once: true });
  return {
    get runCount() {
      return earlierRuns + runs;
    },
    async tryRule(id) {
      child ??= start();
      const stopped = new AbortController();
      const ended = once(child, "exit", { signal: stopped.signal }).then(([code, name]) => {
        throw new Error(`the process that tried it ended (${name ?? `exit code ${code}`})`);
      });
      ended.catch(() => undefined);
      const answer = once(child, "message", { signal: stopped.signal });
      answer.catch(() => undefined);
      child.send({ rule: id } satisfies KitProcessCommand);
      try {
        const [given] = (await Promise.race([answer, ended])) as [KitProcessAnswer];
        if ("failure" in given) throw new Error(given.failure);
        runs = given.runCount;
        return given.report;
      } finally {
        stopped.abort();
      }
    },
    [Symbol.asyncDispose]: end,
  };
}
