/**
 * The gate of a run: a container of our own program, without a network, from whose loopback one
 * socket leads to the proxy. The image's container joins its network and its processes, so that it
 * reaches nothing else, and ends with it whatever becomes of this process.
 * @see docs/decisions/0057
 */
import { randomUUID } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConnectorError } from "../contract/errors.ts";
import { askDocker, spawnDocker, unavailable } from "./docker.ts";

export interface Gate extends AsyncDisposable {
  /** The container's name. */
  readonly name: string;
}

/** Where the image finds its proxy. */
export const proxyUrl = "http://127.0.0.1:3128";
/** The proxy's socket, in the gate's folder. */
export const socketName = "proxy.sock";

/** Made of nothing: the gate brings its program, and the libraries of this machine. */
const emptyImage = "svc-image-gate:1";
const emptyArchive = Buffer.alloc(1024);
const libraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64"];
/** None of this machine's; the image runs as another one. */
const user = "65533:65533";
/** A loaded machine takes its time to start a container. */
const maxStartMs = 60_000;

/** It ends with its standard input, which is this process's. */
const program = `
const net = require("node:net");
const server = net.createServer((client) => {
  const proxy = net.connect("/gate/${socketName}");
  client.on("error", () => proxy.destroy()).on("close", () => proxy.destroy());
  proxy.on("error", () => client.destroy()).on("close", () => client.destroy());
  client.pipe(proxy).pipe(client);
});
server.maxConnections = 64;
server.listen(3128, "127.0.0.1", () => process.stdout.write("ready\\n"));
const end = () => process.exit();
process.stdin.on("end", end).on("error", end).resume();
`;

/** The restrictions of every container of a run. */
export const walls: readonly string[] = [
  ...["--rm", "--pull", "never", "--log-driver", "none", "--read-only"],
  ...["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--no-healthcheck"],
];

/**
 * @param folder holds the socket of the proxy
 * @throws SANDBOX_UNAVAILABLE when it cannot be started, CANCELLED
 */
export async function openGate(folder: string, signal?: AbortSignal): Promise<Gate> {
  if (process.platform !== "linux")
    throw unavailable("images run on Linux only, beside a Docker of the same machine");
  await requireEmptyImage(signal);
  await writeFile(join(folder, "gate.cjs"), program);
  const name = `svc-image-${randomUUID()}`;
  const child = spawnDocker([
    ...["run", "--interactive", "--name", name, ...walls, "--network", "none", "--user", user],
    ...["--memory", "256m", "--memory-swap", "256m", "--pids-limit", "32", "--cpus", "1"],
    ...libraries.filter((path) => existsSync(path)).flatMap((path) => ["-v", `${path}:${path}:ro`]),
    ...["-v", `${realpathSync(process.execPath)}:/node:ro`, "-v", `${folder}:/gate:ro`],
    ...["--entrypoint", "/node", emptyImage, "/gate/gate.cjs"],
  ]);
  child.stdin?.on("error", () => undefined);
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("close", () => resolve());
  });
  const close = async () => {
    child.stdin?.end();
    await askDocker(["rm", "--force", "--volumes", name]).catch(() => undefined);
    await ended;
  };
  const ready = new Promise<boolean>((resolve) => {
    child.stdout?.once("data", () => resolve(true));
    ended.then(() => resolve(false));
    setTimeout(() => resolve(false), maxStartMs).unref();
    signal?.addEventListener("abort", () => resolve(false), { once: true });
  });
  if (await ready) return { name, [Symbol.asyncDispose]: close };
  await close();
  throw signal?.aborted
    ? new ConnectorError("CANCELLED")
    : unavailable("the gate to the network did not start: Docker has to run on this machine");
}

async function requireEmptyImage(signal?: AbortSignal): Promise<void> {
  const { exitCode } = await askDocker(["image", "inspect", emptyImage], { signal });
  if (exitCode === 0) return;
  const made = await askDocker(["import", "-", emptyImage], { input: emptyArchive, signal });
  if (made.exitCode !== 0) throw unavailable("Docker does not take an image of ours");
}
