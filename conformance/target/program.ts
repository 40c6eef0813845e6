/**
 * A source program in this process: what the entry point of an Airbyte source does, with the world
 * handed in. For connectors that are not svc's, and for the kit's own tests: nothing of the runtime
 * stands between them and the rules.
 */
import type { Clock } from "svc-connectors";
import type { Command } from "../contract/observation.ts";
import type { Ability, Target, World } from "../contract/target.ts";

export interface ProgramWorld {
  readonly fetch: typeof fetch;
  /** The addresses that a name has now; `fetch` looks it up again. */
  readonly lookup: (host: string) => Promise<readonly string[]>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** One message a line, without its end; resolves when there is room for more. */
  readonly write: (line: string) => Promise<void>;
  /** Standard error. */
  readonly writeError: (text: string) => void;
}

export interface Program {
  readonly kind: "program";
  readonly name: string;
  /** Resolves with the exit code: 0 also for a failed check. */
  readonly run: (command: Command, world: ProgramWorld) => Promise<number>;
}

/** Gives a program its type; it is the default export of its module. */
export function defineProgram(program: Omit<Program, "kind">): Program {
  return { kind: "program", ...program };
}

export function isProgram(value: unknown): value is Program {
  return (
    typeof value === "object" && value !== null && (value as Partial<Program>).kind === "program"
  );
}

const abilities: readonly Ability[] = [
  "clock",
  "inside",
  "environment",
  "cancel",
  "backpressure",
  "faults",
];

export function createProgramTarget(program: Program, sources: Target["sources"] = []): Target {
  return {
    kind: "program",
    name: program.name,
    abilities: new Set(abilities),
    sources,
    manifest: async () => undefined,
    async run(command, world) {
      let errorOutput = "";
      world.onGiven?.({ where: "context", value: { connector: program } });
      try {
        const writeError = (text: string) => {
          errorOutput += text;
        };
        const exitCode = await program.run(command, toProgramWorld(world, writeError));
        return { exitCode, errorOutput };
      } catch (error) {
        world.onGiven?.({ where: "thrown", value: error });
        if (world.signal.aborted) return { exitCode: 143, errorOutput };
        // Node's text of an exception that nobody catches.
        return { exitCode: 1, isCrashed: true, errorOutput: `${errorOutput}${stackOf(error)}\n` };
      }
    },
    async [Symbol.asyncDispose]() {},
  };
}

const toProgramWorld = (
  { clock, network, signal, write }: World,
  writeError: (text: string) => void,
): ProgramWorld => ({
  fetch: network.fetch,
  lookup: network.lookup,
  clock,
  signal,
  write,
  writeError,
});

const stackOf = (error: unknown) =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
