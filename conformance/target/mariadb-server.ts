/**
 * A MariaDB server of its own on loopback, made from the one that is installed: its own data
 * folder, gone when stopped.
 */
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort, serverAccount, untilLogged } from "./server-process.ts";

export interface MariadbServer extends AsyncDisposable {
  /** 127.0.0.1 */
  readonly host: string;
  readonly port: number;
  /**
   * Runs statements as root. Gives what the client prints: lines with tabs.
   * @param flags of the client, and the database
   * @throws Error with what the client said
   */
  query(sql: string, flags?: readonly string[]): Promise<string>;
}

export interface MariadbServerOptions {
  /** Settings of the server, by the names of its options; `folder` is where its files are. */
  settings?(folder: string): Readonly<Record<string, string>>;
  /** Files of that folder, by name. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

/** The paths of the programs; undefined when one of them is not installed. */
export function findMariadb():
  | { readonly server: string; readonly install: string; readonly client: string }
  | undefined {
  const folders = ["/usr/sbin", "/usr/bin", ...(process.env.PATH ?? "").split(delimiter)];
  const find = (name: string) =>
    folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const [server, install, client] = [find("mariadbd"), find("mariadb-install-db"), find("mariadb")];
  return server && install && client ? { server, install, client } : undefined;
}

const maxOutputBytes = 512 * 1_048_576;

/** @throws Error that says so when no MariaDB server is installed, or when it does not start. */
export async function startInstalledMariadb(
  options: MariadbServerOptions = {},
): Promise<MariadbServer> {
  const programs = findMariadb();
  if (programs === undefined)
    throw new Error("No MariaDB server is installed (Debian: apt-get install mariadb-server).");
  const folder = await mkdtemp(join(tmpdir(), "svc-mariadb-"));
  const account = serverAccount("mysql");
  if (account) await chown(folder, account.uid, account.gid);
  const run = { cwd: folder, env: { PATH: "/usr/bin:/bin:/usr/sbin", LC_ALL: "C.UTF-8" } };
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    if (account) await chown(join(folder, name), account.uid, account.gid);
  }
  const data = join(folder, "data");
  const password = randomBytes(18).toString("base64url");
  await promisify(execFile)(
    programs.install,
    [
      "--no-defaults",
      `--datadir=${data}`,
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
    ],
    { ...run, ...account },
  );
  const port = await freePort();
  const socket = join(folder, "socket");
  const settings = {
    datadir: data,
    socket,
    port: String(port),
    "bind-address": "127.0.0.1",
    "pid-file": join(folder, "pid"),
    // A server that starts clears its folder for temporary tables of what others have there.
    tmpdir: folder,
    "skip-name-resolve": "1",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-buffer-pool-size": "32M",
    "innodb-log-file-size": "16M",
    "plugin-maturity": "unknown",
    ...options.settings?.(folder),
  };
  const server = spawn(
    programs.server,
    ["--no-defaults", ...Object.entries(settings).map(([name, value]) => `--${name}=${value}`)],
    { ...run, ...account, stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(server, "exit");
  // A run that is cut short must not leave a server behind.
  const endWithProcess = () => {
    server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", endWithProcess);
  const stop = async () => {
    process.off("exit", endWithProcess);
    server.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const ask = (sql: string, env: Record<string, string>, flags: readonly string[]) => {
    const args = ["--no-defaults", `--socket=${socket}`, "--user=root", "--batch", ...flags];
    return new Promise<string>((resolve, reject) => {
      const child = execFile(
        programs.client,
        args,
        { ...run, env: { ...run.env, ...env }, maxBuffer: maxOutputBytes },
        (error, output, complaint) => {
          if (error) reject(new Error(complaint.trim() || error.message));
          else resolve(output);
        },
      );
      // A client that has stopped at an error reads no further.
      child.stdin?.on("error", () => {});
      child.stdin?.end(sql);
    });
  };
  await Promise.race([untilLogged(server.stderr, "ready for connections"), ended]);
  if (server.exitCode !== null) {
    await stop();
    throw new Error("The MariaDB server did not start.");
  }
  await ask(`ALTER USER root@localhost IDENTIFIED BY '${password}'`, {}, []);
  return {
    host: "127.0.0.1",
    port,
    query: (sql, flags = ["--skip-column-names"]) => ask(sql, { MYSQL_PWD: password }, flags),
    [Symbol.asyncDispose]: stop,
  };
}
