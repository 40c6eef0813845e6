/** Measures a command: processor time, wall time, and the peak memory of its processes. */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { median } from "../run.ts";

export interface Cost {
  /** Seconds of processor of the whole process tree. */
  readonly cpu: number;
  readonly wall: number;
  /** Most memory of the program itself, and of the largest process that it started; MB. */
  readonly hostMb: number;
  readonly workerMb: number;
}

const sampleMs = 50;

/** Runs a command of the shell's; its own `time` counts all processes that were waited for. */
export async function timed(command: string): Promise<Cost> {
  const child = spawn("bash", ["-c", `TIMEFORMAT='%R %U %S'; time { ${command}; }`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk;
  });
  let [hostMb, workerMb] = [0, 0];
  const sampling = setInterval(async () => {
    const hosts = await childrenOf(child.pid);
    const workers = (await Promise.all(hosts.map(childrenOf))).flat();
    hostMb = Math.max(hostMb, ...(await Promise.all(hosts.map(peakMb))));
    workerMb = Math.max(workerMb, ...(await Promise.all(workers.map(peakMb))));
  }, sampleMs);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(sampling);
  if (code !== 0) throw new Error(`ended with ${String(code)}: ${text.slice(-500)}`);
  const [wall = 0, user = 0, system = 0] = (text.trim().split("\n").at(-1) ?? "")
    .split(" ")
    .map(Number);
  return { wall, cpu: user + system, hostMb, workerMb };
}

/** @see proc_pid_task(5) */
async function childrenOf(pid: number | undefined): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return text.trim().split(" ").filter(Boolean).map(Number);
}

/** The high-water mark of a process; 0 when it has ended. @see proc_pid_status(5) */
async function peakMb(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1024);
}

/** One of the programs that do the same work. */
export interface Way {
  readonly name: string;
  /** The most that svc's processor may be of its; undefined: it is there to be seen. */
  readonly aim?: number | undefined;
  /** The most that svc's wall time may be of its. */
  readonly wallAim?: number | undefined;
  /** A command of the shell's that moves the rows to a place that is not there yet. */
  command(place: string): string | Promise<string>;
}

export type Costs = ReadonlyMap<string, Cost>;

/**
 * Medians of some rounds, by turns. A way that fails in the first round says so, and is left out.
 */
export async function compare(
  title: string,
  ways: readonly Way[],
  rounds: number,
  placeOf: (name: string) => string,
): Promise<Costs> {
  const costs = new Map<string, Cost[]>(ways.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const { name, command } of ways) {
      try {
        costs.get(name)?.push(await timed(await command(placeOf(name))));
      } catch (error) {
        console.error(`${title}, ${name}: ${String(error)}`);
      }
    }
  const middle = (of: readonly Cost[], part: keyof Cost) => median(of.map((cost) => cost[part]));
  return new Map(
    [...costs]
      .filter(([, of]) => of.length > 0)
      .map(([name, of]) => [
        name,
        {
          cpu: middle(of, "cpu"),
          wall: middle(of, "wall"),
          hostMb: middle(of, "hostMb"),
          workerMb: middle(of, "workerMb"),
        },
      ]),
  );
}

/** The table of a comparison: svc's processor against each other way, and the aim for it. */
export function printComparison(title: string, ways: readonly Way[], costs: Costs): void {
  const ours = costs.get("svc");
  console.log(
    `| ${title} | CPU s | wall s | svc's CPU against it | aim | svc's wall against it | aim |\n|---|---|---|---|---|---|---|`,
  );
  for (const { name, aim, wallAim } of ways) {
    const cost = costs.get(name);
    if (!cost) continue;
    const ratio = (part: "cpu" | "wall") =>
      name === "svc" || !ours ? "" : (ours[part] / cost[part]).toFixed(2);
    const wanted = (most: number | undefined) => (most === undefined ? "" : `≤ ${most.toFixed(1)}`);
    console.log(
      `| ${name} | ${cost.cpu.toFixed(2)} | ${cost.wall.toFixed(2)} | ${ratio("cpu")} | ${wanted(aim)} | ${ratio("wall")} | ${wanted(wallAim)} |`,
    );
  }
  console.log();
}
