/**
 * Which files a worker may read: the sandbox's part of the runtime, the connector's own code and
 * their installed packages, nothing else. Files beside the code that are not code (configs,
 * fixtures, .env) stay unreadable.
 */
import { existsSync, lstatSync, readdirSync, realpathSync } from "node:fs";
import { dirname, extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ConnectorError } from "../contract/errors.ts";
import { moduleEnding, packageRoot, runtimeFolder } from "../wire/location.ts";

/**
 * What the worker and the connectors run of the runtime. A built package has its shared code in
 * `worker/` too.
 * @see bundle.ts
 */
const sandboxCode = [
  `${runtimeFolder}author${moduleEnding}`,
  ...["worker", "wire", "contract"].map((folder) => `${runtimeFolder}${folder}${sep}`),
];
const codeExtensions = new Set([".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".wasm"]);
const maxCodeFiles = 5_000;

/**
 * Paths for `--allow-fs-read`; folders end with a separator.
 * @throws CONNECTOR_UNKNOWN when the module is no file
 */
export function readablePaths(connectorUrl: string): readonly string[] {
  const module = connectorPath(connectorUrl);
  const moduleRoot = findUp(dirname(module), "package.json");
  // A built-in connector shares this package's root: it reads its own folder only.
  refuseWildcard(moduleRoot);
  const codeRoot = moduleRoot === packageRoot ? dirname(module) : moduleRoot;
  return [
    join(packageRoot, "package.json"),
    ...ownFile(join(moduleRoot, "package.json")),
    ...sandboxCode,
    ...packageFolders(packageRoot),
    ...packageFolders(moduleRoot),
    ...codeFiles(codeRoot),
  ].filter((path, index, all) => all.indexOf(path) === index);
}

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

/**
 * The node_modules folders that an import from `folder` looks into. Node checks a path before it
 * follows links, so a folder with a link that leads elsewhere is refused; a link to this package
 * itself is how a checkout of it is tried.
 */
function packageFolders(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    const inside = at.endsWith(`${sep}node_modules`) ? at : join(at, "node_modules");
    if (!lstatSync(inside, { throwIfNoEntry: false })?.isDirectory()) continue;
    if (!isChecked.has(inside)) refuseLinksOut(inside);
    isChecked.add(inside);
    found.push(inside + sep);
  }
  return found;
}

/**
 * Folders without links that lead out of them; looked at once, since an installation does not
 * change while it runs.
 */
const isChecked = new Set<string>();

function refuseLinksOut(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue;
    const target = realPath(join(entry.parentPath, entry.name));
    const isInside = [folder, packageRoot].some(
      (root) => target === root || target?.startsWith(root + sep),
    );
    if (target === undefined || isInside) continue;
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "node_modules",
      problem: `holds a link that leads out of it: ${entry.name}`,
    });
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // it leads nowhere
  }
}

/** The path, when a real file is there and not a link. */
const ownFile = (path: string) =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ? [path] : [];

/** An asterisk in a path would grant what matches it. */
function refuseWildcard(path: string): void {
  if (path.includes("*"))
    throw new ConnectorError("CONNECTOR_INVALID", {
      path: "module",
      problem: "has an asterisk in the name of a file or folder",
    });
}

function codeFiles(root: string): string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.name === "node_modules" || entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      refuseWildcard(path);
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && codeExtensions.has(extname(entry.name))) found.push(path);
      if (found.length > maxCodeFiles) {
        throw new ConnectorError("CONNECTOR_INVALID", {
          path: "module",
          problem: `has more than ${maxCodeFiles} code files beside it`,
        });
      }
    }
  };
  visit(root);
  return found;
}
