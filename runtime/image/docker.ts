/**
 * The Docker of this machine, by its command line: no library, and whatever the operator has set up
 * (contexts, DOCKER_HOST, a Podman under its name) counts here too.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { ConnectorError } from "../contract/errors.ts";

/** The variables of this process's environment that the command needs. */
const environmentNames = [
  ...["PATH", "HOME", "XDG_RUNTIME_DIR", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG"],
  ...["DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_API_VERSION"],
];
/** Output of a command that only asks. */
const maxAnswerBytes = 4 * 1024 * 1024;

/**
 * Starts `docker` in a process group of its own: a signal at the terminal is this process's to
 * handle.
 */
export function spawnDocker(
  args: readonly string[],
  stdio: SpawnOptions["stdio"] = ["pipe", "pipe", "ignore"],
): ChildProcess {
  const known = environmentNames.map((name) => [name, process.env[name]] as const);
  const env = Object.fromEntries(known.filter(([, value]) => value !== undefined));
  return spawn("docker", args, { stdio, env, detached: true });
}

export interface DockerAnswer {
  readonly exitCode: number;
  readonly output: string;
}

/**
 * Runs a command to its end.
 * @throws SANDBOX_UNAVAILABLE when there is no such command, CANCELLED
 */
export async function askDocker(
  args: readonly string[],
  { input, signal }: { input?: Buffer | undefined; signal?: AbortSignal | undefined } = {},
): Promise<DockerAnswer> {
  if (signal?.aborted) throw new ConnectorError("CANCELLED");
  const child = spawnDocker(args);
  const stop = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", stop, { once: true });
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxAnswerBytes) chunks.push(chunk);
  });
  child.stdin?.on("error", () => undefined).end(input);
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once("error", () => reject(unavailable("the command docker is not installed")));
      child.once("close", (code) => resolve(code ?? 137));
    });
    if (signal?.aborted) throw new ConnectorError("CANCELLED");
    return { exitCode, output: Buffer.concat(chunks).toString("utf8") };
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

export const unavailable = (problem: string) =>
  new ConnectorError("SANDBOX_UNAVAILABLE", { level: "docker", problem });
