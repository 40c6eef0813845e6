/**
 * Which files a worker may read: the sandbox's part of the runtime, the connector's own code and
 * their installed packages, nothing else. Files beside the code that are not code (configs,
 * fixtures, .env) stay unreadable.
 */
import {
  type Dirent,
  existsSync,
  lstatSync,
  opendirSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConnectorError } from "../contract/errors.ts";
import { componentFileNames } from "../wire/component-files.ts";
import { moduleEnding, packageRoot } from "../wire/location.ts";
import { packagePaths } from "./package-access.ts";
import { sandboxCode } from "./sandbox-code.ts";

const codeExtensions = new Set([".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".wasm"]);
const maxCodeFiles = 5_000;
/** Of all kinds: the host waits while they are looked through, some 50 ms for these. */
const maxEntries = 20_000;

/**
 * Paths for `--allow-fs-read`; folders end with a separator.
 * @throws CONNECTOR_UNKNOWN when the module is no file
 */
export function readablePaths(connectorUrl: string): readonly string[] {
  const { moduleRoot, files } = codeOf(connectorUrl);
  const isManifest = /\.ya?ml$/.test(connectorUrl);
  const roots = packageRoots(isManifest ? packageRoot : moduleRoot);
  return [...sandboxCode, ...roots.flatMap(packagePaths), ...files].filter(
    (path, index, all) => all.indexOf(path) === index,
  );
}

/**
 * The folders from which the worker's code imports packages. A built package brings what it and its
 * connectors need of them, so that nothing installed beside it is looked through, or readable.
 */
export const packageRoots = (
  moduleRoot: string,
  isBuilt = moduleEnding === ".js",
): readonly string[] =>
  [packageRoot, moduleRoot].filter((root) => !isBuilt || root !== packageRoot);

/** The files of a connector itself. */
export interface OwnCode {
  readonly module: string;
  /** The package.json that counts for it stands here, where there is one. */
  readonly moduleRoot: string;
  readonly files: readonly string[];
}

/**
 * @throws CONNECTOR_UNKNOWN when the module is no file, CONNECTOR_INVALID when they are too many
 */
export function codeOf(connectorUrl: string): OwnCode {
  const module = connectorPath(connectorUrl);
  // A manifest, its settings, its components and the schemas beside it are all that there is of its
  // connector.
  if (/\.ya?ml$/.test(connectorUrl)) {
    refuseWildcard(module);
    const folder = dirname(module);
    const spec = ["yaml", "yml", "json"].flatMap((end) => ownFile(join(folder, `spec.${end}`)));
    const beside = [...spec, ...componentFilesOf(folder), ...schemaFiles(folder)];
    return { module, moduleRoot: folder, files: [module, ...beside] };
  }
  const moduleRoot = findUp(dirname(module), "package.json");
  refuseWildcard(moduleRoot);
  // A built-in connector shares this package's root: it reads its own folder only.
  const codeRoot = moduleRoot === packageRoot ? dirname(module) : moduleRoot;
  return {
    module,
    moduleRoot,
    files: [...ownFile(join(moduleRoot, "package.json")), ...codeFiles(codeRoot)],
  };
}

/** Components that the author of a manifest has written. */
const componentFilesOf = (folder: string): string[] =>
  componentFileNames.flatMap((name) => ownFile(join(folder, name))).slice(0, 1);

/** Whether code lies beside a manifest that it names: it is more than data then. */
export const hasOwnComponents = (manifest: string): boolean =>
  componentFilesOf(dirname(manifest)).length > 0 &&
  /\bclass_name\b/.test(readFileSync(manifest, "utf8"));

/** The real path of a connector's module. */
export function connectorPath(connectorUrl: string): string {
  try {
    return realpathSync(fileURLToPath(connectorUrl));
  } catch {
    throw new ConnectorError("CONNECTOR_UNKNOWN");
  }
}

function findUp(from: string, name: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    if (existsSync(join(folder, name))) return folder;
    if (folder === dirname(folder)) return from;
  }
}

/** The path, when a real file is there and not a link. */
const ownFile = (path: string) =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ? [path] : [];

/** An asterisk in a path would grant what matches it. */
export function refuseWildcard(path: string): void {
  if (path.includes("*"))
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "module",
      problem: "has an asterisk in the name of a file or folder",
    });
}

/** Schemas of streams: `schemas/*.json` and `schemas/shared/*.json`. */
const schemaFiles = (folder: string): string[] =>
  ["schemas", join("schemas", "shared")].flatMap((name) => {
    const root = join(folder, name);
    if (!lstatSync(root, { throwIfNoEntry: false })?.isDirectory()) return [];
    const found = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(".json"))
      .map((entry) => join(root, entry.name));
    for (const path of found) refuseWildcard(path);
    refuseTooMany(found, "schemas");
    return found;
  });

function refuseTooMany(found: readonly string[], what: string): void {
  if (found.length > maxCodeFiles)
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "module",
      problem: `has more than ${maxCodeFiles} ${what} beside it`,
    });
}

/** One by one: a folder may have more than there is time to read. */
function* entriesOf(path: string): Generator<Dirent, void, undefined> {
  const folder = opendirSync(path, { bufferSize: 256 });
  try {
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) yield entry;
  } finally {
    folder.closeSync();
  }
}

function codeFiles(root: string): string[] {
  const found: string[] = [];
  let seen = 0;
  const visit = (folder: string) => {
    for (const entry of entriesOf(folder)) {
      if (++seen > maxEntries)
        throw new ConnectorError("CONNECTOR_INVALID", {
          path: "module",
          problem: `has more than ${maxEntries} files and folders beside it`,
        });
      if (entry.name === "node_modules" || entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      refuseWildcard(path);
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && codeExtensions.has(extname(entry.name))) found.push(path);
      refuseTooMany(found, "code files");
    }
  };
  visit(root);
  return found;
}
