/**
 * A PostgreSQL server of its own on loopback, made from the one that is installed: its own data
 * folder, gone when stopped.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { freePort, serverAccount, untilLogged } from "./server-process.ts";

export interface InstalledServer extends AsyncDisposable {
  /** 127.0.0.1 */
  readonly host: string;
  readonly port: number;
  /** The superuser's, whose name is postgres. */
  readonly password: string;
  /** Ends it at once, whatever it does, and starts it again with what it had committed. */
  restart(): Promise<void>;
}

export interface InstalledServerOptions {
  /** Settings of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** pg_hba.conf. Default: everybody by SCRAM, from this machine. */
  readonly accessRules?: string | undefined;
  /** Further files of the data folder, by name. */
  readonly files?: Readonly<Record<string, string>> | undefined;
}

const everybody = "host all all 127.0.0.1/32 scram-sha-256\n";

/**
 * A throw-away server need not survive a power cut; thousands of tables in one transaction need
 * locks.
 */
export const throwAwaySettings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_locks_per_transaction: "2048",
  lc_messages: "C",
} as const;

/** The folder with `initdb` and `postgres`, newest version first; undefined when there is none. */
export function findPostgres(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((a, b) => Number(b) - Number(a))
    : [];
  const folders = [
    ...versions.map((version) => join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  const found = folders.find(hasServer);
  if (found !== undefined) return found;
  try {
    const named = execFileSync("pg_config", ["--bindir"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return hasServer(named.trim()) ? named.trim() : undefined;
  } catch {
    return undefined;
  }
}

const hasServer = (folder: string) =>
  existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres"));

/** @throws Error that says so when no PostgreSQL server is installed, or when it does not start. */
export async function startInstalledServer(
  options: InstalledServerOptions = {},
): Promise<InstalledServer> {
  const { settings = {}, accessRules = everybody, files = {} } = options;
  const bin = findPostgres();
  if (bin === undefined)
    throw new Error("No PostgreSQL server is installed (Debian: apt-get install postgresql).");
  const folder = await mkdtemp(join(tmpdir(), "svc-postgres-"));
  const account = serverAccount("postgres");
  const password = randomBytes(18).toString("base64url");
  const run = { cwd: folder, env: { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8" }, ...account };
  const data = join(folder, "data");

  const own = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    if (account) await chown(join(folder, name), account.uid, account.gid);
  };
  if (account) await chown(folder, account.uid, account.gid);
  await own("password", `${password}\n`);
  await promisify(execFile)(
    join(bin, "initdb"),
    [
      "-D",
      data,
      "-U",
      "postgres",
      "-A",
      "scram-sha-256",
      "--pwfile=password",
      "-E",
      "UTF8",
      "--locale=C",
      "--no-sync",
    ],
    run,
  );
  await own("data/pg_hba.conf", accessRules);
  for (const [name, text] of Object.entries(files)) await own(`data/${name}`, text);

  const port = await freePort();
  const flags = Object.entries({
    ...throwAwaySettings,
    unix_socket_directories: "",
    listen_addresses: "127.0.0.1",
    ...settings,
    port: String(port),
  });
  const start = () => {
    const server = spawn(
      join(bin, "postgres"),
      ["-D", data, ...flags.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      { ...run, stdio: ["ignore", "ignore", "pipe"] },
    );
    return { server, ended: once(server, "exit") };
  };
  let { server, ended } = start();
  // A run that is cut short must not leave a server behind.
  const endWithProcess = () => {
    server.kill("SIGQUIT");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", endWithProcess);
  const stop = async () => {
    process.off("exit", endWithProcess);
    server.kill("SIGQUIT");
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const ready = async () => {
    await Promise.race([untilLogged(server.stderr, "ready to accept connections"), ended]);
    if (server.exitCode === null) return;
    await stop();
    throw new Error("The PostgreSQL server did not start.");
  };
  await ready();
  return {
    host: "127.0.0.1",
    port,
    password,
    async restart() {
      server.kill("SIGQUIT");
      await ended;
      ({ server, ended } = start());
      await ready();
    },
    [Symbol.asyncDispose]: stop,
  };
}
