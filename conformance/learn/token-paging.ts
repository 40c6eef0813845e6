/** Pages that are asked for by a token of an answer, or by fields of its last row. */
import { isPlainObject } from "svc-connectors/host";
import { jsonLeaves, nameOf, scalarText } from "./json.ts";
import { type PageSequence, type RecordedPage, urlIn } from "./pages.ts";
import { type PagingCandidate, pagingNames } from "./paging-candidate.ts";
import { filterName, publicName } from "./parameters.ts";
import { intersect, type Transition, transitionsOf } from "./transitions.ts";

/** Pointers of envelope values of an answer, or of URLs there, that hold the parameter's value. */
function tokenSources(page: RecordedPage, key: string, value: string): string[] {
  return [...page.envelope]
    .filter(([, held]) => tokenIn(page, held, key) === value)
    .map(([name]) => name);
}

/** The token that a value holds: the value itself, or the parameter of that name in its URL. */
export function tokenIn(page: RecordedPage, value: unknown, key: string): string | undefined {
  const url = urlIn(page, value);
  if (typeof value === "boolean") return undefined;
  return url ? (url.searchParams.get(publicName(key)) ?? undefined) : scalarText(value);
}

export function findToken(
  sequences: readonly PageSequence[],
  key: string,
): PagingCandidate | undefined {
  const within = transitionsOf(sequences, [key]);
  const transitions = within.length > 0 ? within : resumptionsOf(sequences, key);
  if (transitions.length === 0) return undefined;
  const sources = intersect(
    transitions.map(({ page, earlier }) => {
      const value = page.exchange.parameters.get(key) ?? "";
      return earlier.flatMap((one) =>
        one.exchange.parameters.get(key) === value ? [] : tokenSources(one, key, value),
      );
    }),
  );
  const next =
    sources.find((name) => /next/i.test(name)) ??
    sources.find((name) => pagingNames.tokens.test(nameOf(name))) ??
    sources[0];
  if (next === undefined) return undefined;
  const hasFittingName = pagingNames.tokens.test(publicName(key));
  return {
    style: "cursor",
    keys: [key],
    first: 0,
    count: "tokens",
    next,
    transitionCount: transitions.length,
    hasFittingName,
  };
}

/** Recordings that begin with a token: an answer of another recording may have handed it out. */
function resumptionsOf(sequences: readonly PageSequence[], key: string): Transition[] {
  if (!pagingNames.tokens.test(publicName(key)) || filterName.test(publicName(key))) return [];
  return sequences.flatMap((sequence) => {
    const [page] = sequence;
    const others = sequences.filter(
      (one) => one !== sequence && one[0]?.exchange.url.pathname === page?.exchange.url.pathname,
    );
    return page?.exchange.parameters.has(key) ? [{ page, earlier: others.flat() }] : [];
  });
}

/**
 * Parameters that are fields of the last row of an earlier page: one, or two where a time alone
 * does not tell rows apart.
 */
export function findRowFields(
  sequences: readonly PageSequence[],
  keys: readonly string[],
): PagingCandidate[] {
  const changing = keys.filter(
    (key) => new Set(sequences.flat().map(({ exchange }) => exchange.parameters.get(key))).size > 1,
  );
  const sets = changing.flatMap((key, at) => [
    [key],
    ...changing.slice(at + 1).map((other) => [key, other]),
  ]);
  return sets.flatMap((set) => toRowFieldCandidate(sequences, set) ?? []);
}

function toRowFieldCandidate(
  sequences: readonly PageSequence[],
  keys: readonly string[],
): PagingCandidate | undefined {
  const transitions = transitionsOf(sequences, keys);
  const fields = keys.map((key) => lastRowField(transitions, key));
  if (transitions.length === 0 || !fields.every((field) => field !== undefined)) return undefined;
  // A single time moves a filter on; it does not say a page.
  const isFilter =
    keys.length === 1 &&
    filterName.test(publicName(keys[0] ?? "")) &&
    !/id$/.test(nameOf(fields[0] ?? ""));
  if (isFilter) return undefined;
  return {
    style: "cursor",
    keys,
    first: 0,
    count: "tokens",
    fields,
    transitionCount: transitions.length,
    hasFittingName: keys.some((key) => pagingNames.tokens.test(publicName(key))),
  };
}

/** The field of last rows that every transition takes the parameter's value from. */
function lastRowField(transitions: readonly Transition[], key: string): string | undefined {
  const found = intersect(
    transitions.map(({ page, earlier }) =>
      earlier.flatMap(({ rows }) => fieldsWith(rows.at(-1), page.exchange.parameters.get(key))),
    ),
  );
  return found.find((field) => nameOf(field).endsWith("id")) ?? found[0];
}

function fieldsWith(row: unknown, value: string | undefined): string[] {
  if (!isPlainObject(row) || value === undefined) return [];
  return [...jsonLeaves(row)]
    .filter(([, leaf]) => typeof leaf !== "boolean" && scalarText(leaf) === value)
    .map(([pointer]) => pointer);
}
