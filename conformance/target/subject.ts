/**
 * Opens what a person names on the command line: a connector by name or path, a program, an image.
 */
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  ConnectorError,
  findConnector,
  type NetworkSettings,
  noConnector,
} from "svc-connectors/host";
import type { ConformanceSettings } from "../contract/settings.ts";
import type { Target } from "../contract/target.ts";
import { UnusableError } from "../contract/unusable.ts";
import { createConnectorTarget } from "./connector.ts";
import { createProgramTarget, isProgram } from "./program.ts";
import { folderOf, loadSettings, settingsFileName } from "./settings.ts";
import { readSources } from "./sources.ts";

export interface SubjectOptions {
  /**
   * Default "worker": the sandboxed worker. "module": this process, where more can be watched and
   * runs are quicker.
   */
  readonly kind: "worker" | "module";
  readonly cwd: string;
  /** Path of conformance.yaml. Default: beside the connector; for images in `cwd`. */
  readonly file?: string | undefined;
  readonly network: Partial<NetworkSettings>;
}

export interface Subject {
  readonly target: Target;
  readonly settings: ConformanceSettings;
}

/**
 * @param wanted a built-in's name, the path of a module, folder or manifest, `program:PATH` for a
 * module with defineProgram, `image:NAME`
 * @throws UnusableError
 */
export async function openSubject(wanted: string, options: SubjectOptions): Promise<Subject> {
  const { cwd } = options;
  const fileBeside = (folder: string) =>
    options.file === undefined ? join(folder, settingsFileName) : resolve(cwd, options.file);
  if (wanted.startsWith("image:")) {
    const settings = await loadSettings(fileBeside(cwd));
    const { createContainerTarget } = await import("./container.ts");
    const image = wanted.slice("image:".length);
    const target = await createContainerTarget({ image, ...settings.container, isKept: true });
    return { target, settings };
  }
  if (wanted.startsWith("program:")) {
    const path = resolve(cwd, wanted.slice("program:".length));
    const url = pathToFileURL(path).href;
    const settings = await loadSettings(fileBeside(dirname(path)));
    return {
      target: createProgramTarget(await importProgram(url, wanted), readSources(url)),
      settings,
    };
  }
  const connector = findOrExplain(wanted, cwd);
  const settings = await loadSettings(fileBeside(folderOf(connector)));
  return {
    target: createConnectorTarget({ connector, kind: options.kind, settings: options.network }),
    settings,
  };
}

function findOrExplain(wanted: string, cwd: string) {
  try {
    return findConnector(wanted, cwd);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    throw new UnusableError(noConnector(wanted));
  }
}

async function importProgram(url: string, wanted: string) {
  const module = (await import(url).catch(() => {
    throw new UnusableError(
      `${wanted} cannot be imported: check the path, and whether Node runs the module`,
    );
  })) as { default?: unknown };
  if (isProgram(module.default)) return module.default;
  throw new UnusableError(`${wanted} has no default export made with defineProgram`);
}
