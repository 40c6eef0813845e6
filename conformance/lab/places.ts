/** Which line of the connector sent a request, by what it had asked for when the request came. */
import type { Exchange, ProviderRequest } from "../contract/network.ts";
import type { PlacedCall } from "../contract/target.ts";
import { linesOf } from "../replay/access.ts";

export interface Places {
  /** Takes note of a request as the connector asks for it. */
  onCall(call: PlacedCall): void;
  /** Takes note of a request that has come; retries and redirects have their call's line. */
  onRequest(request: ProviderRequest): void;
  /** The same function; whoever calls it from these files is noted. */
  watching(own: typeof fetch, files: readonly string[]): typeof fetch;
  /** The exchanges, each with its line where it is known. */
  named(exchanges: readonly Exchange[]): readonly Exchange[];
}

export function createPlaces(): Places {
  const calls = new Map<string, PlacedCall[]>();
  const places = new Map<number, string>();
  const onCall: Places["onCall"] = (call) => {
    const key = keyOf(call);
    calls.set(key, [call, ...(calls.get(key) ?? [])].slice(0, maxCalls));
  };
  return {
    onCall,
    onRequest(request) {
      const call = calls.get(keyOf(request))?.find(({ url }) => isWithin(url, request.url));
      if (call?.place !== undefined) places.set(request.index, call.place);
    },
    watching(own, files) {
      const known = new Set(files);
      return (input, init) => {
        const { url, method } =
          input instanceof Request ? input : { url: String(input), method: "GET" };
        if (URL.canParse(url))
          onCall({ method: init?.method ?? method, url: new URL(url), place: linesOf(known) });
        return own(input, init);
      };
    },
    named: (exchanges) =>
      exchanges.map((exchange) => {
        const place = places.get(exchange.request.index);
        return place === undefined ? exchange : { ...exchange, place };
      }),
  };
}

/** Calls that are kept of one path: more are not under way at a time. */
const maxCalls = 64;

const keyOf = ({ method, url }: { readonly method: string; readonly url: URL }) =>
  `${method} ${url.host}${url.pathname}`;

/** Whether a request has the parameters of a call: a host may have added its credentials. */
const isWithin = (asked: URL, sent: URL): boolean =>
  [...asked.searchParams].every(([name, value]) => sent.searchParams.getAll(name).includes(value));
