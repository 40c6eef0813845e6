/**
 * Where connectors are found. They are loaded by URL into a worker, never imported by the runtime.
 */
import { readFileSync, statSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Egress } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { ConnectorReference } from "../contract/host.ts";
import { moduleEnding, runtimeFolder } from "../wire/location.ts";

/** A connector that comes with svc. */
export interface BuiltInConnector {
  readonly name: string;
  readonly id: string;
  readonly title: string;
  /** As its manifest says: known here, a run needs not load it twice. */
  readonly egress: Egress["kind"];
}

export const builtInConnectors: readonly BuiltInConnector[] = [
  {
    name: "mailer",
    id: "conn_mailer_product_edm",
    title: "Mailer: campaigns, subscribers and their activity",
    egress: "http",
  },
  {
    name: "postgres",
    id: "conn_postgres",
    title: "PostgreSQL: tables and views",
    egress: "postgres",
  },
  {
    name: "social",
    id: "conn_social",
    title: "Social: channels, posts and their metrics",
    egress: "http",
  },
  {
    name: "bankdata",
    id: "conn_bankdata",
    title: "Bank data: accounts, balances and transactions",
    egress: "http",
  },
  {
    name: "taskapp",
    id: "conn_taskapp",
    title: "Task app: spaces, lists, tasks and their activity",
    egress: "http",
  },
];

/** A destination that comes with svc. */
export interface BuiltInDestination {
  readonly name: string;
  readonly id: string;
  readonly title: string;
  /** Where it stands in `connectors/destinations/`. */
  readonly folder: string;
}

export const builtInDestinations: readonly BuiltInDestination[] = [
  {
    name: "duckdb",
    id: "conn_duckdb",
    title: "DuckDB: a database file beside the service",
    folder: "duckdb",
  },
  {
    name: "postgres-destination",
    id: "conn_postgres_destination",
    title: "PostgreSQL: tables in a database",
    folder: "postgres",
  },
];

/** The module of a destination that comes with svc, by its name or id. @throws CONNECTOR_UNKNOWN */
export function findDestination(wanted: string): ConnectorReference {
  const found = builtInDestinations.find(({ name, id }) => name === wanted || id === wanted);
  if (!found) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return { name: found.name, url: builtInUrl("destinations", found.folder) };
}

/** A row destination that comes with svc. */
export interface BuiltInActivation {
  /** As reverse ETL names it. */
  readonly type: string;
  readonly name: string;
  readonly title: string;
  /** Connectors whose credentials it takes. */
  readonly credentialsOf: readonly string[];
}

export const builtInActivations: readonly BuiltInActivation[] = [
  {
    type: "webhook",
    name: "webhook",
    title: "Webhook: signed batches of rows",
    credentialsOf: ["conn_webhook"],
  },
  {
    type: "postgres",
    name: "postgres-rows",
    title: "PostgreSQL: rows of a table",
    credentialsOf: ["conn_postgres", "conn_postgres_destination"],
  },
  {
    type: "mailer",
    name: "mailer-subscribers",
    title: "Mailer: subscribers of a list",
    credentialsOf: ["conn_mailer_product_edm"],
  },
];

/** The module of a row destination that comes with svc, by its type. @throws CONNECTOR_UNKNOWN */
export function findRowDestination(type: string): ConnectorReference {
  const found = builtInActivations.find((one) => one.type === type);
  if (!found) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return { name: found.name, url: builtInUrl("activations", found.type) };
}

/**
 * The module of a connector. `wanted` is a built-in's name, its id (`conn_…`), its legacy alias
 * (`source:<name>`), a file: URL, or a path: of a module, or of a folder with a package.json that
 * has `main`, or with index.ts, .mts, .js or .mjs.
 * @throws CONNECTOR_UNKNOWN
 */
export function findConnector(wanted: string, cwd: string): ConnectorReference {
  const name = wanted.replace(/^source:/, "");
  const builtIn = builtInConnectors.find((one) => one.name === name || one.id === wanted);
  if (builtIn) return { name: builtIn.name, url: builtInUrl("sources", builtIn.name) };
  if (!isPath(wanted)) throw new ConnectorError("CONNECTOR_UNKNOWN");
  const path = findModule(toPath(wanted, cwd));
  if (path === undefined) throw new ConnectorError("CONNECTOR_UNKNOWN");
  return { name: wanted, url: pathToFileURL(path).href };
}

/** Beside the runtime, as source or as built. */
function builtInUrl(folder: string, name: string): string {
  const module = join(runtimeFolder, "..", "connectors", folder, name, `index${moduleEnding}`);
  return pathToFileURL(module).href;
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
