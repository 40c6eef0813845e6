import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const connector = new URL("../../fixtures/broken/worker/open-descriptors.ts", import.meta.url).href;

/** A host that reads the connector and prints its rows. */
const host = `
  import { createHost } from "svc-connectors/host";
  await using host = createHost({ sandbox: process.argv[1] });
  const catalog = { streams: [{ sync_mode: "full_refresh", stream: {
    name: "rows", supported_sync_modes: ["full_refresh"], source_defined_cursor: false, default_cursor_field: [],
    source_defined_primary_key: [["id"]], is_resumable: false,
    json_schema: { type: "object", properties: { id: { type: "integer" }, text: { type: "string" } } } } }] };
  const nothing = async () => {};
  let rows = "";
  const sink = { lineFormat: "rows", open: nothing, checkpoint: nothing, status: nothing, close: nothing,
    async write(_stream, lines) { rows += lines; } };
  try {
    await host.read({ name: "open-descriptors", url: process.argv[2] },
      { config: { api_token: "s3cr3t-token-0123456789abcdef" }, catalog }, sink);
    console.log("read " + rows);
  } catch (error) {
    console.log(error.code);
  }`;

type Stdio = ("ignore" | "pipe" | number)[];
const startHost = (level: string, url: string, stdio: Stdio) =>
  spawn(
    process.execPath,
    [
      "--conditions=svc-source",
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      host,
      level,
      url,
    ],
    { cwd: root, stdio },
  );

const levels = ["process", "bubblewrap"];
const promise = "a worker at level %s has none of the descriptors that its host was started with";

test.for(levels)(promise, async (level, { skip }) => {
  const folder = await mkdtemp(join(tmpdir(), "svc-descriptors-"));
  try {
    const path = join(folder, "operators-file.txt");
    await writeFile(path, "the operator's own words");
    await using readable = await open(path, "r");
    await using writable = await open(path, "r+");
    const stdio: Stdio = ["ignore", "pipe", "inherit" as "pipe"];
    // Of one digit and of two, next to each other and with gaps; 3 is the wire's own number.
    for (const number of [3, 4, 9, 27, 64]) {
      while (stdio.length < number) stdio.push("ignore");
      stdio.push(number % 2 === 0 ? writable.fd : readable.fd);
    }
    const child = startHost(level, connector, stdio);
    const output = child.stdout ? await text(child.stdout) : "";
    if (output.includes("SANDBOX_UNAVAILABLE")) skip("bubblewrap is not installed or allowed here");
    expect(output.trim()).toBe("read");
    expect(await readFile(path, "utf8")).toBe("the operator's own words");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

interface Descriptor {
  readonly number: number;
  /** A path, or the kind and number of what has none: `socket:[4711]`. */
  readonly target: string;
}

/** The open descriptors of a process; none once it has ended. */
function descriptorsOf(pid: number): Descriptor[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return [{ number: Number(name), target: readlinkSync(`/proc/${pid}/fd/${name}`) }];
      } catch {
        return []; // closed meanwhile
      }
    });
  } catch {
    return [];
  }
}

/** All that the process has started, and what these have. */
function descendantsOf(pid: number): number[] {
  const children = readdirSync("/proc")
    .map(Number)
    .filter((one) => {
      try {
        const stat = readFileSync(`/proc/${one}/stat`, "latin1");
        return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === pid;
      } catch {
        return false;
      }
    });
  return children.flatMap((one) => [one, ...descendantsOf(one)]);
}

const commandOf = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1").split("\0");
  } catch {
    return [];
  }
};

/** The worker of a host, once it runs; undefined when the host has ended without one. */
async function workerOf(host: ChildProcess): Promise<number | undefined> {
  while (host.exitCode === null && host.signalCode === null) {
    const worker = descendantsOf(host.pid ?? 0).find((pid) => {
      const [program = "", second] = commandOf(pid);
      return program === process.execPath && second === "--permission";
    });
    if (worker !== undefined && descriptorsOf(worker).length > 4) return worker;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return undefined;
}

/** What anybody can have without having been given it. */
const isNameless = (target: string) => /^(?:\/dev\/null|anon_inode:.*)$/.test(target);

const listed = "a worker at level %s has its streams and its wire alone: a list of what is open";

test.runIf(process.platform === "linux").for(levels)(listed, async (level, { skip }) => {
  const folder = await mkdtemp(join(tmpdir(), "svc-descriptors-"));
  const server: Server = createServer().listen(0, "127.0.0.1");
  let child: ChildProcess | undefined;
  try {
    await once(server, "listening");
    const path = join(folder, "operators-file.txt");
    const pipe = join(folder, "operators-pipe");
    await writeFile(path, "the operator's own words");
    execFileSync("mkfifo", [pipe]);
    await using file = await open(path, "r+");
    await using fifo = await open(pipe, "r+");
    const listening = (server as unknown as { _handle: { fd: number } })._handle.fd;
    const stdio: Stdio = ["ignore", "pipe", "inherit" as "pipe"];
    // A listening socket, a named pipe, a file, and one end of a connection that Node makes; beyond
    // the first sixteen numbers, which Node looks after itself.
    const planted = [listening, fifo.fd, file.fd, "pipe" as const];
    for (const [index, number] of [20, 21, 22, 27].entries()) {
      while (stdio.length < number) stdio.push("ignore");
      stdio.push(planted[index] ?? "ignore");
    }
    child = startHost(level, `${connector}?hold`, stdio);
    const ended = child.stdout ? text(child.stdout) : Promise.resolve("");
    const worker = await workerOf(child);
    if (worker === undefined) {
      expect(await ended).toContain("SANDBOX_UNAVAILABLE");
      return skip("bubblewrap is not installed or allowed here");
    }
    const ofHost = descriptorsOf(child.pid ?? 0);
    // The host has them itself, else the list would prove nothing.
    for (const number of [20, 21, 22, 27])
      expect(ofHost.find((one) => one.number === number)?.target).not.toBe("/dev/null");
    const shared = new Set(ofHost.map(({ target }) => target).filter((one) => !isNameless(one)));
    for (const pid of descendantsOf(child.pid ?? 0))
      for (const { number, target } of descriptorsOf(pid))
        if (shared.has(target))
          expect.fail(`${commandOf(pid)[0]} has ${number}, ${target}, which is the host's`);
    const own = descriptorsOf(worker);
    const isOwn = ({ target }: Descriptor) =>
      isNameless(target) ||
      target.startsWith(root) || // code that it is reading just now
      (target.startsWith("pipe:") && own.filter((one) => one.target === target).length === 2);
    expect(own.filter((one) => one.number > 3 && !isOwn(one))).toEqual([]);
  } finally {
    child?.kill("SIGKILL");
    server.close();
    await rm(folder, { recursive: true, force: true });
  }
});
