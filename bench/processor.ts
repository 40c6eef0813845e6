import { readdir, readFile } from "node:fs/promises";

interface Usage {
  readonly parent: number;
  readonly ms: number;
  /** With children that have ended. */
  readonly allMs: number;
}

/** Linux only: a clock tick has ten milliseconds. */
async function usageOf(pid: number): Promise<Usage> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15).map(Number);
  const ms = (user + system) * 10;
  return { parent: Number(fields[1]), ms, allMs: ms + (childUser + childSystem) * 10 };
}

/** Milliseconds of processor that a process has used. */
export const processorMs = async (pid: number): Promise<number> => (await usageOf(pid)).ms;

/** The process that has started this one. */
export const parentOf = async (pid: number): Promise<number> => (await usageOf(pid)).parent;

/** Milliseconds of processor that a process and its children have used. */
export async function familyProcessorMs(pid: number): Promise<number> {
  let sum = (await usageOf(pid)).allMs;
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const usage = await usageOf(Number(name)).catch(() => undefined);
    if (usage?.parent === pid) sum += usage.ms;
  }
  return sum;
}
