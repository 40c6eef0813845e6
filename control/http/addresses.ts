import type { FastifyInstance, FastifyRequest } from "fastify";
import { ControlError } from "../contract/reasons.ts";

/** The addresses that a server answers: the patterns of its routes and their methods. */
export interface Addresses {
  /** Why no route was found: 404, or 405 where another method would be answered. */
  refuse(request: FastifyRequest): ControlError;
}

/** Notes every route that is added from now on. */
export function createAddresses(server: FastifyInstance): Addresses {
  const methodsOf = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  server.addHook("onRoute", ({ url, method }) => {
    const known = methodsOf.get(url) ?? { pattern: toPattern(url), methods: new Set() };
    for (const one of [method].flat()) known.methods.add(one);
    methodsOf.set(url, known);
  });
  return {
    refuse({ url, method }) {
      const path = pathOf(url);
      const methods = [...methodsOf.values()]
        .filter(({ pattern }) => pattern.test(path))
        .flatMap((known) => [...known.methods]);
      if (methods.length === 0 || methods.includes(method)) return new ControlError("not_found");
      return new ControlError(
        "method_not_allowed",
        {},
        { allow: [...new Set(methods)].sort().join(", ") },
      );
    },
  };
}

/** A request may name the whole URL (RFC 9112, section 3.2.2). */
const pathOf = (url: string) => (url.split("?")[0] ?? "").replace(/^[a-z]+:\/\/[^/]*/i, "");

const toPattern = (url: string) =>
  new RegExp(
    `^${url
      .replace(/[.+^$()[\]{}|\\]/g, "\\$&")
      .replace(/:\w+/g, "[^/]+")
      .replace(/\*/g, ".*")}$`,
  );
