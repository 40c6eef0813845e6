/**
 * A parent that may not be read any more: all that is asked about it is refused, for good. And one
 * that is there, while what lies below it is not found.
 */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import {
  isOfParentAlone,
  mostAsked,
  mostAskedLater,
  type ParentListing,
  parentListings,
  refusing,
  refusingBelow,
} from "../derive/rows/parents.ts";
import { readFrom, undisturbed } from "../derive/sweeps/reads.ts";
import type { RefusedRead } from "./error-05.refused-pages.ts";

const sampledParents = 16;
/** Parents below which nothing is found, by the status that says so. */
const sampledBelow = [
  { status: 404, most: 40 },
  { status: 410, most: 4 },
];

interface Denial {
  readonly stream: StreamFacts;
  readonly parent: ParentListing;
  readonly whole: Observation;
}

/** Of each listing of parents the one with most below it; the others are answered as ever. */
export async function deniedParents(lab: Lab): Promise<readonly (RefusedRead | string)[]> {
  if (lab.database) return [];
  const denials: Denial[] = [];
  for (const stream of lab.streams.filter(({ recording }) => recording)) {
    const whole = await undisturbed(lab, stream);
    if (whole.outcome.status !== "succeeded") continue;
    for (const parent of await parentListings(lab, stream)) denials.push({ stream, parent, whole });
  }
  const runs: (RefusedRead | string)[] = [];
  for (const denial of lab.sample(denials, sampledParents)) runs.push(await deny(lab, denial));
  for (const { status, most } of sampledBelow)
    for (const denial of lab.sample(denials, most))
      runs.push(...(await denyBelow(lab, denial, status)));
  return [...new Set(runs)];
}

async function deny(lab: Lab, { stream, parent, whole }: Denial): Promise<RefusedRead | string> {
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

/**
 * Not of the first parent: that nothing is found there may mean that the provider has no such rows
 * at all. Nothing is known of a connector that does not ask whether the parent is there: a thing
 * that is twice not found may count as gone.
 */
async function denyBelow(
  lab: Lab,
  { stream, parent, whole }: Denial,
  status: number,
): Promise<readonly (RefusedRead | string)[]> {
  const denied = mostAskedLater(lab, parent, whole);
  if (!denied) return [];
  const observation = await readFrom(lab, stream, undefined, {
    provider: refusingBelow(lab, parent, denied, status),
  });
  const { exchanges } = observation;
  const isSeen = exchanges.some(
    ({ request, answer }) =>
      denied.isAbout(request) && isOfParentAlone(denied, request) && answer?.status === 200,
  );
  const below = `${stream.label}: a row of ${parent.listing.id} is there, and nothing is found below it`;
  if (!isSeen) return [`${below}: the read does not ask for such a row`];
  if (exchanges.some(({ unmatched }) => unmatched !== undefined))
    return [`${below}: the read asks for what was not recorded`];
  const name = `${stream.label}: the id ${denied.key} of ${parent.listing.id} is there, and every request for what lies below it is answered ${status}`;
  const isRefused = (request: ProviderRequest) =>
    denied.isAbout(request) && !isOfParentAlone(denied, request);
  return [{ name, undisturbed: whole, observation, isRefused }];
}
