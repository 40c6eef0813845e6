/**
 * Listings whose rows a read asks for more about (folders and their notes, channels and their
 * posts), and providers whose parents come, go and change places.
 */
import { valueAt } from "svc-connectors/host";
import type { Lab, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderRow } from "../../contract/learned.ts";
import type { Answer, Provider, ProviderRequest } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import { jsonLeaves, scalarText, toText, withValue } from "../../learn/json.ts";
import { decodedSegment, requestedValues, valuesOfRequest } from "../requests/requested-values.ts";
import { errorAnswer } from "../sweeps/faults.ts";
import { listingsOf } from "../sweeps/pages.ts";
import { undisturbed } from "../sweeps/reads.ts";
import { cursorColumn, underKey } from "./cursors.ts";
import { momentOf, writeLike } from "./moments.ts";

export interface ParentListing {
  readonly listing: Listing;
  /** Pointer to what stands in the requests for a parent's rows. */
  readonly keyField: string;
}

/** Of the stream's read from the beginning: parents, each of which is asked for by its key. */
export async function parentListings(
  lab: Lab,
  stream: StreamFacts,
): Promise<readonly ParentListing[]> {
  const whole = await undisturbed(lab, stream);
  const own = (await cursorColumn(lab, stream))?.listings ?? [];
  const requested = requestedValues(whole);
  return listingsOf(lab, whole)
    .filter((listing) => !own.includes(listing) && listing.rows.length > 0)
    .flatMap((listing) => {
      const keyField = fieldsOf(listing).find((field) => {
        if (listing.rows.length === 1 && !nameOfKey.test(field)) return false;
        const texts = listing.rows.map((row) => keyOf(row, field));
        return (
          new Set(texts).size === texts.length &&
          texts.every((text) => text !== undefined && text.length > 1 && requested.has(text))
        );
      });
      return keyField === undefined ? [] : [{ listing, keyField }];
    });
}

/** Of a single row any value of which is asked for could be the key, but for its name. */
const nameOfKey = /[/_](id|uuid|gid|key)$/;

/** A key is no true or false, though requests have those, too. */
const fieldsOf = ({ rows }: Listing) =>
  [...jsonLeaves(rows[0] ?? {})].flatMap(([field, value]) =>
    typeof value === "boolean" ? [] : [field],
  );

export const keyOf = (row: ProviderRow | undefined, field: string): string | undefined =>
  scalarText(valueAt(row, field));

/** The field with the latest time that a parent says of itself; the digits of a key are none. */
export const newestField = (row: ProviderRow | undefined): string | undefined =>
  [...jsonLeaves(row ?? {})]
    .filter(([field, leaf]) => !nameOfKey.test(field) && momentOf(leaf)?.kind === "time")
    .toSorted(
      ([, one], [, two]) => (momentOf(two)?.value ?? 0) - (momentOf(one)?.value ?? 0),
    )[0]?.[0];

/** The parent's own newest time goes on with what happens below it. */
export function touched(row: ProviderRow, ms: number | undefined): ProviderRow {
  const field = newestField(row);
  if (ms === undefined || field === undefined) return row;
  return withValue(row, field, writeLike(valueAt(row, field), ms)) as ProviderRow;
}

/** A parent, and the requests about it. */
export interface AskedParent {
  readonly key: string;
  readonly row: ProviderRow;
  /** Bytes that the read got about it. */
  readonly size: number;
  isAbout(request: ProviderRequest): boolean;
}

/** The parent about which a read got most. */
export const mostAsked = (
  lab: Lab,
  parent: ParentListing,
  whole: Observation,
): AskedParent | undefined => largest(askedParents(lab, parent, whole));

/** The parent about which a read got most, but for the one about which it asked first. */
export function mostAskedLater(
  lab: Lab,
  parent: ParentListing,
  whole: Observation,
): AskedParent | undefined {
  const asked = askedParents(lab, parent, whole);
  const first = whole.exchanges.find(({ request }) => asked.some((one) => one.isAbout(request)));
  return first && largest(asked.filter(({ isAbout }) => !isAbout(first.request)));
}

const largest = (parents: readonly AskedParent[]) =>
  parents.toSorted((one, other) => other.size - one.size)[0];

function askedParents(
  lab: Lab,
  { listing, keyField }: ParentListing,
  { exchanges }: Observation,
): readonly AskedParent[] {
  return listing.rows.flatMap((row): AskedParent[] => {
    const key = keyOf(row, keyField);
    if (key === undefined) return [];
    const isAbout = (request: ProviderRequest) =>
      lab.learned.listingOf(request) !== listing && valuesOfRequest(request).includes(key);
    const size = exchanges
      .filter(({ request }) => isAbout(request))
      .reduce((sum, { answer }) => sum + (answer?.body.length ?? 0), 0);
    return size > 0 ? [{ key, row, size, isAbout }] : [];
  });
}

/** The request asks for the parent itself, not for what lies below it. */
export const isOfParentAlone = ({ key }: AskedParent, { url }: ProviderRequest): boolean =>
  decodedSegment(url.pathname.split("/").at(-1) ?? "") === key;

/** Refuses every request about the parent, also for what was never recorded, as its own row. */
export function refusing(lab: Lab, { isAbout }: AskedParent, status: number): Provider {
  const provider = lab.learned.provider();
  return {
    answer: (request) => (isAbout(request) ? errorAnswer(lab, status) : provider.answer(request)),
    unused: () => provider.unused(),
  };
}

/**
 * Refuses every request for what lies below the parent, while its own address gives its row, in the
 * form of its listing where it was not recorded.
 */
export function refusingBelow(
  lab: Lab,
  { listing }: ParentListing,
  parent: AskedParent,
  status: number,
): Provider {
  const refusal = refusing(lab, parent, status);
  const truth = lab.learned.provider();
  const pointer = "rows" in listing.paging ? listing.paging.rows : "";
  const row = pointer === "" ? parent.row : withValue({}, pointer, parent.row);
  const found: Answer = {
    status: 200,
    headers: { "content-type": "application/json" },
    body: Buffer.from(toText(row)),
  };
  return {
    answer(request) {
      if (!isOfParentAlone(parent, request)) return refusal.answer(request);
      const answer = truth.answer(request);
      return "unmatched" in answer ? found : answer;
    },
    unused: () => truth.unused(),
  };
}

/** A parent that was never there, with the rows of one that was. */
export interface MadeUpParent {
  readonly row: ProviderRow;
  readonly key: string;
  readonly like: string;
}

export function madeUpParent(
  { keyField }: ParentListing,
  model: ProviderRow | undefined,
  number: number,
): MadeUpParent | undefined {
  const row = model && underKey(model, { keyFields: [keyField] }, number);
  const [key, like] = [keyOf(row, keyField), keyOf(model, keyField)];
  return row && key !== undefined && like !== undefined ? { row, key, like } : undefined;
}

/** Answers what is asked about a made-up parent as about the one that it is like. */
export function withMadeUp(provider: Provider, parents: readonly MadeUpParent[]): Provider {
  return {
    answer(request) {
      const texts = (text: string) =>
        parents.reduce(
          (done, { key, like }) =>
            done
              .replaceAll(key, like)
              .replaceAll(encodeURIComponent(key), encodeURIComponent(like)),
          text,
        );
      return provider.answer({
        ...request,
        url: new URL(texts(request.url.href)),
        body: texts(request.body),
      });
    },
    unused: () => provider.unused(),
  };
}
