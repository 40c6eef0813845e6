/** Commands of svc in this process, with captured output. */
import { Writable } from "node:stream";
import {
  type CliEnvironment,
  type CommandBuilder,
  createHost,
  main,
  systemClock,
} from "svc-connectors/host";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Commands besides the runtime's own, by their names. */
export type Builders = Readonly<Record<string, CommandBuilder>>;

/** Where a command line is run, and what is not as it is on a terminal of this machine. */
export interface Surroundings extends Partial<CliEnvironment> {
  readonly cwd: string;
  readonly commands?: Builders;
}

/** The commands that entries of the package hold: `buildToken` makes `svc token`. */
export function commandsOf(...entries: readonly object[]): Builders {
  const builders = entries.flatMap((entry) =>
    Object.entries(entry).filter(([name]) => name.startsWith("build")),
  );
  return Object.fromEntries(builders.map(([name, build]) => [name.slice(5).toLowerCase(), build]));
}

/** Runs one command line, as `svc.ts` does. */
export async function runCommand(
  argv: readonly string[],
  { commands = {}, ...changes }: Surroundings,
): Promise<Ran> {
  const [stdout, stderr] = [capture(), capture()];
  const code = await main(
    argv,
    {
      stdout: stdout.stream,
      stderr: stderr.stream,
      createHost,
      clock: systemClock,
      isTTY: false,
      onSignal: () => ({ [Symbol.dispose]: () => undefined }),
      ...changes,
    },
    Object.fromEntries(
      Object.entries(commands).map(([name, build]) => [
        name,
        // With what shells must quote in a script.
        { summary: `It's "svc ${name}"`, load: async () => build },
      ]),
    ),
  );
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** A stream, and what was written into it. */
export function capture() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // The sender may use the memory again as soon as it is done.
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
}
