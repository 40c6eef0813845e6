/** A connector as somebody gives it in the console: a declarative manifest, or an image. */
import type { schemas } from "../api/schema.ts";

export interface GivenConnector {
  readonly name: string;
  readonly way: "manifest" | "image";
  readonly manifest: string;
  readonly image: string;
  readonly hosts: readonly string[];
}

export const noConnector: GivenConnector = {
  name: "",
  way: "manifest",
  manifest: "",
  image: "",
  hosts: [],
};

/** The fields of a connector that was added, to be replaced. */
export const givenOf = (connector: schemas["ConnectorWithStreams"]): GivenConnector => ({
  name: connector.connector_id.replace(/^conn_/, "").replaceAll("_", "-"),
  way: connector.manifest === null ? "image" : "manifest",
  manifest: connector.manifest ?? "",
  image: connector.source_image ?? "",
  hosts: connector.allowed_hosts ?? [],
});

/** The connector as the API takes it. */
export const bodyOf = ({ way, manifest, image, hosts }: GivenConnector) =>
  way === "manifest"
    ? { manifest }
    : { source_image: image.trim(), allowed_hosts: hosts.map((host) => host.trim()) };

/** The most that the API takes. */
export const maxManifestLength = 1_000_000;

/**
 * A name in the form of the API's, of a file's or an image's: `source-shop.yaml` and
 * `acme/source-shop@sha256:…` are called shop.
 */
export const nameFrom = (text: string): string =>
  text
    .replace(/@.*$/, "")
    .replace(/^.*\//, "")
    .replace(/:[^:]*$/, "")
    .replace(/\.(ya?ml|json)$/i, "")
    .toLowerCase()
    .replace(/^source[-_.]/, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-+|-+$/g, "");

/** Missing or wrong fields, by the API's names; the rest is for the API to say. */
export function faultsOfGiven(given: GivenConnector): Readonly<Record<string, string>> {
  const { name, way, manifest, image, hosts } = given;
  const faults: Record<string, string> = {};
  if (!/^[a-z0-9]([a-z0-9_-]{0,58}[a-z0-9])?$/.test(name))
    faults.name = "Small letters, digits and hyphens, at most 60.";
  if (way === "manifest") {
    if (manifest.trim() === "") faults.manifest = "Choose its file, or paste its text.";
    else if (manifest.length > maxManifestLength)
      faults.manifest = "It is longer than a million characters.";
    return faults;
  }
  if (!/@sha256:[0-9a-f]{64}$/.test(image.trim()))
    faults.source_image =
      "Name it by its digest, so that it stays the same: acme/source-shop@sha256:…";
  if (hosts.length === 0) faults.allowed_hosts = "Name at least one: it reaches no others.";
  return faults;
}
