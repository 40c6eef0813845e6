/**
 * A connector whose provider is declared on this machine (`http://127.0.0.1:7788/v2`) is tried as
 * if it were declared at a public name: rules know https, names and foreign addresses, and the kit
 * answers every request itself.
 */
import { localUrlOf, type Manifest } from "svc-connectors/host";
import type { Fixtures } from "../fixtures/load.ts";

/** Nobody has this name (RFC 2606). */
const origin = "https://provider-on-this-machine.example";

export const standInFor = ({ pathname }: URL): URL => new URL(`${origin}${pathname}`);

/**
 * Recordings as if they had been made there. Answers stay: the connector reads them as they were.
 */
export function withStandIn(fixtures: Fixtures, manifest: Manifest | undefined): Fixtures {
  const local = manifest && localUrlOf(manifest.egress);
  if (!local) return fixtures;
  const moved = (url: string) =>
    url.startsWith(`${local.origin}/`) ? origin + url.slice(local.origin.length) : url;
  const recordings = fixtures.recordings.map((recording) => ({
    ...recording,
    interactions: recording.interactions.map(({ request, response }) => ({
      request: { ...request, url: moved(request.url) },
      response,
    })),
  }));
  return { ...fixtures, recordings };
}
