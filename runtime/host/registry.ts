/**
 * Where connectors are found. They are loaded by URL into a worker, never imported by the runtime.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference } from "../contract/host.ts";
import { type BuiltInConnector, readCards } from "./cards.ts";

export const builtInSources = readCards("source");
export const builtInDestinations = readCards("destination");
export const builtInActivations = readCards("activation");

/** The module of a destination that comes with svc, by its name or id. @throws CONNECTOR_UNKNOWN */
export const findDestination = (wanted: string): ConnectorReference =>
  referenceOf(builtInDestinations.find(({ name, id }) => name === wanted || id === wanted));

/** The module of an activation that comes with svc, by its type. @throws CONNECTOR_UNKNOWN */
export const findActivationConnector = (wanted: string): ConnectorReference =>
  referenceOf(builtInActivations.find(({ type }) => type === wanted));

function referenceOf(connector: BuiltInConnector | undefined): ConnectorReference {
  if (!connector) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return connector.reference;
}

/**
 * The module of a connector. `wanted` is a built-in's name, its id (`conn_…`), its legacy alias
 * (`source:<name>`), a file: URL, or a path: of a module, or of a folder with a package.json that
 * has `main`, or with index.ts, .mts, .js or .mjs.
 * @throws CONNECTOR_UNKNOWN
 */
export function findConnector(wanted: string, cwd: string): ConnectorReference {
  const name = wanted.replace(/^source:/, "");
  const builtIn = builtInSources.find((one) => one.name === name || one.id === wanted);
  if (builtIn) return builtIn.reference;
  if (!isPath(wanted)) throw new ConnectorError("CONNECTOR_UNKNOWN");
  const path = findModule(toPath(wanted, cwd));
  if (path === undefined) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return { name: wanted, url: pathToFileURL(path).href };
}

const isPath = (text: string) =>
  /^\.{0,2}[/\\]|^\.{1,2}$|^file:|\.[cm]?[jt]s$/.test(text) ||
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
  return [mainOf(path), "index.ts", "index.mts", "index.js", "index.mjs"]
    .flatMap((name) => (name ? [join(path, name)] : []))
    .find(isFile);
}

function mainOf(folder: string): string | undefined {
  try {
    const { main } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      main?: unknown;
    };
    return typeof main === "string" ? main : undefined;
  } catch {
    return undefined;
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
