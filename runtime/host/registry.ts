/**
 * Where connectors are found. They are loaded by URL into a worker, never imported by the runtime.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference } from "../contract/host.ts";
import { packageRoot } from "../wire/location.ts";
import { type BuiltInConnector, readCards } from "./cards.ts";
import { findPackage } from "./package-closure.ts";

export const builtInSources = readCards("source");
export const builtInDestinations = readCards("destination");
export const builtInActivations = readCards("activation");

/** The module of a destination that comes with svc, by its name or id. @throws CONNECTOR_UNKNOWN */
export const findDestination = (wanted: string): ConnectorReference =>
  referenceOf(builtInDestinations.find(({ name, id }) => name === wanted || id === wanted));

/** The module of an activation that comes with svc, by its type. @throws CONNECTOR_UNKNOWN */
export const findActivationConnector = (wanted: string): ConnectorReference =>
  referenceOf(builtInActivations.find(({ type }) => type === wanted));

/** The name of a source or destination that comes with svc, as commands take it. */
export const builtInName = ({ url }: ConnectorReference): string | undefined =>
  [...builtInSources, ...builtInDestinations].find(({ reference }) => reference.url === url)?.name;

function referenceOf(connector: BuiltInConnector | undefined): ConnectorReference {
  if (!connector) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return connector.reference;
}

/**
 * The module of a connector, or its declarative manifest. `wanted` is a built-in's name, its id
 * (`conn_…`), its legacy alias (`source:<name>`), a file: URL, or a path: of a module, or of a
 * folder with a package.json that has `main`, or with index.ts, .mts, .js or .mjs, or of a package;
 * or the name of an installed package that asks for svc-connectors.
 * @throws CONNECTOR_UNKNOWN
 */
export function findConnector(wanted: string, cwd: string): ConnectorReference {
  const name = wanted.replace(/^source:/, "");
  const builtIn = builtInSources.find((one) => one.name === name || one.id === wanted);
  if (builtIn) return builtIn.reference;
  const path =
    (isPath(wanted) ? findModule(toPath(wanted, cwd)) : undefined) ??
    ownEntryOf(findPackage(wanted, cwd));
  if (path === undefined) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return { name: wanted, url: pathToFileURL(path).href };
}

/** Every other package would be called a broken connector, and a mistyped name with it. */
function ownEntryOf(folder: string | undefined): string | undefined {
  if (folder === undefined) return undefined;
  const { peerDependencies, dependencies } = readPackageJson(folder);
  const asked = { ...Object(dependencies), ...Object(peerDependencies) };
  return Object.hasOwn(asked, "svc-connectors") ? fileEntryOf(folder) : undefined;
}

/**
 * The module of a connector that is installed as a package, as an import from `folder` finds it, or
 * one from beside svc itself.
 * @throws CONNECTOR_UNKNOWN
 */
export function findInstalledConnector(name: string, folder: string): ConnectorReference {
  const found = findPackage(name, folder) ?? findPackage(name, packageRoot);
  const entry = found && fileEntryOf(found);
  if (entry === undefined) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return { name, url: pathToFileURL(entry).href };
}

function fileEntryOf(folder: string): string | undefined {
  const entry = entryOf(folder);
  return entry !== undefined && isFile(entry) ? entry : undefined;
}

/** The file that an import of a package by its name loads. @see Node's documentation of exports */
function entryOf(folder: string): string | undefined {
  const { exports, main } = readPackageJson(folder);
  const isTable = Object.keys(Object(exports)).some((key) => key.startsWith("."));
  const target = targetOf(isTable ? (exports as Record<string, unknown>)["."] : exports);
  const path = target ?? (exports === undefined && typeof main === "string" ? main : undefined);
  const entry = path === undefined ? undefined : join(folder, path);
  return entry?.startsWith(folder + sep) ? entry : undefined;
}

function targetOf(target: unknown): string | undefined {
  if (typeof target === "string") return target;
  const conditions = Object.entries(Object(target)).filter(([condition]) =>
    ["node", "import", "module-sync", "default"].includes(condition),
  );
  return conditions.map(([, one]) => targetOf(one)).find((path) => path !== undefined);
}

/** True for what names a place rather than a connector or a package. */
export const isPath = (text: string) =>
  /^\.{0,2}[/\\]|^\.{1,2}$|^file:|\.[cm]?[jt]s$|\.ya?ml$/.test(text) ||
  text.includes("/") ||
  isAbsolute(text);

function toPath(text: string, cwd: string): string {
  if (!text.startsWith("file:")) return resolve(cwd, text);
  try {
    return fileURLToPath(text);
  } catch {
    throw new ConnectorError("CONNECTOR_UNKNOWN");
  }
}

function findModule(path: string): string | undefined {
  if (isFile(path)) return path;
  const module = [mainOf(path), "index.ts", "index.mts", "index.js", "index.mjs"]
    .flatMap((name) => (name ? [join(path, name)] : []))
    .find(isFile);
  return module ?? fileEntryOf(path);
}

function mainOf(folder: string): string | undefined {
  const { main } = readPackageJson(folder);
  return typeof main === "string" ? main : undefined;
}

interface PackageJson {
  readonly exports?: unknown;
  readonly main?: unknown;
  readonly dependencies?: unknown;
  readonly peerDependencies?: unknown;
}

function readPackageJson(folder: string): PackageJson {
  try {
    return Object(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  } catch {
    return {};
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
