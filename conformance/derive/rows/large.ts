/**
 * Large providers made from a learned listing: many rows, many or large pages, and rows of uncommon
 * size and shape.
 */
import type { JsonObject, JsonValue } from "svc-connectors";
import type { Lab, RunOptions, StreamFacts } from "../../contract/lab.ts";
import type { Listing, ProviderChanges, ProviderRow } from "../../contract/learned.ts";
import type { Provider } from "../../contract/network.ts";
import type { Observation } from "../../contract/observation.ts";
import type { Reporter } from "../../contract/rule.ts";
import { syncModeOf, undisturbed } from "../sweeps/reads.ts";
import { keyFieldsOf, underKey } from "./cursors.ts";
import { outputRows } from "./rows.ts";

/** A stream and the listing that its read begins with. */
export interface StreamListing {
  readonly stream: StreamFacts;
  readonly listing: Listing;
  readonly keyFields: readonly string[];
  /** Requests of the undisturbed read before the first one of the listing. */
  readonly requestsBefore: number;
  readonly whole: Observation;
}

/** Streams whose reads ask for a listing that is understood; those with pages first. Done once. */
export function streamListings(lab: Lab): Promise<readonly StreamListing[]> {
  return lab.once("listings of streams", async () => {
    const found: StreamListing[] = [];
    for (const stream of lab.streams) {
      if (stream.recording === undefined) continue;
      const whole = await undisturbed(lab, stream);
      const asked = whole.exchanges.map(({ request }) => lab.learned.listingOf(request));
      const requestsBefore = asked.findIndex(
        (one) => one !== undefined && one.rows.length > 0 && one.paging.style !== "unknown",
      );
      const listing = asked[requestsBefore];
      if (!listing || whole.outcome.status !== "succeeded") continue;
      found.push({
        stream,
        listing,
        keyFields: keyFieldsOf(listing, outputRows(whole.messages, stream), stream),
        requestsBefore,
        whole,
      });
    }
    return [...found.filter(isPaged), ...found.filter((one) => !isPaged(one))];
  });
}

export const isPaged = ({ listing }: Pick<StreamListing, "listing">) =>
  listing.paging.style !== "single";

/** Says that no large listing can be made: of rows that come line by line it never can. */
export async function reportNoListing(lab: Lab, report: Reporter): Promise<void> {
  const types = await Promise.all(lab.streams.map((stream) => lineTypeOf(lab, stream)));
  const type = types.find((one) => one !== undefined);
  if (type === undefined)
    report.missing(
      "No recorded read asks for a listing whose pages are understood, so that no large one can be made. Record a read of several pages, or declare `paging` in conformance.yaml.",
    );
  else report.untried(`its rows come as ${type}, of which the kit makes no others`);
}

/** The media type of answers that have a row in each line. */
async function lineTypeOf(lab: Lab, stream: StreamFacts): Promise<string | undefined> {
  if (stream.recording === undefined) return undefined;
  const { exchanges } = await undisturbed(lab, stream);
  return exchanges
    .map(({ answer }) => answer?.headers["content-type"]?.split(";")[0]?.trim().toLowerCase())
    .find((type) => type !== undefined && lineTypes.test(type));
}

const lineTypes =
  /^(text\/(csv|tab-separated-values)|application\/(x-)?(ndjson|jsonlines|json-seq))$/;

/**
 * The listing's rows again and again, as often as it takes: for what asks once more for each row.
 */
export function repeatedRows({ rows }: Listing, count: number): readonly ProviderRow[] {
  return Array.from(
    { length: Math.max(count, rows.length) },
    (_, at) => rows[at % rows.length] ?? {},
  );
}

/** So many rows, each under a key of its own where the key's field is known. */
export function manyRows(
  { listing: { rows }, keyFields }: StreamListing,
  count: number,
): readonly ProviderRow[] {
  return Array.from({ length: count }, (_, at) => {
    const model = rows[at % rows.length] ?? {};
    return underKey(model, { keyFields }, at + 1) ?? model;
  });
}

export interface LargeListing {
  readonly rows: readonly ProviderRow[];
  /** Rows of a page; the provider's own size without it. */
  readonly pageSize?: number | undefined;
  /** Puts something around the provider. */
  readonly around?: ((provider: Provider) => Provider) | undefined;
}

