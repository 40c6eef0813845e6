/** Metadata of a connector that was added over the API: of a manifest, and of an image. */
import type { ContainedImage, Manifest } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { MissingStreams, reachesOf } from "../connectors/reach.ts";
import type { ConnectorDefinition } from "../connectors/registry.ts";
import type { OperationContext } from "../contract/operation.ts";
import { StrictObject, Time } from "../contract/schemas.ts";
import { administersInstance } from "../door/authorize.ts";

export const ManifestMetadata = StrictObject(
  {
    digest: Type.String({ description: "Of its text." }),
    updated_at: Time,
    reaches: Type.Array(Type.String(), { description: "Where its requests go." }),
    missing_streams: MissingStreams,
  },
  { title: "ManifestMetadata", description: "Of a declarative manifest that was added." },
);

export const toManifestMetadata = (
  digest: string,
  manifest: Manifest,
  updatedAt: Date,
): Static<typeof ManifestMetadata> => ({
  digest,
  updated_at: updatedAt.toISOString(),
  reaches: reachesOf(manifest),
  missing_streams: [...(manifest.missingStreams ?? [])],
});

/** Metadata of a declarative manifest; null of any other connector. */
export const manifestMetadataOf = ({
  added,
}: ConnectorDefinition): Static<typeof ManifestMetadata> | null =>
  added?.manifestText
    ? toManifestMetadata(added.manifestText.digest, added.manifest, added.updatedAt)
    : null;

export const ImageMetadata = StrictObject(
  {
    updated_at: Time,
    reaches: Type.Array(Type.String(), { description: "Where its requests go." }),
    exposed_secrets: Type.Array(Type.String(), {
      description:
        "Secret settings that the operator gives it as they are; others are placeholders.",
    }),
  },
  { title: "ImageMetadata", description: "Of an image that was added." },
);

export const toImageMetadata = (
  image: ContainedImage,
  manifest: Manifest,
  updatedAt: Date,
): Static<typeof ImageMetadata> => ({
  updated_at: updatedAt.toISOString(),
  reaches: reachesOf(manifest),
  exposed_secrets: [...image.exposed],
});

/**
 * Metadata of an image; nulls of any other connector. The image's id is for the instance's
 * administrators.
 */
export async function shownImage(ctx: OperationContext, { added }: ConnectorDefinition) {
  const nothing = { source_image: null, allowed_hosts: null, image_metadata: null };
  if (!added?.image) return nothing;
  const { image, manifest, updatedAt } = added;
  return {
    source_image: (await administersInstance(ctx)) ? image.id : null,
    allowed_hosts: [...image.hosts],
    image_metadata: toImageMetadata(image, manifest, updatedAt),
  };
}
