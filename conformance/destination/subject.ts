/**
 * Recognises a destination by its name on the command line: the name of one that comes with svc, or
 * `destination:PATH`.
 */
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import {
  builtInDestinations,
  type ConnectorReference,
  findConnector,
  findDestination,
} from "svc-connectors/host";
import { UnusableError } from "../contract/unusable.ts";
import { settingsFileName } from "../target/settings.ts";

export interface DestinationSubject {
  readonly reference: ConnectorReference;
  /** Path of its conformance.yaml, whether it is there or not. */
  readonly settingsFile: string;
}

/**
 * A path needs the prefix: to see by itself what a module is, the kit would have to load it outside
 * of the sandbox.
 */
const prefix = "destination:";

/** Undefined: it is no destination. @throws UnusableError */
export function findDestinationSubject(
  wanted: string,
  cwd: string,
  file?: string,
): DestinationSubject | undefined {
  const at = (folder: string) =>
    file === undefined ? join(folder, settingsFileName) : resolve(cwd, file);
  const builtIn = builtInDestinations.find(({ name }) => name === wanted);
  if (builtIn)
    return {
      reference: findDestination(builtIn.name),
      settingsFile: at(builtIn.folder),
    };
  if (!wanted.startsWith(prefix)) return undefined;
  const path = wanted.slice(prefix.length);
  try {
    const { url } = findConnector(resolve(cwd, path), cwd);
    return { reference: { name: path, url }, settingsFile: at(dirname(fileURLToPath(url))) };
  } catch {
    throw new UnusableError(
      `there is no destination at "${path}": the path leads to no module: a file, or a folder with index.ts or index.js`,
    );
  }
}
