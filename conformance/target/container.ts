/**
 * A container image that speaks the Airbyte Protocol, in any language. One container per run; its
 * only way out is the kit's proxy. Needs Docker on this machine, because the proxy listens on the
 * gateway address of the run's network.
 */
import { PassThrough, pipeline, type Readable } from "node:stream";
import type { Command } from "../contract/observation.ts";
import type { Ability, Ending, Target, World } from "../contract/target.ts";
import { readArtefacts } from "./container-artefacts.ts";
import { mountPoint, proxyEnvironment, writeCommandFiles } from "./container-command.ts";
import {
  type Container,
  connectDocker,
  createPrivateNetwork,
  type Docker,
  inspectImage,
  ownLabels,
  type PrivateNetwork,
  removeLeftovers,
} from "./container-docker.ts";
import { onInterruption } from "./container-interruption.ts";
import { createTail, readOutput } from "./container-output.ts";

export interface ContainerTargetOptions {
  readonly image: string;
  /**
   * Names that /etc/hosts leads to the kit on port 443, for images that use no proxy. Default none.
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * Files of this machine that the image needs besides the protocol's, by their path in the
   * container; mounted read-only.
   */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Default 1 GiB. */
  readonly memoryBytes?: number | undefined;
}

/**
 * No backpressure: between a container and its reader lie more than a megabyte of buffers, which
 * small fixtures never fill. No clock: the container has the real one.
 */
const abilities: readonly Ability[] = ["environment", "cancel", "faults", "artefacts"];

const defaultMemoryBytes = 2 ** 30;
/** What Docker keeps of a container's output, which is read as a whole when it has ended. */
const keptLog = { Type: "json-file", Config: { "max-size": "32m", "max-file": "1" } };
/** The default of `docker stop`: who is asked to end and has not after this long is killed. */
const graceMs = 10_000;

/** @throws UnusableError when the package, Docker or the image is missing */
export async function createContainerTarget(options: ContainerTargetOptions): Promise<Target> {
  const { image, hosts = [] } = options;
  const docker = await connectDocker(image);
  await inspectImage(docker, image);
  await removeLeftovers(docker);
  const network = await createPrivateNetwork(docker);
  const running = new Set<Container>();
  const clear = async () => {
    const containers = [...running];
    running.clear();
    await Promise.all(containers.map((container) => remove(container)));
    await network.remove();
  };
  const release = onInterruption(clear);
  return {
    kind: "container",
    name: image,
    abilities: new Set(abilities),
    sources: [],
    proxy: { host: network.gateway, isTransparent: hosts.length > 0 },
    manifest: async () => undefined,
    run: (command, world) => runContainer({ docker, network, options, running }, command, world),
    async [Symbol.asyncDispose]() {
      release();
      await clear();
    },
  };
}

interface ContainerContext {
  readonly docker: Docker;
  readonly network: PrivateNetwork;
  readonly options: ContainerTargetOptions;
  readonly running: Set<Container>;
}

async function runContainer(
  { docker, network, options, running }: ContainerContext,
  command: Command,
  world: World,
): Promise<Ending> {
  const { signal } = world;
  const { proxy } = world.network;
  if (!proxy) throw new Error("a container needs the proxy of the fault server");
  if (signal.aborted) return { exitCode: 143 };
  await using written = await writeCommandFiles(command, proxy.ca);
  const { hosts = [], files = {}, memoryBytes = defaultMemoryBytes } = options;
  const container = await docker.createContainer({
    Image: options.image,
    Cmd: [...written.args],
    Env: Object.entries({ ...proxyEnvironment(proxy.url), ...world.environment }).map(
      ([name, value]) => `${name}=${value}`,
    ),
    Labels: { ...ownLabels },
    HostConfig: {
      NetworkMode: network.name,
      Binds: [
        `${written.folder}:${mountPoint}:ro`,
        ...Object.entries(files).map(([inside, path]) => `${path}:${inside}:ro`),
      ],
      ExtraHosts: hosts.map((host) => `${host}:${network.gateway}`),
      // Nobody answers there: no look-up leaves the container, and none waits for long.
      Dns: ["127.0.0.1"],
      DnsOptions: ["timeout:1", "attempts:1"],
      Memory: memoryBytes,
      MemorySwap: memoryBytes,
      SecurityOpt: ["no-new-privileges"],
      LogConfig: keptLog,
    },
  });
  running.add(container);
  try {
    return await follow(container, world);
  } catch (error) {
    // It was cleared away, because the kit is interrupted.
    if (!running.has(container)) return { exitCode: 143 };
    throw error;
  } finally {
    await remove(container);
    running.delete(container);
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

/**
 * A program that ends with a code other than 0 has to say why: in a TRACE ERROR or a connection
 * status.
 */
const isLastWord = (line: string) =>
  /"type"\s*:\s*"CONNECTION_STATUS"/.test(line) ||
  (/"type"\s*:\s*"TRACE"/.test(line) && /"type"\s*:\s*"ERROR"/.test(line));

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

async function remove(container: Container): Promise<void> {
  await container.remove({ force: true, v: true }).catch(() => undefined);
}
