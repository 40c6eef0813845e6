/** The input for a connector over the API, in the place of what there was or for a new one. */
import { hostNamePattern, parseImageName } from "svc-connectors/host";
import { Type } from "typebox";
import { type AddedConnector, imageOf } from "../connectors/added.ts";
import { type GivenImage, requireAllowed } from "../connectors/images.ts";
import { manifestPlace, type Place } from "../connectors/places.ts";
import { refused } from "../connectors/refused.ts";
import { refuseField } from "../contract/reasons.ts";
import type { ControlSettings } from "../services/settings.ts";
import { manifestFields } from "./instance-connectors.ts";

/** The fields of a request: a manifest, or an image and its hosts. */
export const givenFields = {
  manifest: Type.Optional(manifestFields.text),
  source_image: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 400,
      description:
        "An image of the Airbyte Protocol, with its digest: acme/source-shop@sha256:… The operator says which may be added.",
    }),
  ),
  allowed_hosts: Type.Optional(
    Type.Array(Type.String({ maxLength: 253, pattern: hostNamePattern }), {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: "Hosts that requests of the image may go to, by HTTPS. It reaches no others.",
    }),
  ),
};

interface Given {
  readonly manifest?: string | undefined;
  readonly source_image?: string | undefined;
  readonly allowed_hosts?: readonly string[] | undefined;
}

type Settings = Pick<ControlSettings, "images">;

/** @throws validation_failed, connector_refused */
export function toGiven({ images }: Settings, name: string, body: Given): Place | GivenImage {
  const { manifest: text, source_image: reference, allowed_hosts: hosts } = body;
  if (text !== undefined) {
    if (isOfImage(body)) throw invalid("source_image", "and manifest are two connectors: give one");
    return manifestPlace({ name, text });
  }
  if (reference === undefined)
    throw invalid("manifest", "is missing, and so is source_image: give one");
  if (hosts === undefined)
    throw invalid(
      "allowed_hosts",
      "is missing: an image reaches the hosts that it names, and no others",
    );
  return toGivenImage(images, { name, reference, hosts });
}

/**
 * The connector in place of another: what is not given stays.
 * @throws validation_failed, connector_refused
 */
export function toNewer(
  { images }: Settings,
  id: string,
  kept: Pick<AddedConnector, "place" | "image">,
  body: Given,
): Place | GivenImage {
  const image = imageOf(kept);
  if (image === null) {
    if (body.manifest === undefined || isOfImage(body))
      throw invalid("manifest", "is what this connector is made of");
    return manifestPlace({ name: kept.place, text: body.manifest });
  }
  if (body.manifest !== undefined) throw invalid("manifest", "is for manifests; this is an image");
  if (image.exposed.length > 0)
    throw refused("it gets secrets as they are: only svc connectors add may replace it");
  const { source_image: reference = image.id, allowed_hosts: hosts = image.hosts } = body;
  if (parseImageName(reference)?.repository !== kept.place)
    throw refused(`it is of ${kept.place}: an image of another repository is another connector`);
  return toGivenImage(images, { name: id.replace(/^conn_/, ""), reference, hosts });
}

const isOfImage = ({ source_image, allowed_hosts }: Given) =>
  (source_image ?? allowed_hosts) !== undefined;

/** @throws validation_failed without a digest, connector_refused when it is not allowed */
function toGivenImage(allowed: readonly string[], given: Omit<GivenImage, "exposed">): GivenImage {
  const { reference } = given;
  if (parseImageName(reference)?.digest === undefined)
    throw invalid(
      "source_image",
      "must name the image by its digest, so that it stays the same: acme/source-shop@sha256:…",
    );
  requireAllowed(reference, allowed);
  return { ...given, exposed: [] };
}

const invalid = (path: string, problem: string) => refuseField("validation_failed", path, problem);
