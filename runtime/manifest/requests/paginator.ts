/** DefaultPaginator and its strategies: what the next page is, and where a request says so. */

import { nextWith } from "../custom/requests.ts";
import { ownPartOf } from "../custom/scope.ts";
import type { Component } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import { type PlainValue, toText, truth } from "../expressions/values.ts";
import { compileDecoder } from "../records/answer.ts";
import { type Added, compileInject, type Inject } from "./request-option.ts";

/** A page as it was received. */
export interface SeenPage {
  /** `response`, `headers`, `last_record` and `last_page_size` are in it. */
  readonly scope: Scope;
  /** Records that came, those included that a filter drops. */
  readonly size: number;
}

export interface Paginator {
  /** Its tokens are numbers of its own, which never come again. */
  readonly isCounted: boolean;
  /** The token of the first page, where a strategy has one. */
  readonly first: PlainValue;
  inject(added: Added, token: PlainValue, scope: Scope): void;
  /** The token of the following page; undefined = there is none. */
  next(page: SeenPage, token: PlainValue): PlainValue;
}

interface Strategy extends Pick<Paginator, "isCounted" | "first" | "next"> {
  readonly size: ((scope: Scope) => PlainValue) | undefined;
  readonly isOnFirst: boolean;
}

export const noPaginator: Paginator = {
  isCounted: false,
  first: undefined,
  inject() {},
  next: () => undefined,
};

export function compilePaginator(paginator: Component | undefined): Paginator {
  if (!paginator || paginator.type === "NoPagination") return noPaginator;
  compileDecoder(paginator);
  const { isCounted, size, isOnFirst, first, next } = compileStrategy(
    paginator.required(
      "pagination_strategy",
      paginator.child(
        "pagination_strategy",
        "CursorPagination",
        "OffsetIncrement",
        "PageIncrement",
        "CustomPaginationStrategy",
      ),
    ),
  );
  const sizeOption = paginator.child("page_size_option", "RequestOption");
  const tokenOption = paginator.child("page_token_option", "RequestOption", "RequestPath");
  if (sizeOption && !size)
    throw invalid(paginator.at("page_size_option"), "needs a page_size in the strategy");
  const injectSize = sizeOption && compileInject(sizeOption);
  const injectToken: Inject | undefined =
    tokenOption?.type === "RequestPath"
      ? (added, token) => {
          added.path = toText(token);
        }
      : tokenOption && compileInject(tokenOption);
  return {
    isCounted,
    first: isOnFirst ? first : undefined,
    inject(added, token, scope) {
      if (token !== undefined) injectToken?.(added, token, scope);
      if (size && injectSize) injectSize(added, size(scope), scope);
    },
    next: (page, token) => next(page, token ?? first),
  };
}

function compileStrategy(strategy: Component): Strategy {
  const size = strategy.template("page_size")?.value;
  const own = ownPartOf(strategy);
  if (own)
    return {
      ...{ isCounted: false, size, isOnFirst: false, first: undefined },
      next: (page, token) => nextWith(own, page.scope, page.size, token),
    };
  const isOnFirst = strategy.get("inject_on_first_request") === true;
  if (strategy.type === "CursorPagination") {
    compileDecoder(strategy);
    const cursor = strategy.required("cursor_value", strategy.template("cursor_value"));
    const written = strategy.get("stop_condition");
    const stop =
      typeof written === "string" || typeof written === "boolean"
        ? compileTemplate(String(written), strategy.at("stop_condition"))
        : undefined;
    return {
      ...{ isCounted: false, size, isOnFirst: false, first: undefined },
      next({ scope: seen }) {
        const scope = size ? { ...seen, page_size: size(seen) } : seen;
        if (stop?.holds(scope)) return undefined;
        const token = cursor.value(scope);
        return truth(token) ? token : undefined;
      },
    };
  }
  const isFull = ({ scope, size: rows }: SeenPage) =>
    rows > 0 && (size === undefined || rows >= Number(size(scope)));
  if (strategy.type === "OffsetIncrement")
    return {
      ...{ isCounted: true, size, isOnFirst, first: 0 },
      next: (page, token) => (isFull(page) ? Number(token) + page.size : undefined),
    };
  const first = strategy.get("start_from_page") ?? 0;
  if (typeof first !== "number") throw invalid(strategy.at("start_from_page"), "must be a number");
  return {
    ...{ isCounted: true, size, isOnFirst, first },
    next: (page, token) => (isFull(page) ? Number(token) + 1 : undefined),
  };
}
