/** Where connectors lie that do not come with svc: a path, or an installed package. */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  ConnectorError,
  type ConnectorReference,
  findConnector,
  findInstalledConnector,
  type PinnedSandbox,
} from "svc-connectors/host";
import type { Tables } from "../store/tables.ts";

export interface Place {
  readonly kind: Tables["added_connectors"]["kind"];
  /** Absolute path of a module or of its folder, or a package's name. */
  readonly place: string;
}

/** A connector of the operator's own, as settings and programs name it. */
export type ConnectorDeclaration = (
  | { readonly path: string; readonly package?: undefined }
  | { readonly package: string; readonly path?: undefined }
) & {
  /** The code that was looked at: `svc connectors digest` shows it. */
  readonly digest: string;
  /**
   * The wall around it; default bubblewrap. `process` says that this code is trusted so far, for
   * hosts that have no bubblewrap.
   */
  readonly sandbox?: PinnedSandbox | undefined;
};

/** @param folder relative paths are below it */
export const toPlace = (
  {
    path,
    package: name,
  }: { readonly path?: string | undefined; readonly package?: string | undefined },
  folder: string,
): Place =>
  path === undefined
    ? { kind: "package", place: name ?? "" }
    : { kind: "path", place: resolve(folder, path) };

/** Said when {@link moduleAt} finds no package. */
export const noPackage = "no such package is installed; of a folder, name the path: ./name";

/**
 * The module that is there now. @param folder packages are looked up from it
 * @throws CONNECTOR_UNKNOWN
 */
export const moduleAt = async (
  { kind, place }: Place,
  folder: string,
): Promise<ConnectorReference> =>
  kind === "path" ? findConnector(place, folder) : findInstalledConnector(place, folder);

/** As {@link moduleAt}; where there is none now, a module that is not there. */
export async function moduleOrNone(place: Place, folder: string): Promise<ConnectorReference> {
  try {
    return await moduleAt(place, folder);
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    const path = place.kind === "path" ? place.place : join(folder, "node_modules", place.place);
    return { name: place.place, url: pathToFileURL(join(path, "index.js")).href };
  }
}
