/** A parent that may not be read any more: all that is asked about it is refused, for good. */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { mostAsked, type ParentListing, parentListings, refusing } from "../derive/rows/parents.ts";
import { readFrom, undisturbed } from "../derive/sweeps/reads.ts";

const sampledParents = 16;

export interface DeniedParent {
  /** "notes: every request with the id f1 of GET /v1/folders is answered 403". */
  readonly name: string;
  readonly undisturbed: Observation;
  readonly observation: Observation;
  isRefused(request: ProviderRequest): boolean;
}

interface Denial {
  readonly stream: StreamFacts;
  readonly parent: ParentListing;
  readonly whole: Observation;
}

/** Of each listing of parents the one with most below it; the others are answered as ever. */
export async function deniedParents(lab: Lab): Promise<readonly (DeniedParent | string)[]> {
  if (lab.database) return [];
  const denials: Denial[] = [];
  for (const stream of lab.streams.filter(({ recording }) => recording)) {
    const whole = await undisturbed(lab, stream);
    if (whole.outcome.status !== "succeeded") continue;
    for (const parent of await parentListings(lab, stream)) denials.push({ stream, parent, whole });
  }
  const runs: (DeniedParent | string)[] = [];
  for (const denial of lab.sample(denials, sampledParents)) runs.push(await deny(lab, denial));
  return runs;
}

async function deny(lab: Lab, { stream, parent, whole }: Denial): Promise<DeniedParent | string> {
  const denied = mostAsked(lab, parent, whole);
  if (!denied) return `${stream.label}: no answer about a row of ${parent.listing.id} has a body`;
  const observation = await readFrom(lab, stream, undefined, {
    provider: refusing(lab, denied, 403),
  });
  const name = `${stream.label}: every request with the id ${denied.key} of ${parent.listing.id} is answered 403`;
  if (observation.exchanges.some(({ unmatched }) => unmatched !== undefined))
    return `${name}, and the read asks for what was not recorded`;
  return { name, undisturbed: whole, observation, isRefused: denied.isAbout };
}
