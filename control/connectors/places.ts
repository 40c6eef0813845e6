/**
 * Where connectors lie that do not come with svc: a path, an installed package, the text of a
 * declarative manifest, or an image.
 */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  ConnectorError,
  type ConnectorReference,
  type ContainedImage,
  findConnector,
  findInstalledConnector,
  type PinnedSandbox,
} from "svc-connectors/host";
import type { Tables } from "../store/tables.ts";

export interface Place {
  readonly kind: Tables["added_connectors"]["kind"];
  /**
   * Absolute path of a module or of its folder, the name of a package or manifest, or the
   * repository of an image.
   */
  readonly place: string;
  /** The text of a manifest, or what an image says of itself. Null: it is code. */
  readonly document: string | null;
  /** Null: it is none. */
  readonly image: ContainedImage | null;
}

/** Characters of a declarative manifest: a request has 1 MiB. */
export const maxManifestLength = 1_000_000;

/** A declarative manifest as it is given: the text, and what its connector is to be called. */
export interface GivenManifest {
  readonly name: string;
  readonly text: string;
}

/** A manifest has no other place than its name. */
export const manifestPlace = ({ name, text }: GivenManifest): Place => ({
  kind: "manifest",
  place: name,
  document: text,
  image: null,
});

/** An image, by its repository. */
export interface DeclaredImage {
  readonly image: string;
  readonly path?: undefined;
  readonly package?: undefined;
  /** Hosts that its requests may go to. */
  readonly hosts: readonly string[];
  /** Secret settings that it gets as they are. */
  readonly exposed: readonly string[];
}

/** A connector of the operator's own, as settings and programs name it. */
export type ConnectorDeclaration = (
  | { readonly path: string; readonly package?: undefined; readonly image?: undefined }
  | { readonly package: string; readonly path?: undefined; readonly image?: undefined }
  | DeclaredImage
) & {
  /** The code, or the image, that was looked at: `svc connectors digest` shows it. */
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
    image,
  }: {
    readonly path?: string | undefined;
    readonly package?: string | undefined;
    readonly image?: string | undefined;
  },
  folder: string,
): Place => {
  const nothing = { document: null, image: null };
  if (image !== undefined) return { kind: "image", place: image, ...nothing };
  if (path === undefined) return { kind: "package", place: name ?? "", ...nothing };
  return { kind: "path", place: resolve(folder, path), ...nothing };
};

/** Said when {@link moduleAt} finds no package. */
export const noPackage = "no such package is installed; of a folder, name the path: ./name";

/**
 * The module that is there now. @param folder packages are looked up from it
 * @throws CONNECTOR_UNKNOWN
 */
export const moduleAt = async (
  { kind, place, document, image }: Place,
  folder: string,
): Promise<ConnectorReference> => {
  if (document !== null && image !== null)
    return { name: place, url: `image:${place}`, document, container: image };
  if (document !== null) return { name: place, url: `manifest:/${place}/manifest.yaml`, document };
  return kind === "path" ? findConnector(place, folder) : findInstalledConnector(place, folder);
};

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
