import type { FastifyInstance, FastifyRequest } from "fastify";
import { ControlError } from "../contract/reasons.ts";

/** The addresses that a server answers: the patterns of its routes and their methods. */
export interface Addresses {
  /**
   * Looks whether a request goes to an address, with a method that it takes. An address is what the
   * most specific pattern says: `/sources/entities` is no source.
   * @throws not_found, method_not_allowed with the methods
   */
  check(request: FastifyRequest): void;
}

interface Address {
  readonly segments: readonly string[];
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Notes every route that is added from now on. */
export function createAddresses(server: FastifyInstance): Addresses {
  const addresses = new Map<string, Address>();
  server.addHook("onRoute", ({ url, method }) => {
    const known = addresses.get(url) ?? toAddress(url);
    for (const one of [method].flat()) known.methods.add(one);
    addresses.set(url, known);
  });
  /** For the pattern of a route, those that are more specific and fit some of the same paths. */
  const rivals = new Map<string, readonly Address[]>();
  const rivalsOf = (url: string): readonly Address[] => {
    const own = addresses.get(url);
    const known = rivals.get(url);
    if (known || !own) return known ?? [];
    const found = [...addresses.values()]
      .filter((one) => one !== own && overlaps(one, own) && bySpecificity(one, own) < 0)
      .sort(bySpecificity);
    rivals.set(url, found);
    return found;
  };
  return {
    check(request) {
      const { is404, routeOptions, url, method, params } = request;
      // Nothing has an empty id.
      if (Object.values((params ?? {}) as object).includes("")) throw nowhere(request);
      const candidates = is404
        ? [...addresses.values()].sort(bySpecificity)
        : rivalsOf(routeOptions.url ?? "");
      if (candidates.length === 0 && !is404) return;
      const path = pathOf(url);
      const found = candidates.find(({ pattern }) => pattern.test(path));
      if (!found && !is404) return;
      const refusal = nowhere(request);
      if (!found || found.methods.has(method)) throw refusal;
      const allow = [...found.methods].sort().join(", ");
      throw new ControlError("method_not_allowed", {}, { allow });
    },
  };
}

/** It is no request for the operation whose pattern fits besides: nothing is written down. */
function nowhere(request: FastifyRequest): ControlError {
  request.isSettled = true;
  return new ControlError("not_found");
}

/** A request may name the whole URL (RFC 9112, section 3.2.2), and spell its letters otherwise. */
function pathOf(url: string): string {
  const path = (url.split(/[?#]/)[0] ?? "").replace(/^[a-z]+:\/\/[^/]*/i, "");
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

const toAddress = (url: string): Address => ({
  segments: url.split("/"),
  pattern: new RegExp(
    `^${url
      .replace(/[.+^$()[\]{}|\\]/g, "\\$&")
      .replace(/:\w+/g, "[^/]+")
      .replace(/\*/g, ".*")}$`,
  ),
  methods: new Set(),
});

const isLiteral = (segment = "") => !segment.startsWith(":") && segment !== "*";

/** Whether some path fits both. */
const overlaps = ({ segments: left }: Address, { segments: right }: Address): boolean =>
  left.length === right.length &&
  left.every(
    (segment, index) => segment === right[index] || !isLiteral(segment) || !isLiteral(right[index]),
  );

/** A literal segment goes before one that stands for any. */
function bySpecificity({ segments: left }: Address, { segments: right }: Address): number {
  const at = left.findIndex((segment, index) => isLiteral(segment) !== isLiteral(right[index]));
  if (at === -1) return 0;
  return isLiteral(left[at]) ? -1 : 1;
}
