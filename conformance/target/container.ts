/**
 * A container image that speaks the Airbyte Protocol, in any language. Its only way out is the
 * kit's proxy. Needs Docker on this machine, because the proxy listens on the gateway address of
 * the target's network.
 */
import { findImage } from "svc-connectors/host";
import type { Ability, Target } from "../contract/target.ts";
import {
  type ContainerContext,
  type ContainerTargetOptions,
  removeContainer,
} from "./container-create.ts";
import {
  type Container,
  connectDocker,
  createPrivateNetwork,
  inspectImage,
  removeLeftovers,
} from "./container-docker.ts";
import { runFresh } from "./container-fresh.ts";
import { onInterruption } from "./container-interruption.ts";
import { createKeptContainers } from "./container-kept.ts";

/**
 * No backpressure: between a container and its reader lie more than a megabyte of buffers, which
 * small fixtures never fill. No clock: the container has the real one.
 */
const abilities: readonly Ability[] = ["environment", "cancel", "faults", "artefacts"];

/** As many as the smallest machines have cores. */
const runsAtOnce = 2;

/** @throws UnusableError when the package, Docker or the image is missing */
export async function createContainerTarget(options: ContainerTargetOptions): Promise<Target> {
  const { image, hosts = [], isKept = false } = options;
  const docker = await connectDocker(image);
  const { Config: config } = await inspectImage(docker, image);
  await removeLeftovers(docker);
  const network = await createPrivateNetwork(docker);
  const running = new Set<Container>();
  const context: ContainerContext = { docker, network, options, running };
  const kept = createKeptContainers(context, config);
  let runCount = 0;
  const clear = async () => {
    await Promise.all([...running].map((container) => removeContainer(context, container)));
    await kept[Symbol.asyncDispose]();
    await network.remove();
  };
  const release = onInterruption(clear);
  return {
    kind: "container",
    name: image,
    abilities: new Set(abilities),
    sources: [],
    // Names can lead to port 443 of one run.
    runsAtOnce: hosts.length > 0 ? 1 : runsAtOnce,
    proxy: { host: network.gateway, isTransparent: hosts.length > 0 },
    codeDigest: async () => (await findImage(image)).digest,
    manifest: async () => undefined,
    async run(command, world) {
      if (world.signal.aborted) return { exitCode: 143 };
      const isFirst = runCount++ === 0;
      // The first run shows what production does; only the first process of a container is told
      // that it shall end.
      const isFresh = !isKept || isFirst || world.mayBeCancelled === true;
      const ending = isFresh ? undefined : await kept.run(command, world);
      return ending ?? (await runFresh(context, command, world));
    },
    async [Symbol.asyncDispose]() {
      release();
      await clear();
    },
  };
}
