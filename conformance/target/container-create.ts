/** Creates a container of the kit, for one run or for many: what it is given and denied. */
import { proxyEnvironment } from "svc-connectors/host";
import type { World } from "../contract/target.ts";
import { caPath, mountPoint } from "./container-command.ts";
import { type Container, type Docker, ownLabels, type PrivateNetwork } from "./container-docker.ts";

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
  /**
   * A container serves many runs while they leave nothing behind, where the image allows it.
   * Default false: each run has one of its own.
   */
  readonly isKept?: boolean | undefined;
}

/** The context that all containers of a target share. */
export interface ContainerContext {
  readonly docker: Docker;
  readonly network: PrivateNetwork;
  readonly options: ContainerTargetOptions;
  /** Those that have to be removed when the target is closed in the middle of a run. */
  readonly running: Set<Container>;
}

const defaultMemoryBytes = 2 ** 30;
/** The log that Docker keeps of a container's output, read as a whole when it has ended. */
const keptLog = { Type: "json-file", Config: { "max-size": "32m", "max-file": "1" } };

type CreateOptions = NonNullable<Parameters<Docker["createContainer"]>[0]>;

/** @param folder of this machine with the files of the commands */
export async function createContainer(
  { docker, network, options, running }: ContainerContext,
  folder: string,
  own: Pick<CreateOptions, "Cmd" | "Entrypoint" | "Env" | "Healthcheck">,
): Promise<Container> {
  const { image, hosts = [], files = {}, memoryBytes = defaultMemoryBytes } = options;
  const container = await docker.createContainer({
    Image: image,
    ...own,
    Labels: { ...ownLabels },
    HostConfig: {
      NetworkMode: network.name,
      Binds: [
        `${folder}:${mountPoint}:ro`,
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
  return container;
}

export async function removeContainer(
  { running }: Pick<ContainerContext, "running">,
  container: Container,
): Promise<void> {
  await container.remove({ force: true, v: true }).catch(() => undefined);
  running.delete(container);
}

/** @throws Error when the run has no proxy, which is the kit's own fault */
export function proxyOf({ network: { proxy } }: World): {
  readonly url: string;
  readonly ca: string;
} {
  if (!proxy) throw new Error("a container needs the proxy of the fault server");
  return proxy;
}

export const environmentOf = (world: World): string[] =>
  Object.entries({ ...proxyEnvironment(proxyOf(world).url, caPath), ...world.environment }).map(
    ([name, value]) => `${name}=${value}`,
  );
