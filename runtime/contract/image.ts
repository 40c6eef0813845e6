/**
 * Images that speak the Airbyte Protocol: what the host knows of them, and what the worker is told.
 */
import type { ErrorRecord } from "./errors.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** An image as the host runs it: nothing in a connector's own words can name one. */
export interface ContainedImage {
  /**
   * Its permanent name: `sha256:…`, as the Docker of this machine knows it, or the
   * `repository@sha256:…` of one that any machine may run.
   */
  readonly id: string;
  /** `uid:gid`, or undefined for the image's own. */
  readonly user: string | undefined;
  /** Names that requests may go to, by TLS on port 443. */
  readonly hosts: readonly string[];
  /** Paths of secret settings that the image gets as they are. */
  readonly exposed: readonly string[];
}

/**
 * The memory of a container where a connector's heap may have so much: an interpreter, and data.
 */
export const imageMemoryMb = (heapMb: number): number => heapMb + 512;

/** Of {@link ContainedImage.hosts}, of at most 253 characters. */
export const hostNamePattern = "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]*$";

/** The document of a connector that is an image: the worker makes a source of it. */
export interface ImageDocument {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly documentationUrl?: string | undefined;
  /** `connectionSpecification` of its SPEC message. */
  readonly spec: JsonObject;
  readonly hosts: readonly string[];
}

/** The worker's command to the image: one run of its program. */
export interface ImageCommand {
  readonly verb: "check" | "discover" | "read";
  /** For read: a ConfiguredAirbyteCatalog. */
  readonly catalog?: JsonObject | undefined;
  /** For read: a list of AirbyteStateMessages, or what stood in a message of the old form. */
  readonly state?: JsonValue | undefined;
}

/** How a run of the program ended, in the host's words. */
export interface ImageEnding {
  readonly exitCode: number;
  /** The failure of the last request, when that was no success. */
  readonly refusal?: ErrorRecord | undefined;
  /** The host has ended it, or could not start it. */
  readonly error?: ErrorRecord | undefined;
}
