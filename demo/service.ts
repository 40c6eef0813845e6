import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { UsageError } from "svc-connectors/host";
import type { DemoWorkspace, ServiceMessage, ServiceOptions } from "./service-process.ts";
import type { Simulators } from "./simulators.ts";

/** As source or as built. */
const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
const program = new URL(`service-process.${ending}`, import.meta.url);

export interface DemoService extends AsyncDisposable {
  /** The same after a restart. */
  readonly url: string;
  readonly workspaces: readonly [DemoWorkspace, DemoWorkspace];
  /** kill -9. */
  kill(): void;
  /**
   * Starts the service again at the same address, once it is gone.
   * @throws Error when it does not start
   */
  restart(): Promise<void>;
}

export interface ServiceStart extends Pick<ServiceOptions, "folder" | "port" | "isLogging"> {
  readonly simulators: Simulators;
}

/** @throws UsageError when the port is taken, Error when it does not start for another reason */
export async function startService({ simulators, ...start }: ServiceStart): Promise<DemoService> {
  const options = { ...start, network: simulators.network, settings: simulators.settings };
  let { child, ready } = await startChild({ ...options, isNew: true }, simulators);
  const { url, workspaces } = ready;
  if (!workspaces) throw new Error("the service has made no workspaces");
  return {
    url,
    workspaces,
    kill: () => void child.kill("SIGKILL"),
    async restart() {
      await ended(child);
      ({ child, ready } = await startChild(
        { ...options, isNew: false, port: Number(new URL(url).port) },
        simulators,
      ));
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect();
      await ended(child);
    },
  };
}

type Ready = Extract<ServiceMessage, { readonly type: "ready" }>;

async function startChild(options: ServiceOptions, simulators: Simulators) {
  const child = fork(program, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const ready = new Promise<Ready>((resolve, reject) => {
    child.on("message", (message: ServiceMessage) => {
      if (message.type === "ready") resolve(message);
      else if (message.type !== "failed") simulators.see(message);
      else if (message.isPortTaken)
        reject(new UsageError(`port ${options.port} is taken: pass another --port`));
    });
    child.once("exit", () => reject(new Error("the service of the demo did not start")));
  });
  // Secrets are in no argument and no environment: others on this machine could read those.
  child.send(options);
  return { child, ready: await ready };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
