/**
 * The Docker that containers run on, and what a target keeps there: an image that must exist, and a
 * network of its own.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { isRunning } from "svc-connectors/host";
import type { ContainerRuntimeClient } from "testcontainers";
import { UnusableError } from "../contract/unusable.ts";

export type Docker = ContainerRuntimeClient["container"]["dockerode"];
export type Container = ReturnType<Docker["getContainer"]>;

export interface PrivateNetwork {
  readonly name: string;
  /** This machine's address in it: the only one that a container can reach. */
  readonly gateway: string;
  remove(): Promise<void>;
}

/**
 * Says to whom a container or network belongs, so that what a killed kit left behind can be told
 * from what is in use.
 */
const ownerLabel = "svc-conformance.owner";
/** Any image may carry this label, with any text in it. A host name has 253 characters at most. */
const maxLabelChars = 300;
export const ownLabels: Readonly<Record<string, string>> = {
  [ownerLabel]: `${hostname()}/${process.pid}`,
};

/** @throws UnusableError when the package or Docker is missing. `image` is for the message. */
export async function connectDocker(image: string): Promise<Docker> {
  const library = await import("testcontainers").catch(() => {
    throw new UnusableError(
      `image:${image} needs the package testcontainers: npm install --save-dev testcontainers`,
    );
  });
  const client = await library.getContainerRuntimeClient().catch(() => undefined);
  if (!client)
    throw new UnusableError(
      `image:${image} runs in a container, and Docker is not reachable: start it, or set DOCKER_HOST.`,
    );
  return client.container.dockerode;
}

/** The image's settings; pulls it when it is not here. @throws UnusableError */
export async function inspectImage(docker: Docker, image: string) {
  const inspect = () => docker.getImage(image).inspect();
  return await inspect().catch(async () => {
    try {
      const progress = await docker.pull(image);
      await new Promise<void>((resolve, reject) => {
        docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
      });
      return await inspect();
    } catch {
      throw new UnusableError(
        `The image ${image} is not on this machine and cannot be pulled: build it, or check its name.`,
      );
    }
  });
}

/**
 * A bridge without a way out: its containers have no default route and reach nothing but this
 * machine's address in it.
 */
export async function createPrivateNetwork(docker: Docker): Promise<PrivateNetwork> {
  const name = `svc-conformance-${randomUUID()}`;
  const network = await docker.createNetwork({
    Name: name,
    Driver: "bridge",
    Internal: true,
    Labels: { ...ownLabels },
  });
  const remove = async () => {
    await network.remove({ force: true }).catch(() => undefined);
  };
  const { IPAM } = await network.inspect();
  const gateway: unknown = IPAM?.Config?.[0]?.Gateway;
  if (typeof gateway === "string") return { name, gateway: gateway.replace(/\/\d+$/, ""), remove };
  await remove();
  throw new UnusableError(
    "Docker made a network without a gateway, so that no container could reach the kit.",
  );
}

/** Removes containers and networks whose kit is gone: it was killed before it could. */
export async function removeLeftovers(docker: Docker): Promise<void> {
  const filters = { label: [ownerLabel] };
  const containers = await docker.listContainers({ all: true, filters });
  for (const { Id, Labels } of containers) {
    if (isOrphan(Labels))
      await docker
        .getContainer(Id)
        .remove({ force: true, v: true })
        .catch(() => undefined);
  }
  for (const { Id, Labels } of await docker.listNetworks({ filters })) {
    if (isOrphan(Labels ?? {}))
      await docker
        .getNetwork(Id)
        .remove()
        .catch(() => undefined);
  }
}

function isOrphan(labels: Readonly<Record<string, string>>): boolean {
  const [machine, pid] = (labels[ownerLabel] ?? "").slice(0, maxLabelChars).split("/");
  return machine === hostname() && !isRunning(Number(pid));
}
