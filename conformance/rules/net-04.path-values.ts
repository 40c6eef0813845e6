/** Values that a connector puts into paths: of rows that the provider gave, and of its settings. */
import type { Lab } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Provider, ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import type { Recording } from "../contract/recording.ts";
import { hostSettings } from "../derive/requests/host-settings.ts";

/** One segment of a path that is filled from a value. */
export interface PathValue {
  /** "/folders#id of GET /folders", "the setting workspace". */
  readonly name: string;
  readonly recording: Recording;
  /** The value as recorded. */
  readonly value: string;
  /** Paths that hold it, and the number of the segment. */
  readonly places: readonly { readonly pathname: string; readonly segment: number }[];
  /** Where it comes from. */
  readonly source:
    | { readonly listing: Listing; readonly field: string }
    | { readonly setting: readonly string[] };
}

/** Found in the recordings of runs that succeed. */
export async function pathValues(lab: Lab): Promise<readonly PathValue[]> {
  const hosts = new Set((await hostSettings(lab)).map(({ path }) => path.join(".")));
  const settings = Object.entries(lab.config).filter(
    ([name, value]) => typeof value === "string" && value !== "" && !hosts.has(name),
  );
  return lab.recordings
    .filter(({ outcome }) => outcome.status === "succeeded")
    .flatMap((recording): PathValue[] => {
      const paths = [
        ...new Set(recording.interactions.map(({ request }) => new URL(request.url).pathname)),
      ];
      const placesOf = (value: string) =>
        paths.flatMap((pathname) =>
          pathname
            .split("/")
            .flatMap((segment, index) =>
              segment === encodeURIComponent(value) ? [{ pathname, segment: index }] : [],
            ),
        );
      const ofSettings = settings.flatMap(([name, value]): PathValue[] => {
        const places = placesOf(String(value));
        return places.length === 0
          ? []
          : [
              {
                name: `the setting ${name}`,
                recording,
                value: String(value),
                places,
                source: { setting: [name] },
              },
            ];
      });
      const asked = lab.learned.listings.filter((listing) =>
        listing.recordings.includes(recording.name),
      );
      const ofRows = asked.flatMap((listing) =>
        fieldsOf(listing).flatMap((field): PathValue[] => {
          const found = listing.rows
            .map((row) => textOf(row[field]))
            .find(
              (text) =>
                text !== "" && placesOf(text).some(({ pathname }) => pathname !== listing.path),
            );
          if (found === undefined) return [];
          const places = placesOf(found).filter(({ pathname }) => pathname !== listing.path);
          return [
            {
              name: `${field} of ${listing.id}`,
              recording,
              value: found,
              places,
              source: { listing, field },
            },
          ];
        }),
      );
      return [...ofSettings, ...ofRows];
    });
}

const textOf = (value: unknown) =>
  ["string", "number", "bigint"].includes(typeof value) ? String(value) : "";

const fieldsOf = ({ rows }: Listing) => [...new Set(rows.flatMap((row) => Object.keys(row)))];

/**
 * A run in which the value is another one. What is asked for with it, rightly encoded, is answered
 * as before.
 */
export async function runWithValue(
  lab: Lab,
  { recording, value, source, places }: PathValue,
  other: string,
): Promise<Observation> {
  const command = lab.commandOf(recording);
  const inner =
    "listing" in source
      ? lab.learned.provider({
          rows: ({ id }, rows) =>
            id === source.listing.id
              ? rows.map((row) =>
                  textOf(row[source.field]) === value ? { ...row, [source.field]: other } : row,
                )
              : rows,
        })
      : lab.learned.provider();
  const provider: Provider = {
    answer(request) {
      const place = placeOf(request, places, other);
      return inner.answer(
        place === undefined
          ? request
          : { ...request, url: new URL(`${request.url.origin}${place}${request.url.search}`) },
      );
    },
    unused: () => [],
  };
  if (command.verb === "spec" || "listing" in source) return await lab.run(command, { provider });
  const [name = ""] = source.setting;
  return await lab.run({ ...command, config: { ...command.config, [name]: other } }, { provider });
}

/**
 * The recorded path that this request asks for, when the other value stands in the value's segment,
 * encoded.
 */
export function placeOf(
  { url }: Pick<ProviderRequest, "url">,
  places: PathValue["places"],
  other: string,
): string | undefined {
  const given = url.pathname.split("/");
  return places.find(({ pathname, segment }) => {
    const wanted = pathname.split("/");
    return (
      given.length === wanted.length &&
      given.every((text, index) =>
        index === segment ? decoded(text) === other : text === wanted[index],
      )
    );
  })?.pathname;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
