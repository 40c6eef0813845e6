import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The promise of docs/security.md: no step of the host takes longer. What each case takes is
 * printed. A test may not fail because the machine is busy, so it looks at the time that the
 * processor has given to the host's own thread, not at the clock, and divides it by how much longer
 * than on quiet cores the same work takes there just then.
 */
export const longestTurnMs = 100;

const isTooLong = ({ busyMs }: Met) => busyMs >= longestTurnMs;

/** The outcome of one size of an attack. */
export interface Met {
  readonly size: number;
  /** "succeeded", or an error's code and what it says of the fault. */
  readonly outcome: string;
  /** Longest pause of the host's event loop, on the clock: others may have had the processor. */
  readonly pauseMs: number;
  /**
   * Most that the host's own thread has worked between two turns of its event loop. It is a measure
   * of the host and not of the machine: a test may rest on it.
   */
  readonly busyMs: number;
  /** The growth of the largest resident size since the process met its first connector. */
  readonly grownMb: number;
}

/** An attack in its sizes; the port is of a provider on loopback, or 0. */
export interface Attack {
  readonly verb: string;
  readonly attack: string;
  readonly sizes: readonly number[];
  readonly port: number;
}

/**
 * A process whose hosts meet one attack after another, until the file's tests are done: what it has
 * grown by is the most that any of them has cost, and all of them together.
 */
export function createVictim() {
  let child: ChildProcess | undefined;
  let ended: Promise<never> | undefined;
  afterAll(() => void child?.kill("SIGKILL"));
  const start = () => {
    const started = fork(`${root}tests/attacks/exhaustion-victim.ts`, {
      cwd: root,
      execArgv: ["--conditions=svc-source", "--disable-warning=ExperimentalWarning"],
    });
    ended = once(started, "exit").then(([code, signal]) => {
      throw new Error(`the attack has ended the host: ${code ?? signal}`);
    });
    ended.catch(() => undefined); // who waits for an answer is told
    return started;
  };
  const meet = async (attack: Attack): Promise<readonly Met[]> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null)
      child = start();
    const answered = once(child, "message").then(([met]) => met as readonly Met[]);
    child.send(attack);
    return await Promise.race([answered, ended as Promise<never>]);
  };
  /**
   * An attack whose turns were too long is met again, three times at most, and the shorter ones
   * count: a step that takes long does so each time, and a collection of the process's whole heap
   * falls into any.
   * @throws Error when an attack has ended the process; the next attack meets another one
   */
  return async (
    verb: string,
    attack: string,
    sizes: readonly number[],
    port = 0,
  ): Promise<readonly Met[]> => {
    let met = await meet({ verb, attack, sizes, port });
    for (let tries = 1; tries < 3 && met.some(isTooLong); tries++) {
      const before = met;
      const again = await meet({ verb, attack, sizes, port });
      met = again.map((one, index) => ({
        ...one,
        busyMs: Math.min(one.busyMs, before[index]?.busyMs ?? one.busyMs),
      }));
    }
    const pauseMs = Math.max(0, ...met.map((one) => one.pauseMs));
    const grownMb = met.at(-1)?.grownMb;
    const busyMs = Math.max(0, ...met.map((one) => one.busyMs));
    console.log(
      `${verb} ${attack}: ${sizes.join(", ")}: busy ${busyMs} ms, pause ${pauseMs} ms, ${grownMb} MB`,
    );
    return met;
  };
}
