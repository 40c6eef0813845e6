/** The command `svc` as a process of its own, from the sources. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { commandsOf, type Ran, runCommand } from "./command.ts";

const script = fileURLToPath(new URL("../svc.ts", import.meta.url));
/** The cache makes it start in half the time. */
const { PATH = "", NODE_COMPILE_CACHE } = process.env;
const tokenPattern = /svc_at_[0-9A-Za-z]+/;

export interface SvcOptions {
  /** Working folder; the instance lives in its `.svc`. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(args: readonly string[], { cwd, env = {} }: SvcOptions) {
  const child = spawn(process.execPath, ["--conditions=svc-source", script, ...args], {
    cwd,
    env: { PATH, HOME: cwd, NODE_COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const texts = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    texts.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    texts.stderr += text;
  });
  const ended = once(child, "close").then(
    ([code]): Finished => ({ code: code as number | null, ...texts }),
  );
  return { child, texts, ended };
}

/**
 * Runs a command of an instance in this process: the same code, which asks the server beside it or
 * opens the database itself, without the work of starting it.
 */
export async function administer(cwd: string, ...args: readonly string[]): Promise<Ran> {
  const commands = commandsOf(await import("svc-connectors/control"));
  return await runCommand(args, { cwd, commands });
}

/** Runs a command to its end, as a process. */
export const svc = (options: SvcOptions, ...args: readonly string[]): Promise<Finished> =>
  start(args, options).ended;

export interface Served extends AsyncDisposable {
  /** Of the base path. */
  readonly url: string;
  readonly child: ChildProcess;
  readonly texts: { readonly stdout: string; readonly stderr: string };
  /** The token that the first start prints. */
  readonly token: string | undefined;
  call(
    method: string,
    path: string,
    options?: CallOptions,
  ): Promise<{ status: number; body: Body }>;
  /** Sends the signal and waits for the end. */
  end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<Finished>;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly body?: object;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
type Body = any;

/** `svc serve` on a free port. @throws Error with what it printed, when it ends instead */
export async function startServe(options: SvcOptions, ...args: readonly string[]): Promise<Served> {
  const { child, texts, ended } = start(["serve", "--port", "0", ...args], options);
  const listening = async () => {
    // The log says so last, when everything else was printed.
    while (!texts.stderr.includes('"listening"')) await once(child.stderr, "data");
  };
  const early = await Promise.race([listening(), ended]);
  if (early) throw new Error(`svc serve ended with ${early.code}: ${early.stderr}`);
  const url = /https?:\/\/\S+\/control\/v1/.exec(texts.stdout)?.[0] ?? "";
  const token = tokenPattern.exec(texts.stdout)?.[0];
  return {
    url,
    child,
    texts,
    token,
    async call(method, path, { token: other = token, body } = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${other}`,
          ...(body ? { "content-type": "application/json" } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, body: await response.json() };
    },
    end(signal) {
      child.kill(signal);
      return ended;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
      await ended;
    },
  };
}
