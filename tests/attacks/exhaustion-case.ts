import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What became of one size of an attack. */
export interface Met {
  readonly size: number;
  /** "succeeded", or an error's code and what it says of the fault. */
  readonly outcome: string;
  /** Longest pause of the host's event loop. */
  readonly pauseMs: number;
  /** What the host's largest resident size has grown by since it met its first connector. */
  readonly grownMb: number;
}

/**
 * A host in a process of its own meets the attack in each of the sizes.
 * @param port of a provider on loopback
 */
export async function meet(
  verb: string,
  attack: string,
  sizes: readonly number[],
  port = 0,
): Promise<readonly Met[]> {
  const child = spawn(
    process.execPath,
    [
      "--conditions=svc-source",
      "--disable-warning=ExperimentalWarning",
      `${root}tests/attacks/exhaustion-victim.ts`,
      ...[verb, attack, String(port), ...sizes.map(String)],
    ],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  const output = await text(child.stdout);
  const met = output
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Met);
  const pauseMs = Math.max(0, ...met.map((one) => one.pauseMs));
  const grownMb = met.at(-1)?.grownMb;
  console.log(`${verb} ${attack}: ${sizes.join(", ")}: pause ${pauseMs} ms, ${grownMb} MB`);
  return met;
}
