/** A parent that may not be read any more: all that is asked about it is refused, for good. */
import type { Lab, StreamFacts } from "../contract/lab.ts";
import type { ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { valuesOfRequest } from "../derive/requests/requested-values.ts";
import { keyOf, type ParentListing, parentListings } from "../derive/rows/parents.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";
import { readFrom, undisturbed } from "../derive/sweeps/reads.ts";

const sampledParents = 16;

export interface DeniedParent {
  /** "notes: every request with the id f1 of GET /v1/folders is answered 403". */
  readonly name: string;
  readonly undisturbed: Observation;
  readonly observation: Observation;
  isDenied(request: ProviderRequest): boolean;
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
  const { listing, keyField } = parent;
  const hasKey = (request: ProviderRequest, key: string) =>
    lab.learned.listingOf(request) !== listing && valuesOfRequest(request).includes(key);
  const sizeBelow = (key: string) =>
    whole.exchanges
      .filter(({ request }) => hasKey(request, key))
      .reduce((sum, { answer }) => sum + (answer?.body.length ?? 0), 0);
  const keys = listing.rows.flatMap((row) => keyOf(row, keyField) ?? []);
  const [key = ""] = keys.toSorted((one, other) => sizeBelow(other) - sizeBelow(one));
  const isDenied = (request: ProviderRequest) => hasKey(request, key);
  const provider = lab.learned.provider();
  const observation = await readFrom(lab, stream, undefined, {
    provider: {
      ...provider,
      // also what was never recorded, as the parent itself
      answer: (request) => (isDenied(request) ? errorAnswer(lab, 403) : provider.answer(request)),
    },
  });
  const name = `${stream.label}: every request with the id ${key} of ${listing.id} is answered 403`;
  if (observation.exchanges.some(({ unmatched }) => unmatched !== undefined))
    return `${name}, and the read asks for what was not recorded`;
  return { name, undisturbed: whole, observation, isDenied };
}
