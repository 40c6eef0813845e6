/**
 * Listings whose rows a read asks for more about (folders and their notes, channels and their
 * posts), and providers whose parents come, go and change places.
 */
import { valueAt } from "svc-connectors/host";
import type { Lab, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderRow } from "../../contract/learned.ts";
import type { Provider, ProviderRequest } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import { jsonLeaves, scalarText, withValue } from "../../learn/json.ts";
import { requestedValues, valuesOfRequest } from "../requests/requested-values.ts";
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
  /** Bytes that the read got about it. */
  readonly size: number;
  isAbout(request: ProviderRequest): boolean;
}

/** The parent about which a read got most. */
export function mostAsked(
  lab: Lab,
  { listing, keyField }: ParentListing,
  { exchanges }: Observation,
): AskedParent | undefined {
  const asked = listing.rows.flatMap((row): AskedParent[] => {
    const key = keyOf(row, keyField);
    if (key === undefined) return [];
    const isAbout = (request: ProviderRequest) =>
      lab.learned.listingOf(request) !== listing && valuesOfRequest(request).includes(key);
    const size = exchanges
      .filter(({ request }) => isAbout(request))
      .reduce((sum, { answer }) => sum + (answer?.body.length ?? 0), 0);
    return size > 0 ? [{ key, size, isAbout }] : [];
  });
  return asked.toSorted((one, other) => other.size - one.size)[0];
}

/** Refuses every request about the parent, also for what was never recorded, as its own row. */
export function refusing(lab: Lab, { isAbout }: AskedParent, status: number): Provider {
  const provider = lab.learned.provider();
  return {
    answer: (request) => (isAbout(request) ? errorAnswer(lab, status) : provider.answer(request)),
    unused: () => provider.unused(),
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
