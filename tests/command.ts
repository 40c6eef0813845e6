/** Commands of the Control API in this process, with captured output. */
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
  readonly out: string;
  readonly err: string;
}

/**
 * Runs one command line in a folder.
 * @param build undefined: a command of the runtime's own
 */
export async function runCommand(
  build: CommandBuilder | undefined,
  cwd: string,
  argv: readonly string[],
  changes: Partial<CliEnvironment> = {},
): Promise<Ran> {
  const written = { out: "", err: "" };
  const capture = (name: keyof typeof written) =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written[name] += chunk.toString();
        done();
      },
    });
  const [name = ""] = argv;
  const code = await main(
    argv,
    {
      stdout: capture("out"),
      stderr: capture("err"),
      createHost,
      clock: systemClock,
      cwd,
      isTTY: false,
      onSignal: () => ({ [Symbol.dispose]: () => undefined }),
      ...changes,
    },
    build ? { [name]: { summary: "", load: async () => build } } : {},
  );
  return { code, ...written };
}
