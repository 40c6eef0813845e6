/** Servers as processes of their own, to be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ServerProcess extends AsyncDisposable {
  readonly port: number;
  /** The administrator's token, when the server was to make one. */
  readonly token: string | undefined;
  /** kill -9. */
  kill(): Promise<void>;
}

export async function startServerProcess(options: object): Promise<ServerProcess> {
  const child = startProgram("control-server.ts", options);
  const { port, token } = JSON.parse(await firstLine(child)) as { port: number; token?: string };
  const kill = () => killed(child);
  return { port, token, kill, [Symbol.asyncDispose]: kill };
}

/** A program of this folder with its options as JSON. */
export function startProgram(file: string, options: object): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  return spawn(process.execPath, ["--conditions=svc-source", path, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/** @throws Error when it ends before it says anything */
export async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("no standard output");
  for await (const line of createInterface(child.stdout)) return line;
  throw new Error(`the program ended with ${child.exitCode}`);
}

/** kill -9, and its end. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
