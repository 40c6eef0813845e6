/**
 * Listings whose rows a read asks for more about (folders and their notes, channels and their
 * posts), and providers whose parents come, go and change places.
 */
import { valueAt } from "svc-connectors/host";
import type { Lab, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderRow } from "../../contract/learned.ts";
import type { Provider } from "../../contract/network.ts";
import { jsonLeaves, scalarText } from "../../learn/json.ts";
import { requestedValues } from "../requests/requested-values.ts";
import { listingsOf } from "../sweeps/pages.ts";
import { undisturbed } from "../sweeps/reads.ts";
import { cursorColumn, underKey } from "./cursors.ts";

export interface ParentListing {
  readonly listing: Listing;
  /** Pointer to what stands in the requests for a parent's rows. */
  readonly keyField: string;
}

/** Of the stream's read from the beginning: two parents or more, each asked for by its key. */
export async function parentListings(
  lab: Lab,
  stream: StreamFacts,
): Promise<readonly ParentListing[]> {
  const whole = await undisturbed(lab, stream);
  const own = (await cursorColumn(lab, stream))?.listings ?? [];
  const requested = requestedValues(whole);
  return listingsOf(lab, whole)
    .filter((listing) => !own.includes(listing) && listing.rows.length > 1)
    .flatMap((listing) => {
      const keyField = fieldsOf(listing).find((field) => {
        const texts = listing.rows.map((row) => keyOf(row, field));
        return (
          new Set(texts).size === texts.length &&
          texts.every((text) => text !== undefined && text.length > 1 && requested.has(text))
        );
      });
      return keyField === undefined ? [] : [{ listing, keyField }];
    });
}

/** A key is no true or false, though requests have those, too. */
const fieldsOf = ({ rows }: Listing) =>
  [...jsonLeaves(rows[0] ?? {})].flatMap(([field, value]) =>
    typeof value === "boolean" ? [] : [field],
  );

export const keyOf = (row: ProviderRow | undefined, field: string): string | undefined =>
  scalarText(valueAt(row, field));

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
