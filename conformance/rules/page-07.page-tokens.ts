/**
 * Providers whose tokens and links are other than the recorded ones: an empty token, links that
 * lead astray.
 */
import { parseExact } from "svc-connectors";
import type { Lab } from "../contract/lab.ts";
import type { Listing } from "../contract/learned.ts";
import type { Answer, Provider, ProviderRequest } from "../contract/network.ts";
import { nextOf, treeOf } from "../derive/sweeps/pages.ts";
import { toText, withValue } from "../learn/json.ts";

/**
 * The first token of each listing is the empty text, and leads to the second page when the
 * connector sends it. Only for cursors in an answer's body.
 */
export function withEmptyToken(
  lab: Lab,
  listings: readonly Listing[],
): (provider: Provider) => Provider {
  const hidden = new Map<Listing, string>();
  return (provider) => ({
    unused: () => [],
    answer(request) {
      const listing = lab.learned.listingOf(request);
      if (!listing || !listings.includes(listing)) return provider.answer(request);
      const token = hidden.get(listing);
      const given = provider.answer(
        token !== undefined && parameterOf(request, listing) === ""
          ? withParameter(request, listing, token)
          : request,
      );
      if ("unmatched" in given) return given;
      const next = nextOf(listing, { answer: given });
      if (next !== undefined && next !== "" && token === undefined) hidden.set(listing, next);
      return next !== undefined && next !== "" && next === hidden.get(listing)
        ? withNext(given, listing, "")
        : given;
    },
  });
}

/** The provider uses the empty text itself, to say that there are no more pages. */
export const endsWithEmptyToken = (lab: Lab, listing: Listing): boolean =>
  lab.recordings
    .flatMap(({ interactions }) => interactions)
    .some(({ request, response }) => {
      const own = lab.learned.listingOf({
        method: request.method,
        url: new URL(request.url),
        body: request.body ?? "",
      });
      return (
        own === listing &&
        nextOf(listing, {
          answer: {
            status: response.status,
            headers: response.headers,
            body: Buffer.from(response.body ?? ""),
          },
        }) === ""
      );
    });

/** Every next link is changed; what is then asked for, wherever, is answered like at home. */
export function withLinks(
  lab: Lab,
  listings: readonly Listing[],
  change: (link: URL) => string,
): (provider: Provider) => Provider {
  return (provider) => ({
    unused: () => [],
    answer(request) {
      const home = listings.find(({ path }) => path === request.url.pathname) ?? listings[0];
      const url = new URL(
        `${request.url.pathname}${request.url.search}`,
        home?.origin ?? request.url.origin,
      );
      const asked = { ...request, url };
      const listing = lab.learned.listingOf(asked);
      const given = provider.answer(asked);
      if (!listing || !listings.includes(listing) || "unmatched" in given) return given;
      const next = nextOf(listing, { answer: given });
      const link = next === undefined ? null : URL.parse(next, url);
      return next === undefined || link === null
        ? given
        : withNext(given, listing, change(link), next);
    },
  });
}

function withNext(answer: Answer, { paging }: Listing, value: string, before = ""): Answer {
  const { next = "" } = "next" in paging ? paging : {};
  if (next.startsWith("header:"))
    return {
      ...answer,
      headers: {
        ...answer.headers,
        link: (answer.headers.link ?? "").replace(`<${before}>`, () => `<${value}>`),
      },
    };
  return { ...answer, body: Buffer.from(toText(withValue(treeOf({ answer }), next, value))) };
}

/** Undefined when the request does not have it at all. */
function parameterOf({ url, body }: ProviderRequest, { paging }: Listing): string | undefined {
  const { parameter = "", isInBody = false } = "parameter" in paging ? paging : {};
  if (!isInBody) return url.searchParams.get(parameter) ?? undefined;
  const form = body.startsWith("{") ? undefined : new URLSearchParams(body).get(parameter);
  const value = form ?? stepsInto(body, parameter);
  return typeof value === "string" ? value : undefined;
}

function stepsInto(body: string, parameter: string): unknown {
  try {
    return parameter
      .split("/")
      .reduce<unknown>(
        (value, step) =>
          typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined,
        parseExact(body),
      );
  } catch {
    return undefined;
  }
}

function withParameter(
  request: ProviderRequest,
  { paging }: Listing,
  value: string,
): ProviderRequest {
  const { parameter = "", isInBody = false } = "parameter" in paging ? paging : {};
  if (!isInBody) {
    const url = new URL(request.url);
    url.searchParams.set(parameter, value);
    return { ...request, url };
  }
  if (request.body.startsWith("{"))
    return {
      ...request,
      body: toText(withValue(parseExact(request.body), `/${parameter}`, value)),
    };
  const form = new URLSearchParams(request.body);
  form.set(parameter, value);
  return { ...request, body: form.toString() };
}
