/**
 * Answers that are whole in their form and hold only a part of their rows: beside an error, with an
 * error in place of a row, or fewer than they say.
 */
import { isJsonObject, isPlainObject, valueAt } from "svc-connectors/host";
import type { Lab } from "../../contract/lab.ts";
import type { Listing } from "../../contract/learned.ts";
import type { Answer, Exchange, ProviderRequest } from "../../contract/network.ts";
import { jsonLeaves, nameOf, readJson, scalarText, toText, withValue } from "../../learn/json.ts";
import type { RequestPlace } from "../requests/rate-limits.ts";
import { keyFieldsOf } from "./cursors.ts";
import { outputRows } from "./rows.ts";
import { windowText } from "./windows.ts";

export interface HalfAnswer {
  /** "200 with 1 of 2 rows beside {"errors":[…]}". */
  readonly name: string;
  readonly answer: Answer;
}

interface RowsOfAnswer {
  readonly listing: Listing;
  readonly pointer: string;
  readonly tree: unknown;
  readonly rows: readonly unknown[];
}

/** The errors of batch results for the part that failed. */
export const errorsOfParts: readonly object[] = [
  { error: { code: 500, message: "Something failed." } },
  { status: 500, error: "internal", message: "Something failed." },
];

/** GraphQL section 7: `data` may be given in part beside `errors`, with status 200. */
const graphqlErrors = { errors: [{ message: "Something failed.", path: ["rows", 1] }] };

/**
 * The answer with a part of its rows: beside each error that this provider is known to report with
 * a 200, and with an error, also one of those, in place of one row. None when it is no listing with
 * rows.
 * @param ownErrors documents with which this provider reports an error in an answer of status 200
 */
export function halfAnswers(
  lab: Lab,
  { exchange: { request, answer }, whole }: Pick<RequestPlace, "exchange" | "whole">,
  ownErrors: readonly object[],
): readonly HalfAnswer[] {
  const found = rowsOfAnswer(lab, { request, answer });
  if (!found || !answer) return [];
  const { listing, pointer, tree, rows } = found;
  const half = rows.slice(0, rows.length >> 1);
  const errors = [...ownErrors, ...(isGraphql(request) ? [graphqlErrors] : [])];
  const beside = errors.flatMap((error) =>
    half.length === 0 || !isPlainObject(tree)
      ? []
      : [200, 206].map((status) => ({
          name: `${status} with ${half.length} of ${rows.length} rows beside ${JSON.stringify(error)}`,
          answer: withTree(
            answer,
            { ...(withValue(tree, pointer, half) as object), ...error },
            status,
          ),
        })),
  );
  // Items of a list that is one record's own are passed on like any other value.
  const isOfRecords = lab.streams.some(
    (stream) => keyFieldsOf(listing, outputRows(whole.messages, stream), stream).length > 0,
  );
  const instead = (isOfRecords ? [null, ...errorsOfParts, ...ownErrors] : []).map((row) => ({
    name: `${answer.status} with ${JSON.stringify(row)} in place of its last row`,
    answer: withTree(answer, withValue(tree, pointer, [...rows.slice(0, -1), row])),
  }));
  return [...beside, ...instead];
}

export const withTree = (answer: Answer, tree: unknown, status = answer.status): Answer => {
  const { "content-length": _, ...headers } = answer.headers;
  return { ...answer, status, headers, body: Buffer.from(toText(tree)) };
};

function rowsOfAnswer(
  lab: Lab,
  { request, answer }: Pick<Exchange, "request" | "answer">,
): RowsOfAnswer | undefined {
  const listing = lab.learned.listingOf(request);
  if (!listing || !answer || !("rows" in listing.paging)) return undefined;
  const tree = readJson(answer.body.toString("utf8"));
  const rows = valueAt(tree, listing.paging.rows);
  if (!Array.isArray(rows) || rows.length === 0) return undefined;
  return { listing, pointer: listing.paging.rows, tree, rows };
}

function isGraphql({ method, body }: ProviderRequest): boolean {
  const sent = method === "POST" ? readJson(body) : undefined;
  return (
    isJsonObject(sent) &&
    typeof sent.query === "string" &&
    /^\s*(?:query|fragment|\{|#)/.test(sent.query)
  );
}

/** Names of a value that says how many rows this page has, or there are in all. */
const countName =
  /^(?:x?total(?!.*pages?$)[a-z]*|count|recordcount|resultcount|rowcount|returned|numresults|numberofelements|hits|nbhits|length)$/;

/** Pages of listings of one path, and the values around their rows that say how many there are. */
export type StatedCounts = (exchange: Exchange) => readonly string[];

/**
 * Places that say on every recorded page of a path how many rows it has, or on every one how many
 * there are in all, or in its window. A provider that says the limit back in a `count` says so of
 * full pages only.
 */
export function statedCounts(lab: Lab, places: readonly RequestPlace[]): StatedCounts {
  const pathOf = ({ request }: Exchange) => `${request.method} ${request.url.pathname}`;
  const found = places.flatMap(({ exchange, whole }) => {
    const own = rowsOfAnswer(lab, exchange);
    if (!own) return [];
    const window = windowText(own.listing, exchange.request);
    return [{ ...own, whole, window, path: pathOf(exchange), values: valuesAround(exchange, own) }];
  });
  const pages = found.map(({ path, values, listing, rows, whole, window }) => {
    const read = found.filter((other) => other.whole === whole && other.listing === listing);
    const inRun = read.reduce((sum, other) => sum + other.rows.length, 0);
    const inWindow = read
      .filter((other) => other.window === window)
      .reduce((sum, other) => sum + other.rows.length, 0);
    return { path, values, onPage: [rows.length], inAll: [listing.rows.length, inRun, inWindow] };
  });
  const byPath = Map.groupBy(pages, ({ path }) => path);
  return (exchange) => {
    const own = byPath.get(pathOf(exchange)) ?? [];
    const isMeant = (place: string, meaning: "onPage" | "inAll") =>
      own.every(({ values, ...counts }) =>
        counts[meaning].map(String).includes(scalarText(values.get(place)) ?? ""),
      );
    return [...new Set(own.flatMap(({ values }) => [...values.keys()]))].filter(
      (place) =>
        countName.test(nameOf(place)) && (isMeant(place, "onPage") || isMeant(place, "inAll")),
    );
  };
}

const valuesAround = (
  { answer }: Exchange,
  { tree, pointer }: RowsOfAnswer,
): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>([
    ...jsonLeaves(tree, pointer),
    ...Object.entries(answer?.headers ?? {}),
  ]);

/**
 * The answer without its last row, while it still says how many it has; undefined where no value of
 * it is the number of its own rows, or of all rows of the listing.
 */
export function shorterThanStated(
  lab: Lab,
  exchange: Exchange,
  stated: StatedCounts,
): HalfAnswer | undefined {
  const found = rowsOfAnswer(lab, exchange);
  const [place] = stated(exchange);
  if (!found || !exchange.answer || place === undefined) return undefined;
  const { pointer, tree, rows } = found;
  return {
    name: `a page of ${rows.length - 1} rows that says ${place} ${scalarText(valuesAround(exchange, found).get(place))}`,
    answer: withTree(exchange.answer, withValue(tree, pointer, rows.slice(0, -1))),
  };
}
