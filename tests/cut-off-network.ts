/**
 * Hosts of a test: network namespaces on one bridge, which can be cut off. Linux, root and `ip`
 * only.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Why there can be no namespaces here; undefined: there can. */
export function whyNoNamespaces(): string | undefined {
  if (process.platform !== "linux") return "network namespaces are Linux's";
  if (process.getuid?.() !== 0) return "network namespaces need root";
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  if (!folders.some((folder) => existsSync(join(folder, "ip")))) return "there is no ip command";
  try {
    ip("netns", "add", `svc-try-${process.pid}`);
    ip("netns", "delete", `svc-try-${process.pid}`);
    return undefined;
  } catch {
    return "network namespaces cannot be made";
  }
}

export interface Network extends Disposable {
  /** Of this side, which all hosts reach. */
  readonly address: string;
  /** CIDR. */
  readonly range: string;
  /** The words before a command that runs on the host. */
  on(host: number): readonly string[];
  setLink(host: number, state: "up" | "down"): void;
}

/** A bridge and so many hosts on it. They are gone when it is disposed of. */
export function createNetwork(hostCount: number): Network {
  const id = process.pid % 60_000;
  const subnet = `10.${100 + (id % 100)}.${Math.floor(id / 100) % 250}`;
  const bridge = `svc${id}b`;
  const hosts = Array.from({ length: hostCount }, (_, index) => ({
    name: `svc-${id}-${index}`,
    outside: `svc${id}h${index}`,
    address: `${subnet}.${index + 2}/24`,
  }));
  const at = (host: number) => {
    const found = hosts[host];
    if (!found) throw new Error("no such host");
    return found;
  };
  const remove = () => {
    for (const { name } of hosts) quietly("netns", "delete", name);
    quietly("link", "delete", bridge);
  };
  process.once("exit", remove);
  try {
    ip("link", "add", bridge, "type", "bridge");
    ip("addr", "add", `${subnet}.1/24`, "dev", bridge);
    ip("link", "set", bridge, "up");
    for (const { name, outside, address } of hosts) {
      ip("netns", "add", name);
      ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", name);
      ip("link", "set", outside, "master", bridge, "up");
      ip("-n", name, "addr", "add", address, "dev", "eth0");
      ip("-n", name, "link", "set", "lo", "up");
      ip("-n", name, "link", "set", "eth0", "up");
    }
  } catch (error) {
    remove();
    throw error;
  }
  return {
    address: `${subnet}.1`,
    range: `${subnet}.0/24`,
    on: (host) => ["ip", "netns", "exec", at(host).name],
    // The host itself notices nothing: its packets are lost on the way.
    setLink: (host, state) => ip("link", "set", at(host).outside, state),
    [Symbol.dispose]() {
      process.off("exit", remove);
      remove();
    },
  };
}

const env = {
  ...process.env,
  PATH: `${process.env.PATH ?? ""}${delimiter}/usr/sbin${delimiter}/sbin`,
};

function ip(...args: readonly string[]): void {
  execFileSync("ip", args, { stdio: "ignore", env });
}

function quietly(...args: readonly string[]): void {
  try {
    ip(...args);
  } catch {
    // It is gone, or was never there.
  }
}
