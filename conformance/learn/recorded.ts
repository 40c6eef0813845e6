/** Gives answers as they were recorded: for every request that asks for no listing. */
import type { Answer, ProviderRequest } from "../contract/network.ts";
import { describeMismatch, matches } from "../replay/match.ts";
import { isSuccess, type RecordedExchange } from "./exchanges.ts";

export interface RecordedAnswers {
  /**
   * In the recorded order, the last one again and again; a sentence when nothing like it was
   * recorded.
   */
  answer(request: ProviderRequest): Answer | { readonly unmatched: string };
  /** The first recorded answer to the very request. */
  find(request: ProviderRequest): Answer | undefined;
}

type ByPath = ReadonlyMap<string, readonly RecordedExchange[]>;

/** Every run has a provider of its own; what was recorded is the same for all. */
const groupings = new WeakMap<readonly RecordedExchange[], ByPath>();

function groupByPath(exchanges: readonly RecordedExchange[]): ByPath {
  const known =
    groupings.get(exchanges) ??
    Map.groupBy(exchanges, ({ method, url }) => `${method} ${url.origin}${url.pathname}`);
  groupings.set(exchanges, known);
  return known;
}

export function createRecordedAnswers(exchanges: readonly RecordedExchange[]): RecordedAnswers {
  const byPath = groupByPath(exchanges);
  const givenCounts = new Map<RecordedExchange, number>();

  /** One recording's answers: another recording's are no continuation of them. Successes win. */
  const answersTo = (request: ProviderRequest): readonly RecordedExchange[] => {
    const alike =
      byPath.get(`${request.method} ${request.url.origin}${request.url.pathname}`) ?? [];
    const fitting = alike.filter((one) => matches(one.request, request));
    const successes = fitting.filter(isSuccess);
    const usable = successes.length > 0 ? successes : fitting;
    return usable.filter(({ recording }) => recording === usable[0]?.recording);
  };

  return {
    find: (request) => answersTo(request)[0]?.answer,
    answer(request) {
      const answers = answersTo(request);
      const [first] = answers;
      if (first === undefined)
        return {
          unmatched: describeMismatch(
            request,
            exchanges.map((one) => one.request),
          ),
        };
      const count = givenCounts.get(first) ?? 0;
      givenCounts.set(first, count + 1);
      return (answers[count] ?? answers.at(-1) ?? first).answer;
    },
  };
}
