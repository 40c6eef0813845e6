/** What a container holds while it runs: its files, and its processes with all their memory. */
import { readFileSync } from "node:fs";
import { askDocker } from "svc-connectors/host";

const program = readFileSync(new URL("search-container.py", import.meta.url), "utf8");

/**
 * The places of each text, wherever the container's own user can read.
 * @param name of a running container, in which there is Python
 */
export async function searchContainer(
  name: string,
  texts: readonly string[],
): Promise<Readonly<Record<string, readonly string[]>>> {
  const look = ["exec", "--interactive", name, "python3", "-c"];
  const input = Buffer.from(JSON.stringify(texts));
  const signal = AbortSignal.timeout(300_000);
  const { exitCode, output } = await askDocker([...look, program], { input, signal });
  if (exitCode !== 0) throw new Error(`${name} cannot be searched: ${exitCode}`);
  return JSON.parse(output);
}

/** Names of the containers that run one of the verbs of a connector. */
export async function containersOf(verb: string): Promise<string[]> {
  const format = "{{.Names}} {{.Command}}";
  const { output } = await askDocker(["ps", "--all", "--no-trunc", "--format", format]);
  return output
    .split("\n")
    .filter((line) => /^svc-image-\S+-run /.test(line) && line.includes(` ${verb} `))
    .map((line) => String(line.split(" ")[0]));
}
