/** A page after rows that is refused for good, in a way that the manifest declares. */
import { valueAt } from "svc-connectors/host";
import type { Lab } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Exchange, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { type DeclaredError, declaredErrors } from "../derive/requests/own-errors.ts";
import {
  mostRefusals,
  type RequestPlace,
  requestKey,
  requestPlaces,
} from "../derive/requests/rate-limits.ts";
import { valuesOfRequest } from "../derive/requests/requested-values.ts";
import { keyOf, parentListings } from "../derive/rows/parents.ts";
import { treeOf } from "../derive/sweeps/pages.ts";

/** Errors that are tried, each on one page. */
const sampledErrors = 40;
/** Further pairs of a page and an error. */
const sampledPairs = 8;

/** Of a page below a parent it may be true: the parent was deleted meanwhile. */
const notFound = "RESOURCE_NOT_FOUND";

export interface RefusedRead {
  /** "notes, request 2 answered 400 with {…} for good", "notes: every request with the id f1 …". */
  readonly name: string;
  readonly undisturbed: Observation;
  readonly observation: Observation;
  isRefused(request: ProviderRequest): boolean;
}

interface LaterPage {
  readonly place: RequestPlace;
  /** The request has the key of a row of another listing. */
  readonly isBelowParent: boolean;
}

interface Refusal {
  readonly place: RequestPlace;
  readonly error: DeclaredError;
}

/** Each error on one page or another; the reasons where there is no error or no page. */
export async function refusedPages(lab: Lab): Promise<readonly (RefusedRead | string)[]> {
  if (lab.egress !== "http") return [];
  const errors = declaredErrors(lab);
  if (errors.length === 0)
    return ["an error of the provider's own on a later page: how it reports one is not declared"];
  const pages = await laterPages(lab);
  if (pages.length === 0)
    return ["an error of the provider's own on a later page: no recorded read has one"];
  const [first, further] = [new Set<Refusal>(), new Set<Refusal>()];
  for (const [index, error] of errors.entries()) {
    const own = pages.filter(({ isBelowParent }) => !isBelowParent || error.code !== notFound);
    for (const [at, { place }] of own.entries())
      (at === index % own.length ? first : further).add({ place, error });
  }
  const chosen = [
    ...lab.sample([...first], sampledErrors),
    ...lab.sample([...further], sampledPairs),
  ];
  const runs: RefusedRead[] = [];
  for (const refusal of chosen) runs.push(await refusePage(lab, refusal));
  return runs;
}

/** Of each recorded read and listing the second page, when the first one has rows. */
async function laterPages(lab: Lab): Promise<readonly LaterPage[]> {
  const reads = (await requestPlaces(lab)).filter(
    ({ command, whole }) => command.verb === "read" && whole.outcome.status === "succeeded",
  );
  const parentKeys = await keysOfParents(lab);
  return [...Map.groupBy(reads, ({ recording }) => recording).values()].flatMap((places) =>
    [...Map.groupBy(places, ({ exchange }) => lab.learned.listingOf(exchange.request))].flatMap(
      ([listing, [first, ...others]]) => {
        if (!listing || !first || !hasRows(listing, first.exchange)) return [];
        const key = requestKey(first.exchange.request);
        const place = others.find(({ exchange }) => requestKey(exchange.request) !== key);
        if (!place) return [];
        const values = valuesOfRequest(place.exchange.request);
        return [{ place, isBelowParent: values.some((value) => parentKeys.has(value)) }];
      },
    ),
  );
}

async function keysOfParents(lab: Lab): Promise<ReadonlySet<string>> {
  const keys = new Set<string>();
  for (const stream of lab.streams.filter(({ recording }) => recording))
    for (const { listing, keyField } of await parentListings(lab, stream))
      for (const row of listing.rows) keys.add(keyOf(row, keyField) ?? "");
  return keys;
}

function hasRows({ paging }: Listing, exchange: Exchange): boolean {
  const rows = "rows" in paging ? valueAt(treeOf(exchange), paging.rows) : undefined;
  return Array.isArray(rows) && rows.length > 0;
}

/** That page is refused, whenever it is asked for; the others are answered as ever. */
async function refusePage(lab: Lab, { place, error }: Refusal): Promise<RefusedRead> {
  const key = requestKey(place.exchange.request);
  const isRefused = (request: ProviderRequest) => requestKey(request) === key;
  const truth = lab.learned.provider();
  let left = mostRefusals;
  const observation = await lab.run(place.command, {
    provider: {
      answer(request) {
        if (!isRefused(request) || left === 0) return truth.answer(request);
        left--;
        return error.answer;
      },
      unused: () => [],
    },
  });
  const name = `${place.name} answered ${error.name} for good`;
  return { name, undisturbed: place.whole, observation, isRefused };
}
