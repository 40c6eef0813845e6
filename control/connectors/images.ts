/**
 * Images of the Airbyte Protocol as connectors: which of them the operator allows, and what is kept
 * of one.
 * @see docs/decisions/0068
 */
import {
  type ContainedImage,
  findImage,
  imageMemoryMb,
  openImage,
  parseImageName,
} from "svc-connectors/host";
import type { DeclaredImage, Place } from "./places.ts";
import { refused } from "./refused.ts";

/** An image as it is given: which, what its connector is to be called, and what it may. */
export interface GivenImage {
  readonly name: string;
  /** A name that a registry could have, with its tag or its digest. */
  readonly reference: string;
  /** Hosts that its requests may go to. */
  readonly hosts: readonly string[];
  /** Secret settings that it gets as they are; the others are placeholders. */
  readonly exposed: readonly string[];
}

/** Heap of an image's run: as much as a connector of code has by default; MiB. */
const heapMb = 512;

/**
 * Asks its program for its spec, once: what it says is kept, and every host runs this very image.
 * @throws connector_refused; what Docker and the image may come to
 */
export async function imagePlace(
  { name, reference, hosts, exposed }: GivenImage,
  {
    digest,
    signal,
  }: { readonly digest?: string | undefined; readonly signal?: AbortSignal | undefined },
): Promise<Place> {
  const named = parseImageName(reference);
  if (!named) throw refused(`there is no image of the name ${reference.slice(0, 300)}`);
  const { repository, tag } = named;
  // Without a tag nothing but the digest says which one is meant.
  const wanted = digest !== undefined && tag === undefined ? `${repository}@${digest}` : reference;
  const found = await openImage(wanted, {
    ...{ hosts, exposed, name, signal, isShared: true },
    memoryMb: imageMemoryMb(heapMb),
  });
  const image = found.container as ContainedImage;
  if (digest !== undefined && digestOf(image) !== digest)
    throw refused(`its image is another than expected: ${digestOf(image)}`);
  return { kind: "image", place: repository, document: found.document ?? "", image };
}

/** `sha256:…` of the image that is kept. */
export const digestOf = ({ id }: ContainedImage): string => id.replace(/^.*@/, "");

/** The digest of the image of that name, which may be pulled for it. */
export async function imageDigest(reference: string, signal?: AbortSignal): Promise<string> {
  return (await findImage(reference, signal)).digest;
}

/** In the form that ids take: `acme/source-shop:1.4` is called shop. */
export const nameOfImage = (reference: string): string =>
  (parseImageName(reference)?.repository ?? "")
    .replace(/^.*\//, "")
    .replace(/^source[-_.]/, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-+|-+$/g, "");

/** Whether what is kept is what the settings declare. */
export const isDeclared = (
  { id, hosts, exposed }: ContainedImage,
  declared: DeclaredImage & { readonly digest: string },
): boolean =>
  JSON.stringify([id, hosts, exposed]) ===
  JSON.stringify([`${declared.image}@${declared.digest}`, declared.hosts, declared.exposed]);

/**
 * Over the API only what the operator allows is pulled and run: a repository, all below a prefix
 * (`acme/*`), or one image with its digest. @throws connector_refused
 */
export function requireAllowed(reference: string, allowed: readonly string[]): void {
  const repository = parseImageName(reference)?.repository ?? "";
  const isAllowed = allowed.some(
    (one) =>
      one === repository ||
      one === reference ||
      (one.endsWith("/*") && repository.startsWith(one.slice(0, -1))),
  );
  if (!isAllowed)
    throw refused(
      allowed.length === 0
        ? "the operator allows no images over the API: name those that may be added under images in the settings, or use svc connectors add image:NAME"
        : "the operator does not allow this image over the API: images in the settings has the list",
    );
}
