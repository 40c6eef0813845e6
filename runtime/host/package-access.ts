/**
 * Which paths of the installed packages a worker may read. Node's permission model looks at a path
 * before it follows links, so a folder is opened as a whole only when nothing that it holds, and
 * nothing that its links lead to, is svc itself: what a worker imports of that is the sandbox's
 * part of this package, whichever copy is installed.
 */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { ConnectorError } from "../contract/errors.ts";
import { packageRoot } from "../wire/location.ts";

/** More than the largest installations that were seen have; a walk ends in seconds. */
const maxEntries = 1_000_000;
/** All of them stand on the worker's command line. */
const maxPaths = 5_000;

interface Link {
  readonly path: string;
  readonly target: string;
}

/**
 * Paths for `--allow-fs-read` of the packages that an import from `folder` finds; folders end with
 * a separator.
 * @throws CONNECTOR_INVALID when a link leads out of the installed packages
 */
export function packagePaths(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder; at !== dirname(at); at = dirname(at)) {
    const packages = at.endsWith(`${sep}node_modules`) ? at : join(at, "node_modules");
    if (!lstatSync(packages, { throwIfNoEntry: false })?.isDirectory()) continue;
    const known = readableOf.get(packages) ?? readablePathsIn(packages);
    readableOf.set(packages, known);
    found.push(...known);
  }
  return found;
}

/** Looked at once, since an installation does not change while it runs. */
const readableOf = new Map<string, readonly string[]>();

function readablePathsIn(packages: string): readonly string[] {
  const hidden = hiddenEntries(packages);
  const links = linksIn(packages, hidden);
  const installed = join(packages, "svc-connectors");
  for (const { path, target } of links) {
    if (path === installed || target === packageRoot || isWithin(target, packages)) continue;
    throw invalid(`holds a link that leads out of it: ${path.slice(packages.length + 1)}`);
  }
  const isInstalled = lstatSync(installed, { throwIfNoEntry: false }) !== undefined;
  const svc = isInstalled ? [packageRoot, installed] : [packageRoot];
  const closed = closedPlaces(links, svc, hidden);
  const readable: string[] = [];
  const isOpen = (path: string) => !closed.some((place) => isWithin(place, path));
  const open = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (closed.includes(path)) continue;
      if (entry.isFile()) readable.push(path);
      else if (isOpen(path)) readable.push(path + sep);
      else open(path);
      if (readable.length > maxPaths) throw invalid(`holds more than ${maxPaths} packages`);
    }
  };
  open(packages);
  return readable;
}

/**
 * Caches, lock files and commands of package managers and tools, which change while others work;
 * pnpm keeps the packages themselves so.
 */
const hiddenEntries = (packages: string): readonly string[] =>
  readdirSync(packages)
    .filter((name) => name.startsWith(".") && name !== ".pnpm")
    .map((name) => join(packages, name));

/** The places of svc, those that are hidden, and the links by which one could come to them. */
function closedPlaces(
  links: readonly Link[],
  svc: readonly string[],
  hidden: readonly string[],
): readonly string[] {
  const closed = [...svc, ...hidden];
  for (let isGrowing = true; isGrowing; ) {
    isGrowing = false;
    for (const { path, target } of links) {
      const leadsThere =
        closed.some((place) => isWithin(place, target)) ||
        hidden.some((place) => isWithin(target, place));
      if (closed.includes(path) || !leadsThere) continue;
      closed.push(path);
      isGrowing = true;
    }
  }
  return closed;
}

/**
 * Every link below, with where it ends; those that end nowhere are left out, and those in hidden
 * entries.
 */
function linksIn(root: string, hidden: readonly string[]): Link[] {
  const links: Link[] = [];
  let entries = 0;
  const waiting = [root];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (++entries > maxEntries) throw invalid(`holds more than ${maxEntries} files`);
      const path = join(folder, entry.name);
      if (hidden.includes(path)) continue;
      if (entry.isDirectory()) waiting.push(path);
      if (!entry.isSymbolicLink()) continue;
      const target = realPath(path);
      if (target !== undefined) links.push({ path, target });
    }
  }
  return links;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(folder + sep);

const invalid = (problem: string) =>
  new ConnectorError("CONNECTOR_INVALID", { path: "node_modules", problem });
