/**
 * A real OpenSSH server on loopback for tests: one process for each connection, keys of its own,
 * and nobody but the user of this process.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Debian's package openssh-server. */
const program = "/usr/sbin/sshd";
/** Where the server goes before anybody has logged in; only root's needs it. */
const emptyFolder = "/run/sshd";

export const hasSshServer = (): boolean => existsSync(program);

export interface SshServer extends AsyncDisposable {
  /** 127.0.0.1 */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly privateKey: string;
  /** As a line of known_hosts has it, without the name. */
  readonly hostKey: string;
  /** `SHA256:…`, as ssh-keygen prints it. */
  readonly fingerprint: string;
  /** Connections that are open. */
  readonly connectionCount: number;
  /** Ends all connections. */
  cutOff(): void;
}

export interface SshServerOptions {
  /** Where it forwards to, `host:port`; default everywhere. */
  readonly permitOpen?: string;
}

export async function startSshServer({
  permitOpen = "any",
}: SshServerOptions = {}): Promise<SshServer> {
  const folder = await mkdtemp(join(tmpdir(), "svc-sshd-"));
  const inFolder = (name: string) => join(folder, name);
  for (const name of ["host", "user"])
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", inFolder(name)]);
  await writeFile(
    inFolder("config"),
    `HostKey ${inFolder("host")}
AuthorizedKeysFile ${inFolder("user.pub")}
PermitOpen ${permitOpen}
PermitRootLogin yes
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PidFile none
LogLevel ERROR
`,
  );
  if (process.getuid?.() === 0) mkdirSync(emptyFolder, { recursive: true });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    const child = spawn(program, ["-i", "-f", inFolder("config")], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    for (const stream of [socket, child.stdin, child.stdout]) stream.on("error", () => {});
    socket.pipe(child.stdin);
    child.stdout.pipe(socket);
    child.once("close", () => socket.destroy());
    socket.once("close", () => {
      sockets.delete(socket);
      child.kill();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { stdout } = await run("ssh-keygen", ["-lf", inFolder("host.pub")]);
  const cutOff = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    user: userInfo().username,
    privateKey: await readFile(inFolder("user"), "utf8"),
    hostKey: (await readFile(inFolder("host.pub"), "utf8")).trim(),
    fingerprint: /SHA256:\S+/.exec(stdout)?.[0] ?? "",
    get connectionCount() {
      return sockets.size;
    },
    cutOff,
    async [Symbol.asyncDispose]() {
      cutOff();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
