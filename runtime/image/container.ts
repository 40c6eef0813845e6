/** One run of an image's program, in a container behind its gate. */
import type { Readable } from "node:stream";
import { ConnectorError } from "../contract/errors.ts";
import { askDocker, spawnDocker } from "./docker.ts";
import { type Gate, proxyUrl, walls } from "./gate.ts";
import { mountOf, proxyEnvironment } from "./run-folder.ts";

export interface ContainerOptions {
  readonly image: string;
  /** Undefined: the image's own. */
  readonly user: string | undefined;
  /** Folder with the files that the arguments name. */
  readonly folder: string;
  readonly args: readonly string[];
  readonly memoryMb: number;
}

export interface Container {
  /** Standard output. */
  readonly output: Readable;
  /** The exit code; `error` when it could not be started, or was ended. */
  readonly ended: Promise<{ readonly exitCode: number; readonly error?: ConnectorError }>;
  /** Ends it at once. The first reason counts. */
  kill(reason: ConnectorError): void;
}

/** Nobody of this machine: images that name no user run as this one. */
export const nobody = "65534:65534";

/** Where images may write: in memory, which counts as theirs. */
const writable = ["/tmp", "/var/tmp", "/run"];
const tmpfs = "rw,nosuid,nodev,noexec,size=512m,mode=1777";

/** Exit codes of `docker run`: the daemon refused, or the program cannot be started. */
const refusedCodes = new Set([125, 126, 127]);

export function startContainer(gate: Gate, options: ContainerOptions): Container {
  const { image, user, folder, args, memoryMb } = options;
  const name = `${gate.name}-run`;
  const environment = { ...proxyEnvironment(proxyUrl), HOME: "/tmp", TMPDIR: "/tmp" };
  const child = spawnDocker(
    [
      ...["run", "--name", name, ...walls],
      ...["--network", `container:${gate.name}`, "--pid", `container:${gate.name}`],
      ...writable.flatMap((path) => ["--tmpfs", `${path}:${tmpfs}`]),
      ...["--memory", `${memoryMb}m`, "--memory-swap", `${memoryMb}m`],
      ...["--pids-limit", "256", "--cpus", "2", "--ulimit", "core=0", "-v", mountOf(folder)],
      ...(user === undefined ? [] : ["--user", user]),
      ...Object.entries(environment).flatMap(([key, value]) => ["--env", `${key}=${value}`]),
      ...[image, ...args],
    ],
    ["ignore", "pipe", "ignore"],
  );
  let reason: ConnectorError | undefined;
  const kill = (why: ConnectorError) => {
    reason ??= why;
    child.stdout?.destroy();
    void askDocker(["rm", "--force", "--volumes", name]).catch(() => undefined);
  };
  const ended = new Promise<number>((resolve) => {
    child.once("error", () => resolve(125));
    child.once("close", (code) => resolve(code ?? 137));
  }).then((exitCode) => {
    const error = reason ?? errorOf(exitCode, memoryMb);
    return { exitCode, ...(error ? { error } : {}) };
  });
  return { output: child.stdout as Readable, ended, kill };
}

/** The kernel ends with SIGKILL what needs more memory than it may have. */
function errorOf(exitCode: number, memoryMb: number): ConnectorError | undefined {
  if (exitCode === 137) return new ConnectorError("CONNECTOR_OUT_OF_MEMORY", { limitMb: memoryMb });
  if (!refusedCodes.has(exitCode)) return undefined;
  return new ConnectorError("CONNECTOR_EXITED", { reason: "its program cannot be started" });
}
