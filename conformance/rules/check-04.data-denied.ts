/** A token that may ask who it is and read nothing: the requests that it is refused. */
import { isJsonObject } from "svc-connectors/host";
import type { Lab } from "../contract/lab.ts";
import type { ProviderRequest } from "../contract/network.ts";
import type { Observation } from "../contract/observation.ts";
import { type RequestPlace, requestPlaces } from "../derive/requests/rate-limits.ts";
import { bodyValues, decodedSegment } from "../derive/requests/requested-values.ts";

export interface DataDenial {
  /** The endpoints that are refused: "https://api.example.com/v1/notes". */
  readonly endpoints: readonly string[];
  /** The endpoints of check that still answer. */
  readonly allowed: readonly string[];
  isDenied(request: ProviderRequest): boolean;
  /** Who may not ask that can read no stream. */
  isNeededByAll(request: ProviderRequest): boolean;
}

/**
 * Refuses what reads ask for, so that no stream can be read. Where check itself asks for all that a
 * stream needs, it meets a refusal; otherwise its own requests stay, and it asks for nothing that
 * tells. Undefined where no recordings show what check and reads ask.
 */
export async function dataDenial(lab: Lab): Promise<DataDenial | undefined> {
  const places = (await requestPlaces(lab)).filter(
    ({ whole }) => whole.outcome.status === "succeeded",
  );
  const ids = givenSegments(new Set(places.map(({ whole }) => whole)));
  const endpointsOf = (some: readonly RequestPlace[]): readonly string[] => [
    ...new Set(some.map(({ exchange }) => endpointOf(exchange.request, ids))),
  ];
  const asked = endpointsOf(places.filter(({ command }) => command.verb === "check"));
  const reads = [
    ...Map.groupBy(
      places.filter(({ command }) => command.verb === "read"),
      ({ recording }) => recording,
    ).values(),
  ].map(endpointsOf);
  if (asked.length === 0 || reads.length === 0) return undefined;
  const isAsked = (endpoint: string) => asked.some((one) => isOf(one, endpoint));
  const all = [...new Set(reads.flat())];
  const isTried = reads.some((endpoints) => endpoints.every(isAsked));
  const denied = isTried ? all : all.filter((endpoint) => !isAsked(endpoint));
  const isIn = (endpoint: string) => denied.some((one) => isOf(endpoint, one));
  return {
    endpoints: denied,
    allowed: asked.filter((endpoint) => !isIn(endpoint)),
    isDenied: (request) => isIn(endpointOf(request, ids)),
    isNeededByAll: (request) =>
      reads.every((endpoints) => endpoints.some((one) => isOf(one, endpointOf(request, ids)))),
  };
}

/**
 * Segments of paths that an earlier answer of the same run gave wherever they stand, as the id of a
 * job: who may ask for one may ask for another one.
 */
function givenSegments(runs: Iterable<Observation>): ReadonlySet<string> {
  const given = new Set<string>();
  const own = new Set<string>();
  for (const { exchanges } of runs) {
    const answered = new Set<string>();
    for (const { request, answer } of exchanges) {
      for (const segment of request.url.pathname.split("/"))
        (answered.has(decodedSegment(segment)) ? given : own).add(segment);
      for (const value of bodyValues(answer?.body.toString("utf8") ?? "")) answered.add(value);
    }
  }
  return given.difference(own);
}

/**
 * The same, or below it: who may not list customers may not count them. What a token is itself, it
 * may always ask.
 */
const isOf = (endpoint: string, other: string) =>
  endpoint === other ||
  (endpoint.startsWith(`${other}/`) && !/\/(?:me|self|current|whoami)$/.test(endpoint));

/** The method says nothing of the right to read; with GraphQL the fields that are asked for do. */
function endpointOf(
  { url, body }: Pick<ProviderRequest, "url" | "body">,
  ids: ReadonlySet<string>,
): string {
  const fields = rootFields(body);
  const path = url.pathname.split("/").map((segment) => (ids.has(segment) ? "{id}" : segment));
  return `${url.origin}${path.join("/")}${fields === "" ? "" : ` { ${fields} }`}`;
}

/** The fields of a GraphQL query itself, without those inside them: "viewer". */
function rootFields(body: string): string {
  const { query } = parsed(body);
  if (typeof query !== "string") return "";
  const start = /(?:^|\bquery\b[^{]*)\s*\{/.exec(query);
  if (!start) return "";
  let depth = 1;
  let text = "";
  for (const sign of query.slice(start.index + start[0].length)) {
    if ("{(".includes(sign)) depth++;
    if ("})".includes(sign)) depth--;
    if (depth === 0) break;
    text += depth === 1 && !"})".includes(sign) ? sign : " ";
  }
  const names = text.replaceAll(/\w+\s*:/g, "").match(/\w+/g) ?? [];
  return [...new Set(names)].sort().join(" ");
}

function parsed(body: string): { readonly query?: unknown } {
  try {
    const value: unknown = JSON.parse(body);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
