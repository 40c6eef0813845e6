/**
 * A command as an image takes it: the Airbyte Protocol's command line, and the files that it names.
 */
import { chmod, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "../contract/observation.ts";

/** Where the container sees the files, read-only. */
export const mountPoint = "/conformance";
const caFile = "ca.pem";
/** The authority that a container has to trust. */
export const caPath = `${mountPoint}/${caFile}`;

/** A folder of this machine that a container sees at {@link mountPoint}. */
export interface CommandFolder extends AsyncDisposable {
  readonly path: string;
  /**
   * Writes the files of one run in place of those of the last one, and gives the arguments that
   * name them. `ca`: PEM that the container has to trust.
   */
  fill(command: Command, ca: string): Promise<readonly string[]>;
}

export async function createCommandFolder(): Promise<CommandFolder> {
  const path = await mkdtemp(join(tmpdir(), "svc-conformance-"));
  // The image's user is not this one.
  await chmod(path, 0o755);
  return {
    path,
    async fill(command, ca) {
      for (const name of await readdir(path)) await rm(join(path, name));
      return await writeCommandFiles(path, command, ca);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

async function writeCommandFiles(
  folder: string,
  command: Command,
  ca: string,
): Promise<readonly string[]> {
  const args: string[] = [command.verb];
  await writeFile(join(folder, caFile), ca);
  const pass = async (option: string, content: unknown) => {
    await writeFile(join(folder, `${option}.json`), JSON.stringify(content));
    args.push(`--${option}`, `${mountPoint}/${option}.json`);
  };
  if (command.verb !== "spec") await pass("config", command.config);
  if (command.verb === "read") {
    await pass("catalog", command.catalog);
    if (command.state) await pass("state", command.state.map(toStateMessage));
  }
  return args;
}

type SavedState = NonNullable<Extract<Command, { verb: "read" }>["state"]>[number];

const toStateMessage = ({ stream, state }: SavedState) => ({
  type: "STREAM",
  stream: { stream_descriptor: stream, stream_state: state },
});
