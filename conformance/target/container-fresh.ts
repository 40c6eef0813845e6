/** A run in a container of its own, as production starts it. */
import { PassThrough, pipeline, type Readable } from "node:stream";
import type { Command } from "../contract/observation.ts";
import type { Ending, World } from "../contract/target.ts";
import { readArtefacts } from "./container-artefacts.ts";
import { createCommandFolder, mountPoint } from "./container-command.ts";
import {
  type ContainerContext,
  createContainer,
  environmentOf,
  proxyOf,
  removeContainer,
} from "./container-create.ts";
import type { Container } from "./container-docker.ts";
import { createTail, isLastWord, readOutput } from "./container-output.ts";

/** The default of `docker stop`: who is asked to end and has not after this long is killed. */
const graceMs = 10_000;

export async function runFresh(
  context: ContainerContext,
  command: Command,
  world: World,
): Promise<Ending> {
  await using folder = await createCommandFolder();
  const args = await folder.fill(command, proxyOf(world).ca);
  const container = await createContainer(context, folder.path, {
    Cmd: [...args],
    Env: environmentOf(world),
  });
  try {
    return await follow(container, world);
  } catch (error) {
    // It was cleared away, because the kit is interrupted.
    if (!context.running.has(container)) return { exitCode: 143 };
    throw error;
  } finally {
    await removeContainer(context, container);
  }
}

/** Starts the container and stays until it has ended. */
async function follow(container: Container, world: World): Promise<Ending> {
  const { signal, write } = world;
  const attached = await container.attach({ stream: true, stdout: true, stderr: true });
  // The attached stream goes both ways, and only one of them ends.
  const output = pipeline(attached, new PassThrough(), () => undefined);
  const memory = await watchMemory(container);
  const errors = createTail();
  let hasSpoken = false;
  let isHung = false;
  let isGone = false;
  let timer: NodeJS.Timeout | undefined;

  // It may have ended.
  const kill = (name: string) => void container.kill({ signal: name }).catch(() => undefined);
  const cancel = () => {
    kill("SIGTERM");
    timer = setTimeout(() => {
      isHung = true;
      kill("SIGKILL");
    }, graceMs);
  };
  await container.start();
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    const line = async (text: string) => {
      if (isGone) return;
      hasSpoken ||= isLastWord(text);
      await write(text).catch(() => {
        isGone = true;
        kill("SIGKILL");
      });
    };
    await readOutput(output, { line, error: errors.add });
    const { StatusCode: exitCode } = (await container.wait()) as { StatusCode: number };
    const isCrashed = exitCode !== 0 && !hasSpoken && !signal.aborted && !isGone;
    const artefacts = isGone ? [] : await readArtefacts(container, mountPoint);
    const peakBytes = memory.peakBytes();
    return {
      exitCode,
      errorOutput: errors.text(),
      isHung,
      isCrashed,
      artefacts,
      peakBytes: peakBytes > 0 ? peakBytes : undefined,
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancel);
    memory.end();
  }
}

/** Docker samples once a second: short runs may have no sample. */
async function watchMemory(container: Container) {
  let peak = 0;
  const samples = (await container.stats({ stream: true })) as Readable;
  samples.on("data", (chunk: Buffer) => {
    for (const [, bytes] of chunk.toString("latin1").matchAll(/"(?:max_)?usage":(\d+)/g))
      peak = Math.max(peak, Number(bytes));
  });
  samples.on("error", () => undefined);
  return { peakBytes: () => peak, end: () => void samples.destroy() };
}
