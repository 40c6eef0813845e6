import { exchangeEvidence } from "../contract/evidence.ts";
import type { Lab } from "../contract/lab.ts";
import type { ProviderChanges } from "../contract/learned.ts";
import { defineRule, type Reporter } from "../contract/rule.ts";
import {
  edgeRequests,
  type RequestPlace,
  refuse,
  requestPlaces,
} from "../derive/requests/rate-limits.ts";
import { type HalfAnswer, shorterThanStated, statedCounts } from "../derive/rows/half-answers.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { rowKeyOf, withRowCount } from "../derive/rows/page-rows.ts";
import { statesTotal } from "../derive/rows/totals.ts";
import { largestWindow, rowCountFor } from "../derive/rows/windows.ts";
import {
  missingReads,
  type PagedRead,
  pagedReads,
  readPages,
  withoutPages,
} from "../derive/sweeps/pages.ts";

const sampledReads = 5;
/** Requests whose answers are made shorter than they say. */
const sampledPlaces = 4;
/** A declared window that is larger takes too long to fill. */
const maxWindow = 20_000;

export default defineRule({
  id: "PAGE-08",
  level: "MUST",
  profile: "resilient",
  since: "0.1.0",
  title:
    "A provider that gives only the first so many rows of a listing, or fewer on a page than it says, is noticed: the read fails or says how many it left out.",
  why: "Search endpoints end at 10,000 rows, politely and without an error. The largest customers lose data first, and the count in the destination looks round and healthy.",
  fix: "Where the answer states a total, compare it with the number of rows that came. Where the provider's window is known, cut the listing into smaller ones, by time or by parent, or fail when the window is full.",
  good: "if (count < total) throw new ConnectorError('RESPONSE_INVALID', { reason: 'the listing ends before its total' });",
  bad: "while (page.rows.length > 0) …",
  async notApplicable(lab) {
    if ((await statingPlaces(lab)).length > 0) return undefined;
    const reason = withoutPages(lab);
    const reads = await pagedReads(lab);
    if (
      reason !== undefined ||
      reads.length === 0 ||
      lab.settings.capabilities.window !== undefined
    )
      return reason;
    return reads.some((read) => windowFor(lab, read) !== undefined)
      ? undefined
      : "no answer states a total, and conformance.yaml declares no window";
  },
  async run(lab, report) {
    const places = await statingPlaces(lab);
    for (const place of lab.sample(places, sampledPlaces)) await tryShorter(lab, report, place);
    const reads = await pagedReads(lab);
    if (reads.length === 0)
      return places.length === 0 ? report.missing(missingReads(lab)) : undefined;
    const { window } = lab.settings.capabilities;
    for (const read of lab.sample(
      reads.filter((one) => windowFor(lab, one) !== undefined),
      sampledReads,
    ))
      await tryWindow(lab, report, read);
    if (window !== undefined)
      for (const read of lab.sample(reads, sampledReads))
        await tryDeclared(lab, report, read, Math.min(window, maxWindow));
  },
});

interface StatingPlace {
  readonly place: RequestPlace;
  readonly half: HalfAnswer;
}

/** Requests whose answers say how many rows there are, on the page or in all. */
async function statingPlaces(lab: Lab): Promise<readonly StatingPlace[]> {
  const reads = (await requestPlaces(lab)).filter(
    ({ command, whole }) => command.verb === "read" && whole.outcome.status === "succeeded",
  );
  const stated = statedCounts(lab, reads);
  return (await edgeRequests(lab, Number.POSITIVE_INFINITY)).flatMap((place) => {
    const half = shorterThanStated(lab, place.exchange, stated);
    return half ? [{ place, half }] : [];
  });
}

/** The page comes without its last row, however often it is asked for. */
async function tryShorter(lab: Lab, report: Reporter, { place, half }: StatingPlace) {
  const name = `${place.name} answered with ${half.name}`;
  report.checked(name);
  const { observation, tries } = await refuse(lab, place, half.answer);
  const loss = quietLoss(lab, observation, place.whole);
  if (loss !== undefined)
    report.fail(
      `${name}: the read calls itself successful, with ${loss}. Expected: a failure, or a warning with a code and the number of rows left out.`,
      exchangeEvidence("Requests", observation.exchanges, (exchange) => tries.includes(exchange)),
    );
}

interface StatedWindow {
  /** The provider ends there, after a full page, as windows do. */
  readonly size: number;
  readonly changes: Pick<ProviderChanges, "rows">;
}

/**
 * Undefined where no listing states a total, or where it has one page only and its rows cannot be
 * copied.
 */
function windowFor(lab: Lab, read: PagedRead): StatedWindow | undefined {
  const stating = read.listings.filter((listing) => statesTotal(lab, read, listing));
  const long = stating.filter((one) => largestWindow(lab, read, one) > one.pageSize);
  if (long.length > 0)
    return { size: Math.max(...long.map(({ pageSize }) => pageSize)), changes: {} };
  const key = rowKeyOf(lab, read);
  const short = stating.find(
    (listing) => key?.fields.has(listing) && listing.pageSize <= maxWindow,
  );
  if (key === undefined || short === undefined) return undefined;
  return {
    size: short.pageSize,
    changes: withRowCount(key, (listing) =>
      listing === short
        ? rowCountFor(short, largestWindow(lab, read, short), short.pageSize + 1)
        : listing.rows.length,
    ),
  };
}

async function tryWindow(lab: Lab, report: Reporter, read: PagedRead) {
  const { size, changes } = windowFor(lab, read) ?? { size: 1, changes: {} };
  const whole = changes.rows
    ? await readPages(lab, read, changes)
    : { observation: read.whole, isBeyondRecordings: false };
  if (whole.isBeyondRecordings) return;
  const name = `${read.name}: a provider that ends after ${size} rows and states a larger total`;
  report.checked(name);
  const { observation } = await readPages(lab, read, { ...changes, window: size });
  const loss = quietLoss(lab, observation, whole.observation);
  if (loss !== undefined)
    report.fail(
      `${name}: the read calls itself successful, with ${loss}. Expected: a failure, or a warning with a code and the number of rows left out.`,
      exchangeEvidence("Requests", observation.exchanges.slice(0, 20)),
    );
}

/** Tries as many rows as the window that the settings declare, and one more. */
async function tryDeclared(lab: Lab, report: Reporter, read: PagedRead, window: number) {
  const key = rowKeyOf(lab, read);
  if (key === undefined) return;
  const filled = withRowCount(key, (listing) =>
    read.listings.includes(listing) ? window + 1 : listing.rows.length,
  );
  const all = await readPages(lab, read, filled);
  if (all.isBeyondRecordings || all.observation.outcome.status !== "succeeded") return;
  const name = `${read.name}: ${window + 1} rows behind the declared window of ${window}`;
  report.checked(name);
  const { observation } = await readPages(lab, read, { ...filled, window });
  const loss = quietLoss(lab, observation, all.observation);
  if (loss !== undefined)
    report.fail(
      `${name}: the read calls itself successful, with ${loss}. Expected: smaller listings, a failure, or a warning with a code and a count.`,
      exchangeEvidence("The last requests", observation.exchanges.slice(-10)),
    );
}
