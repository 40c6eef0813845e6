/** A run in which the access token expires while a request waits to be tried again. */
import type { Lab } from "../contract/lab.ts";
import type { Answer } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { isTokenExchange, type RequestPlace } from "../derive/requests/rate-limits.ts";
import { quietLoss } from "../derive/rows/losses.ts";
import { errorAnswer } from "../derive/sweeps/faults.ts";

const lifetimeSeconds = 300;
/** Longer than the token lives, shorter than what most connectors are willing to wait. */
const waitSeconds = 400;

export interface TokenExpiry {
  readonly name: string;
  readonly observation: Observation;
  /** The problem, as a sentence. */
  readonly problem?: string | undefined;
}

/**
 * Each token that the provider issues is another one. The place's request is refused with a wait,
 * after which only a token that was issued since is accepted. Undefined where the recordings show
 * no tokens being issued, or the connector did not wait.
 */
export async function expireTokens(
  lab: Lab,
  place: RequestPlace,
): Promise<TokenExpiry | undefined> {
  if (!place.whole.exchanges.some(isTokenExchange)) return undefined;
  const name = `${place.name} answered 429 with Retry-After: ${waitSeconds}, while its access token expires`;
  const truth = lab.learned.provider();
  const issued: string[] = [];
  let refusedAfter: number | undefined;
  const observation = await lab.run(place.command, {
    provider: {
      answer(request) {
        const answer = truth.answer(request);
        if ("unmatched" in answer) return answer;
        if (isTokenExchange({ request, answer, atMs: 0 })) return withNewToken(answer, issued);
        if (request.index === place.at) {
          refusedAfter = issued.length;
          return errorAnswer(lab, 429, { "retry-after": String(waitSeconds) });
        }
        const isOld =
          refusedAfter !== undefined &&
          !issued.slice(refusedAfter).some((token) => carries(request.headers, request.url, token));
        return isOld ? errorAnswer(lab, 401) : answer;
      },
      unused: () => [],
    },
  });
  const waitedMs = Math.max(0, ...observation.traces.waits.map(({ durationMs }) => durationMs));
  const again = observation.exchanges.slice(place.at + 1);
  if (waitedMs < waitSeconds * 1_000 || again.length === 0) return undefined;
  const loss = quietLoss(lab, observation, place.whole);
  const { status, failures } = observation.outcome;
  if (status === "succeeded" && loss === undefined) return { name, observation };
  const outcome =
    status === "succeeded"
      ? `ends with ${loss ?? ""}`
      : `${status} ("${failures[0]?.message ?? ""}")`;
  return {
    name,
    observation,
    problem: `after the wait the request was sent with the expired token, and the run ${outcome}. Expected: a new token for the new try.`,
  };
}

function withNewToken(answer: Answer, issued: string[]): Answer {
  const body = answer.body
    .toString("utf8")
    .replace(/("access_token"\s*:\s*")([^"]*)"/, (_, start: string, token: string) => {
      // As long as the recorded one, and another each time.
      const fresh = `${token.slice(0, Math.max(0, token.length - 3))}${String(issued.length + 100).slice(-3)}`;
      issued.push(fresh);
      return `${start}${fresh}"`;
    })
    .replace(/("expires_in"\s*:\s*)"?\d+"?/, (_, start: string) => `${start}${lifetimeSeconds}`);
  return { ...answer, body: Buffer.from(body) };
}

const carries = (headers: Readonly<Record<string, string>>, url: URL, token: string) =>
  Object.values(headers).some((value) => value.includes(token)) ||
  url.search.includes(encodeURIComponent(token));
