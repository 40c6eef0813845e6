/**
 * Runs in which one request is refused, once or again and again, to see when and how it is tried
 * once more.
 */
import type { Lab } from "../../contract/lab.ts";
import type { Answer, Exchange, ProviderRequest } from "../../contract/network.ts";
import type { Command, Observation } from "../../contract/observation.ts";
import type { Recording } from "../../contract/recording.ts";
import type { Reporter } from "../../contract/rule.ts";
import { undisturbed } from "../rows/losses.ts";

/** One request of a recorded run. */
export interface RequestPlace {
  /** "notes, request 2". */
  readonly name: string;
  readonly recording: Recording;
  readonly command: Command;
  /** Its index. */
  readonly at: number;
  /** The run without a refusal, and the request in it. */
  readonly whole: Observation;
  readonly exchange: Exchange;
}

/**
 * Every request of the recordings that succeed, in their order. Requests for tokens are left out:
 * they have rules of their own.
 */
export function requestPlaces(lab: Lab): Promise<readonly RequestPlace[]> {
  return lab.once("request places", async () => {
    const places: RequestPlace[] = [];
    for (const { recording } of await lab.golden()) {
      if (recording.outcome.status !== "succeeded") continue;
      const whole = await undisturbed(lab, recording);
      const command = lab.commandOf(recording);
      for (const [at, exchange] of whole.exchanges.entries())
        if (!isTokenExchange(exchange))
          places.push({
            name: `${recording.name}, request ${at + 1}`,
            recording,
            command,
            at,
            whole,
            exchange,
          });
    }
    return places;
  });
}

/** A few of them: the first and the last of all, and some between. */
export const firstRequests = async (lab: Lab, most = 4): Promise<readonly RequestPlace[]> =>
  lab.sample(await requestPlaces(lab), most);

/** A request that asks for an access token (RFC 6749 section 4 and 6), or is answered with one. */
export function isTokenExchange({ request, answer }: Exchange): boolean {
  return (
    isTokenRequest(request) || /"access_token"\s*:\s*"/.test(answer?.body.toString("utf8") ?? "")
  );
}

const isTokenRequest = ({ method, body, url }: ProviderRequest) =>
  method === "POST" &&
  (/\bgrant_type\b/.test(body) || /\/(?:oauth2?\/)?token\/?$/.test(url.pathname));

/**
 * Requests of reads at the edges of their listings: the first and the last one of each recording.
 * Of a read that fails when nothing disturbs it, nothing is learned from a disturbance.
 */
export async function edgeRequests(lab: Lab, most: number): Promise<readonly RequestPlace[]> {
  const reads = (await requestPlaces(lab)).filter(
    ({ command, whole }) => command.verb === "read" && whole.outcome.status === "succeeded",
  );
  const edges = reads.filter(
    (place, index) =>
      reads[index - 1]?.recording !== place.recording ||
      reads[index + 1]?.recording !== place.recording,
  );
  return lab.sample(edges, most);
}

/** Says why there are no such requests. */
export async function reportNoReads(lab: Lab, report: Reporter): Promise<void> {
  const hasAny = (await requestPlaces(lab)).some(({ command }) => command.verb === "read");
  if (hasAny) report.untried("every recorded read fails, also when nothing disturbs it");
  else report.missing("No recording of a read has a request: record one with rows.");
}

export interface Refusals {
  readonly observation: Observation;
  /** The first try and all that were made of the same request, in order. */
  readonly tries: readonly Exchange[];
  /** Milliseconds of real time between the first try and the last one. */
  readonly realMs: number;
  /** The same between the first try and the second; undefined where it was not tried again. */
  readonly firstWaitMs: number | undefined;
}

/** More than any bounded number of tries: then the provider gives in, so that the run ends. */
export const mostRefusals = 30;

/**
 * Runs the command of a place. Its request is answered with the refusal `times` times; when that is
 * more than once, so is every request after it, as by a provider that refuses the account. Requests
 * for tokens are always answered.
 */
