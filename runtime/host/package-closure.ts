/**
 * The installed packages that a package asks for, theirs, and so on, found as Node finds them: all
 * code besides its own that a connector from outside may run. svc itself is not followed.
 */
import { statSync } from "node:fs";
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { ConnectorError } from "../contract/errors.ts";
import { refuseWildcard } from "./code-access.ts";

/** One of them, wherever it is installed. */
export interface InstalledPackage {
  /** `name@version`; the package that asks first has no label. */
  readonly label: string;
  /** Its real folder. */
  readonly folder: string;
  /** Other paths by which it is found. */
  readonly links: Set<string>;
  /**
   * All of it but the packages in its own node_modules, below its folder; folders end with a
   * separator.
   */
  readonly parts: readonly string[];
  /** Labels of the packages that it asks for and that are there. */
  readonly needs: Set<string>;
}

const ownName = "svc-connectors";
/** More than the largest closure that was seen has. */
const maxPackages = 2_000;
const nameForm = /^(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*$/i;

/**
 * The package in `root` itself comes first.
 * @throws CONNECTOR_INVALID when one lies outside of every node_modules, or there are too many
 */
export async function packageClosure(root: string): Promise<readonly InstalledPackage[]> {
  const found = new Map<string, InstalledPackage>();
  const add = async (label: string, folder: string) => {
    const parts = await partsOf(folder);
    const one = { label, folder, links: new Set<string>(), parts, needs: new Set<string>() };
    found.set(folder, one);
    if (found.size > maxPackages) throw invalid(`asks for more than ${maxPackages} packages`);
    return one;
  };
  const waiting = [await add("", root)];
  for (let asking = waiting.pop(); asking; asking = waiting.pop()) {
    for (const name of (await readPackageJson(asking.folder)).dependencies) {
      // Whichever is installed: an import of it gets the svc that runs.
      if (name === ownName) continue;
      const path = findPackage(name, asking.folder);
      if (path === undefined) continue;
      const folder = await realpath(path);
      let one = found.get(folder);
      if (!one) {
        one = await add(await labelOf(name, folder), folder);
        waiting.push(one);
      }
      if (path !== folder) one.links.add(path);
      asking.needs.add(one.label);
    }
  }
  return [...found.values()];
}

async function partsOf(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  if (!entries.some(({ name }) => name === "node_modules")) return [sep];
  return entries
    .filter(({ name }) => name !== "node_modules")
    .map((entry) => join(sep, entry.name) + (entry.isDirectory() ? sep : ""));
}

/** The folder of an installed package, as an import from `folder` finds it; it may be a link. */
export function findPackage(name: string, folder: string): string | undefined {
  if (!nameForm.test(name)) return undefined;
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, "node_modules", name);
    if (basename(at) !== "node_modules" && isFolder(path)) return path;
    if (at === dirname(at)) return undefined;
  }
}

async function labelOf(name: string, folder: string): Promise<string> {
  // A folder of somebody's work may hold more than a package does.
  if (!folder.includes(`${sep}node_modules${sep}`))
    throw invalid(`has a link to ${name}, which lies outside: install that package`);
  return `${name}@${(await readPackageJson(folder)).version}`;
}

interface PackageJson {
  readonly version: string;
  readonly dependencies: readonly string[];
}

/** The names and dependencies of a package; without a package.json it asks for nothing. */
async function readPackageJson(folder: string): Promise<PackageJson> {
  let json: Readonly<Record<string, unknown>>;
  try {
    json = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) ?? {};
  } catch {
    json = {};
  }
  const dependencies = ["dependencies", "peerDependencies", "optionalDependencies"].flatMap(
    (kind) => Object.keys(Object(json[kind])),
  );
  return { version: String(json.version), dependencies };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Paths for `--allow-fs-read`; folders end with a separator. What a worker runs of svc itself is
 * open to each.
 * @throws CONNECTOR_INVALID
 */
export function closurePaths(packages: readonly InstalledPackage[]): readonly string[] {
  const paths = packages.flatMap(({ label, folder, links, parts }) => {
    // Behind a link a folder can be open as a whole only.
    if (links.size > 0 && !parts.includes(sep))
      throw invalid(`has a link to ${label}, which has packages of its own: install it anew`);
    return [folder, ...links].flatMap((path) => parts.map((part) => path + part));
  });
  for (const path of paths) refuseWildcard(path);
  return paths;
}

/** A file, with what tells whether it is still the same. */
export interface PackageFile {
  /** Below the folder, with slashes. */
  readonly name: string;
  readonly path: string;
  readonly size: number;
  readonly stamp: string;
}

/**
 * The files of a package without the packages in its own node_modules.
 * @throws CONNECTOR_INVALID when there is a link or a device
 */
export async function packageFiles(folder: string): Promise<readonly PackageFile[]> {
  const found: PackageFile[] = [];
  const waiting = [""];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const name = below === "" ? entry.name : `${below}/${entry.name}`;
      if (name === "node_modules") continue;
      if (entry.isDirectory()) waiting.push(name);
      else if (entry.isFile()) found.push(await fileAt(folder, name));
      else throw invalid(`has a package with a link in it: ${basename(folder)}/${name}`);
    }
  }
  return found;
}

/** @throws what `lstat` throws */
export async function fileAt(folder: string, name: string): Promise<PackageFile> {
  const path = join(folder, name);
  const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
  const stamp = [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  return { name, path, size: Number(size), stamp };
}

const invalid = (problem: string) =>
  new ConnectorError("CONNECTOR_INVALID", { path: "node_modules", problem });
