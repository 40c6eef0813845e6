/** Discover runs in which the provider's tables have names that are hard to handle. */
import { isDeepStrictEqual } from "node:util";
import { valueAt } from "svc-connectors/host";
import type { Lab } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { jsonLeaves, withValue } from "../learn/json.ts";

/** Names that real databases and accounts have. */
const hardNames = [
  '"Quoted" `name` \'s',
  "名前 naïve \u{1f4d3}",
  "line\nbreak",
  "__proto__",
  "a/b.c?d#e%2f",
  "constructor",
] as const;

export interface RenamedDiscover {
  /** New names by recorded ones. */
  readonly names: ReadonlyMap<string, string>;
  readonly observation: Observation;
}

/** Empty where discover does not take its names from the provider. */
export async function discoverRenamed(lab: Lab): Promise<readonly RenamedDiscover[]> {
  const { command, exchanges } = lab.first.discover;
  const asked = new Set(exchanges.flatMap(({ request }) => lab.learned.listingOf(request) ?? []));
  const place = [...asked].flatMap((listing) => nameField(lab, listing) ?? [])[0];
  if (!place) return [];
  const { listing, pointer } = place;
  const recorded = listing.rows.flatMap((row) => valueAt(row, pointer) ?? []).map(String);
  const rounds: RenamedDiscover[] = [];
  for (let first = 0; first < hardNames.length; first += recorded.length) {
    const names = new Map(
      recorded.flatMap((name, at) =>
        hardNames[first + at] === undefined ? [] : [[name, hardNames[first + at] ?? ""]],
      ),
    );
    const provider = lab.learned.provider({
      rows: (one, rows) =>
        isDeepStrictEqual(one, listing)
          ? rows.map(
              (row) => withValue(row, pointer, newName(names, valueAt(row, pointer))) as typeof row,
            )
          : rows,
    });
    rounds.push({
      names,
      observation: await lab.run(command, { provider: underOldNames(provider, names) }),
    });
  }
  return rounds;
}

const newName = (names: ReadonlyMap<string, string>, name: unknown) =>
  typeof name === "string" ? (names.get(name) ?? name) : name;

/** The field whose values are streams' names. */
function nameField(
  lab: Lab,
  listing: Listing,
): { readonly listing: Listing; readonly pointer: string } | undefined {
  const names = new Set(lab.streams.map(({ stream }) => stream.name));
  const pointers = [...new Set(listing.rows.flatMap((row) => [...jsonLeaves(row).keys()]))];
  const pointer = pointers.find(
    (one) =>
      listing.rows.length > 0 && listing.rows.every((row) => names.has(String(valueAt(row, one)))),
  );
  return pointer === undefined ? undefined : { listing, pointer };
}

/** A request under a new name is answered as it was recorded under the old one. */
function underOldNames(provider: Provider, names: ReadonlyMap<string, string>): Provider {
  const old = new Map([...names].map(([before, now]) => [now, before]));
  return {
    answer: (request) => provider.answer(renamed(request, old)),
    unused: () => [],
  };
}

function renamed(request: ProviderRequest, old: ReadonlyMap<string, string>): ProviderRequest {
  const url = new URL(request.url);
  url.pathname = url.pathname
    .split("/")
    .map((segment) => {
      const before = old.get(decoded(segment));
      return before === undefined ? segment : encodeURIComponent(before);
    })
    .join("/");
  for (const [name, value] of [...url.searchParams])
    if (old.has(value)) url.searchParams.set(name, old.get(value) ?? value);
  const body = [...old].reduce(
    (text, [now, before]) => text.replaceAll(JSON.stringify(now), JSON.stringify(before)),
    request.body,
  );
  return { ...request, url, body };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
