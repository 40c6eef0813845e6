/** The provider, but one request is led elsewhere by a redirect. */
import type { Provider, ProviderRequest } from "../../contract/network.ts";

export interface Detour {
  readonly status: number;
  /** Which request is redirected. Only the first that fits. */
  readonly when: (request: ProviderRequest) => boolean;
  /**
   * Where to, for each hop from 0; undefined = the answer that was asked for in the first place.
   */
  readonly to: (request: ProviderRequest, hop: number) => string | undefined;
}

/** A redirected request is answered like the original one, whatever host it reaches. */
export function withDetour(
  provider: Provider,
  { status, when, to }: Detour,
): Provider & { readonly hops: readonly ProviderRequest[] } {
  const hops: ProviderRequest[] = [];
  const led = new Set<string>();
  let origin: ProviderRequest | undefined;
  return {
    hops,
    answer(request) {
      const isLed = origin !== undefined && led.has(withoutHash(request.url.href));
      if (isLed) hops.push(request);
      else if (origin !== undefined || !when(request)) return provider.answer(request);
      origin ??= request;
      const location = to(origin, hops.length);
      if (location === undefined) return provider.answer({ ...origin, index: request.index });
      led.add(withoutHash(new URL(location, request.url).href));
      return { status, headers: { location }, body: Buffer.alloc(0) };
    },
    unused: () => [],
  };
}

const withoutHash = (href: string) => href.replace(/#.*$/, "");

/** The same path and query at another origin. */
export const at = (origin: string, { url }: ProviderRequest) =>
  `${origin}${url.pathname}${url.search}`;