/** Reads the stream from the beginning while its listing is that large. */
export function readLarge(
  lab: Lab,
  { stream, listing }: StreamListing,
  large: LargeListing,
  runOptions: RunOptions = {},
): Promise<Observation> {
  const { rows, pageSize, around = (provider: Provider) => provider } = large;
  const changes: ProviderChanges = {
    rows: (one, own) => (one === listing ? rows : own),
    ...(pageSize === undefined
      ? {}
      : { pageSize: (one: Listing) => (one === listing ? pageSize : undefined) }),
  };
  const setting = pageSize === undefined ? undefined : pageSizeSetting(lab, listing, pageSize);
  const command = lab.readCommand([stream], {
    syncMode: syncModeOf(stream),
    ...(setting ? { config: setting } : {}),
  });
  const learned = lab.learned.provider(changes);
  const provider = pageSize === undefined ? learned : asking(lab, listing, pageSize, learned);
  return lab.run(command, { provider: around(provider), ...runOptions });
}

/** Rows of a page that a read can be brought to ask for or to take. */
export function largestPage(lab: Lab, { listing }: StreamListing, wanted: number): number {
  if (listing.paging.style === "single" || sizeParameter(listing) !== undefined) return wanted;
  const setting = pageSizeSetting(lab, listing, wanted);
  return setting
    ? Math.min(
        wanted,
        Math.max(
          ...Object.values(setting).filter((value): value is number => typeof value === "number"),
        ),
      )
    : listing.pageSize;
}

/**
 * Asks the provider for pages of that size whatever the connector asks for: some providers give
 * more than that. Only where a token leads on: whoever counts pages or rows by himself would lose
 * his way.
 */
function asking(lab: Lab, listing: Listing, pageSize: number, provider: Provider): Provider {
  const parameter = sizeParameter(listing);
  if (parameter === undefined) return provider;
  return {
    answer(request) {
      if (lab.learned.listingOf(request) !== listing) return provider.answer(request);
      const url = new URL(request.url);
      url.searchParams.set(parameter, String(pageSize));
      return provider.answer({ ...request, url });
    },
    unused: () => provider.unused(),
  };
}

function sizeParameter({ paging }: Listing): string | undefined {
  if (paging.style !== "cursor" && paging.style !== "link") return undefined;
  return paging.isInBody ? undefined : paging.size;
}

/**
 * The configuration with the setting that says how many rows are asked for: its value is the page
 * size.
 */
function pageSizeSetting(lab: Lab, { pageSize }: Listing, wanted: number): JsonObject | undefined {
  const properties = Object.entries(
    (lab.spec.properties ?? {}) as { readonly [name: string]: JsonObject },
  );
  const found = properties.find(
    ([name, schema]) =>
      schema.type === "integer" &&
      (lab.config[name] ?? schema.default) === pageSize &&
      Number(schema.maximum) >= pageSize,
  );
  if (!found) return undefined;
  const [name, { minimum = 1, maximum }] = found as [
    string,
    { readonly [keyword: string]: JsonValue },
  ];
  return { ...lab.config, [name]: Math.min(Math.max(wanted, Number(minimum)), Number(maximum)) };
}

/**
 * Field of the rows that holds free text and reaches the records, by which a row can be made as
 * large as wanted.
 */
export function textField({ listing, stream, whole }: StreamListing): string | undefined {
  const records = outputRows(whole.messages, stream).map(({ data }) => data);
  const special = new Set([...stream.primaryKey, stream.cursorField]);
  const properties = (stream.stream.json_schema.properties ?? {}) as {
    readonly [name: string]: JsonObject;
  };
  const names = [...new Set(listing.rows.flatMap((row) => Object.keys(row)))];
  return names.find((name) => {
    const schema = properties[name];
    const texts = listing.rows
      .map((row) => row[name])
      .filter((value) => typeof value === "string" && value !== "");
    const isFree =
      schema !== undefined &&
      !["format", "enum", "const", "pattern", "maxLength"].some((keyword) => keyword in schema);
    return (
      isFree &&
      !special.has(name) &&
      texts.length > 0 &&
      !texts.some(isCode) &&
      texts.every((text) => records.some((record) => record[name] === text))
    );
  });
}

/** Times, numbers, addresses, words of a closed list. */
const isCode = (text: unknown) =>
  /^[\d.,:+TZ-]+$|^\d{4}-\d\d-\d\d|^[a-z][a-z0-9+.-]*:\/\/|@/i.test(String(text));
