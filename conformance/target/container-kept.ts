/**
 * Containers that are kept for many runs: to start one takes longer than most runs do. In a kept
 * one nothing runs but `sleep`, and each run is a process of its own beside it, with the image's
 * entry point, user and folder, and with files and an environment of its own. A container in which
 * a run has written a byte or left a process behind serves no further one: no run meets what
 * another one left. What is not looked at: empty files, and files of the image that are removed.
 */
import type { Command } from "../contract/observation.ts";
import type { Ending, World } from "../contract/target.ts";
import { type Artefact, readFiles } from "./container-artefacts.ts";
import { type CommandFolder, createCommandFolder, mountPoint } from "./container-command.ts";
import {
  type ContainerContext,
  createContainer,
  environmentOf,
  proxyOf,
  removeContainer,
} from "./container-create.ts";
import type { Container } from "./container-docker.ts";
import { createTail, isLastWord, isMessage, readOutput } from "./container-output.ts";

/** As long as a `sleep` of any maker takes: 68 years. */
const idle = { Entrypoint: ["sleep"], Cmd: ["2147483647"] };
/** Every process but the first one of the container, and the one that says it. */
const endAll = ["sh", "-c", "kill -KILL -1"];

/** Docker Engine API, "Inspect a container"; missing in the types of the client. */
const withSize: object = { size: true };

/** The settings of an image that matter to who keeps its container. */
interface ImageConfig {
  readonly Entrypoint?: string | readonly string[] | undefined;
  readonly Volumes?: unknown;
}

export interface KeptContainers extends AsyncDisposable {
  /** Undefined where the image does not allow it, and nothing was run. */
  run(command: Command, world: World): Promise<Ending | undefined>;
}

interface Kept {
  readonly container: Container;
  readonly folder: CommandFolder;
  /** Bytes that were written before any run. */
  readonly size: number;
}

/** Keeps as many containers as there are runs at a time. */
export function createKeptContainers(
  context: ContainerContext,
  { Entrypoint = [], Volumes }: ImageConfig,
): KeptContainers {
  const free: Kept[] = [];
  const entrypoint = typeof Entrypoint === "string" ? [Entrypoint] : [...(Entrypoint ?? [])];
  // Writes to a volume are not seen in the container's own layer.
  let isPossible = Object.keys(Volumes ?? {}).length === 0;
  const remove = async ({ container, folder }: Pick<Kept, "container" | "folder">) => {
    await removeContainer(context, container);
    await folder[Symbol.asyncDispose]();
  };
  const open = async (): Promise<Kept | undefined> => {
    const folder = await createCommandFolder();
    const container = await createContainer(context, folder.path, {
      ...idle,
      Healthcheck: { Test: ["NONE"] },
    });
    const isRunning = await container.start().then(
      () => isIdle(container),
      () => false,
    );
    if (isRunning) return { container, folder, size: await sizeOf(container) };
    isPossible = false;
    await remove({ container, folder });
    return undefined;
  };
  return {
    async run(command, world) {
      if (!isPossible) return undefined;
      const kept = free.pop() ?? (await open());
      if (!kept) return undefined;
      let isClean = false;
      try {
        const { ending, isWhole } = await runInside(kept, entrypoint, command, world);
        isClean = isWhole && (await isAsBefore(kept));
        return isClean || !isWhole
          ? ending
          : { ...ending, artefacts: [...(ending.artefacts ?? []), ...(await filesOf(kept))] };
      } finally {
        if (isClean) free.push(kept);
        else await remove(kept);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(free.splice(0).map(remove));
    },
  };
}

/** @returns isWhole: false when the container went away under it */
async function runInside(
  { container, folder }: Kept,
  entrypoint: readonly string[],
  command: Command,
  world: World,
): Promise<{ readonly ending: Ending; readonly isWhole: boolean }> {
  const { signal, write } = world;
  const args = await folder.fill(command, proxyOf(world).ca);
  const exec = await container.exec({
    Cmd: [...entrypoint, ...args],
    Env: environmentOf(world),
    AttachStdout: true,
    AttachStderr: true,
  });
  const errors = createTail();
  // The log that Docker would have kept of a container of its own.
  const log = createTail();
  let hasSpoken = false;
  let isGone = false;
  let isWhole = true;
  const end = () => {
    isWhole = false;
    void container.kill({ signal: "SIGKILL" }).catch(() => undefined);
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    const output = await exec.start({ hijack: false, stdin: false });
    const line = async (text: string) => {
      if (isGone) return;
      hasSpoken ||= isLastWord(text);
      if (!isMessage(text)) log.add(`${text}\n`);
      await write(text).catch(async () => {
        isGone = true;
        if (!(await endProcesses(container))) end();
      });
    };
    const error = (text: string) => {
      errors.add(text);
      log.add(text);
    };
    await readOutput(output, { line, error });
    const inspected = await exec.inspect();
    const exitCode = inspected.ExitCode ?? 137;
    return {
      isWhole,
      ending: {
        exitCode,
        errorOutput: errors.text(),
        isHung: signal.aborted,
        isCrashed: exitCode !== 0 && !hasSpoken && !isGone && !signal.aborted,
        artefacts: isGone
          ? []
          : [
              { name: "container log", text: log.text() },
              { name: "docker inspect", text: JSON.stringify(inspected, null, 2) },
            ],
      },
    };
  } catch (error) {
    if (isWhole) throw error;
    return { isWhole, ending: { exitCode: 137, errorOutput: errors.text(), isHung: true } };
  } finally {
    signal.removeEventListener("abort", end);
  }
}

/** False where the image has no shell to say it with. */
async function endProcesses(container: Container): Promise<boolean> {
  try {
    const exec = await container.exec({ Cmd: [...endAll], AttachStdout: true, AttachStderr: true });
    const output = await exec.start({ hijack: false, stdin: false });
    await readOutput(output, { line: async () => undefined, error: () => undefined });
    const { ExitCode } = await exec.inspect();
    // 1: there was none left to end. Docker's codes of what cannot be run are above 125.
    return (ExitCode ?? 126) < 126;
  } catch {
    return false;
  }
}

async function isAsBefore({ container, size }: Kept): Promise<boolean> {
  try {
    return (await isIdle(container)) && (await sizeOf(container)) === size;
  } catch {
    return false;
  }
}

/** True when nothing runs but `sleep`. */
async function isIdle(container: Container): Promise<boolean> {
  const { Processes } = await container.top();
  return Processes?.length === 1;
}

/** Bytes in the container's own layer; Docker counts them on request. */
async function sizeOf(container: Container): Promise<number> {
  const inspected: unknown = await container.inspect(withSize);
  return (inspected as { readonly SizeRw?: number }).SizeRw ?? 0;
}

async function filesOf({ container }: Kept): Promise<readonly Artefact[]> {
  return await readFiles(container, mountPoint).catch(() => []);
}
