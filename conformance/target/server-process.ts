/** Starts and stops servers of databases on loopback: the parts that all kinds share. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";

/**
 * Whom a server runs as that refuses to be root: its own account, or nobody's. Undefined: as
 * whoever starts it.
 */
export function serverAccount(name: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const account =
    accounts.find(([one]) => one === name) ?? accounts.find(([one]) => one === "nobody");
  if (!account)
    throw new Error(`The server does not run as root, and there is no account ${name} or nobody.`);
  return { uid: Number(account[2]), gid: Number(account[3]) };
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/** Resolves when the server's log says so. */
export function untilLogged(log: NodeJS.ReadableStream, words: string): Promise<void> {
  return new Promise((resolve) => {
    let text = "";
    let isLogged = false;
    log.on("data", (chunk: Buffer) => {
      if (isLogged) return;
      text = text.slice(-200) + chunk;
      isLogged = text.includes(words);
      if (isLogged) resolve();
    });
  });
}