export async function refuse(
  lab: Lab,
  place: Pick<RequestPlace, "command" | "at">,
  refusal: Answer,
  times = 1,
): Promise<Refusals> {
  const truth = lab.learned.provider();
  const seenAtMs = new Map<number, number>();
  let left = times;
  const observation = await lab.run(place.command, {
    provider: {
      answer(request) {
        seenAtMs.set(request.index, performance.now());
        const isRefused =
          left > 0 &&
          (times === 1
            ? request.index === place.at
            : request.index >= place.at && !isTokenRequest(request));
        if (!isRefused) return truth.answer(request);
        left--;
        return refusal;
      },
      unused: () => [],
    },
  });
  const tries = triesOf(observation, place.at);
  const real = (exchange: Exchange | undefined) => seenAtMs.get(exchange?.request.index ?? -1) ?? 0;
  const [first, second] = tries;
  return {
    observation,
    tries,
    realMs: real(tries.at(-1)) - real(first),
    firstWaitMs: second && real(second) - real(first),
  };
}

/** The request with that index and all later ones that are the same. */
export function triesOf({ exchanges }: Observation, at: number): Exchange[] {
  const first = exchanges[at];
  if (!first) return [];
  const key = requestKey(first.request);
  return exchanges.filter(({ request }) => request.index >= at && requestKey(request) === key);
}

/** Parameters that are made anew for each try. */
export const freshNames = /^(?:oauth_|api_|auth_|x-)?(?:ts|timestamp|nonce|sig|sign|signature)$/i;

/**
 * Identifies a request by everything but its headers and its credentials.
 * @param moving parameters that are left out as well, of {@link movingNames}
 */
export function requestKey(
  { method, url, body }: ProviderRequest,
  moving: ReadonlySet<string> = new Set(),
): string {
  const isKept = ([name]: readonly [string, unknown]) =>
    !freshNames.test(name) && !moving.has(name);
  const query = [...url.searchParams]
    .filter(isKept)
    .sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  const fields = fieldsOf(body)
    ?.filter(isKept)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const bodyKey = fields ? JSON.stringify(fields) : body;
  return `${method} ${url.origin}${url.pathname} ${JSON.stringify(query)} ${bodyKey}`;
}

/**
 * Parameters that follow the clock, such as the end of a period that ends now: who waited before
 * asks for another one.
 * @param later the same run at another time
 */
export function movingNames(whole: Observation, later: Observation): Set<string> {
  const names = new Set<string>();
  for (const [at, { request }] of whole.exchanges.entries()) {
    const other = later.exchanges[at]?.request;
    if (!other || other.url.pathname !== request.url.pathname) break;
    const others = new Map(valuesOf(other));
    for (const [name, value] of valuesOf(request))
      if (others.has(name) && others.get(name) !== value) names.add(name);
  }
  return names;
}

const valuesOf = ({ url, body }: ProviderRequest): [string, string][] => [
  ...url.searchParams,
  ...(fieldsOf(body) ?? []).map(([name, value]): [string, string] => [name, JSON.stringify(value)]),
];

/** The fields of a body that is a JSON object. */
function fieldsOf(body: string): [string, unknown][] | undefined {
  if (!body.startsWith("{")) return undefined;
  try {
    return Object.entries(JSON.parse(body) as object);
  } catch {
    return undefined;
  }
}

/**
 * The first request that came before its time to a provider that asked for a wait. One that was
 * under way when the refusal came cannot be held back: a request of another kind counts from when
 * time has passed.
 */
export function earlyAfter(
  { exchanges }: Observation,
  at: number,
  untilMs: number,
): Exchange | undefined {
  const refused = exchanges[at];
  if (!refused) return undefined;
  const key = requestKey(refused.request);
  return exchanges.find(
    ({ request, atMs }) =>
      request.index > at &&
      atMs < untilMs &&
      request.url.origin === refused.request.url.origin &&
      (atMs > refused.atMs || requestKey(request) === key),
  );
}

/** Virtual milliseconds between each try and the one before. */
export const gapsOf = (tries: readonly Exchange[]) =>
  tries.slice(1).map(({ atMs }, index) => atMs - (tries[index]?.atMs ?? 0));

/** Less than this between tries, on average, is no wait at all; ms. */
export const shortestMeanGapMs = 20;

export const isHotLoop = (tries: readonly Exchange[]) => {
  const gaps = gapsOf(tries);
  // Of two or three random waits all may be short; of more they are not.
  const isInformative = gaps.length >= 3 || gaps.every((gap) => gap === 0);
  return (
    gaps.length > 0 &&
    isInformative &&
    gaps.reduce((sum, gap) => sum + gap, 0) < shortestMeanGapMs * gaps.length
  );
};

export const seconds = (ms: number) => `${Math.round(ms) / 1_000} s`;
