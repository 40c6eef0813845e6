/**
 * Error handlers: what an answer means, and how long to wait before the request is tried again.
 * They decide like those of Airbyte; who asks too often is still held back by the broker.
 */
import type { HttpResponse } from "../../contract/context.ts";
import { ConnectorError, type ErrorCode } from "../../contract/errors.ts";
import { judgeWith, waitWith } from "../custom/requests.ts";
import { ownPartOf } from "../custom/scope.ts";
import type { Component } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { number } from "../expressions/operands.ts";
import { searchPattern } from "../expressions/patterns.ts";
import { readFloat } from "../expressions/rounding.ts";
import { isMapping, isNumber, type PlainValue, toText } from "../expressions/values.ts";
import { scopeOfError } from "../records/answer.ts";

const actions = [
  ...(["SUCCESS", "FAIL", "RETRY", "IGNORE", "RATE_LIMITED", "REFRESH_TOKEN_THEN_RETRY"] as const),
];
type Action = (typeof actions)[number];
/** Those that an author's own handler may say: the host alone knows of tokens. */
const ownActions = ["SUCCESS", "FAIL", "RETRY", "IGNORE", "RATE_LIMITED"] as const;

export interface Verdict {
  readonly action: Action;
  readonly code: ErrorCode;
}

export interface ErrorHandler {
  judge(answer: HttpResponse, scope: Scope): Verdict;
  /**
   * How long to wait before the next try; nothing after the last one.
   * @throws RATE_LIMITED when nobody waits that long
   */
  waitMs(seen: Attempt): number | undefined;
}

/** A try of a request that has failed. */
export interface Attempt {
  readonly answer: HttpResponse;
  /** Counted from 1. */
  readonly attempt: number;
  readonly scope: Scope;
  readonly now: number;
}

/** Every status that is an error: a handler may mean any. */
export const errorStatuses: readonly number[] = Array.from({ length: 200 }, (_, at) => 400 + at);

export function compileErrorHandler(requester: Component): ErrorHandler | undefined {
  const handler = requester.child("error_handler", ...handlerTypes);
  if (!handler) return undefined;
  const all = handlersOf(handler).map(compileOne);
  const [first] = all;
  if (!first) throw invalid(handler.at("error_handlers"), "must name a handler");
  const waits = all.flatMap((one) => one.waits);
  return {
    judge(answer, scope) {
      const seen: Scope = { ...scope, ...scopeOfError(answer) };
      let verdict: Verdict = { action: "FAIL", code: codeOf(answer.status) };
      for (const { filters } of all) {
        verdict = firstOf(filters, answer, seen) ?? usual(answer);
        if (["SUCCESS", "RETRY", "IGNORE"].includes(verdict.action)) break;
      }
      return verdict;
    },
    waitMs({ answer, attempt, scope, now }) {
      if (attempt > first.maxRetries(scope)) return undefined;
      const headers: Scope = { ...scope, ...scopeOfError(answer) };
      const declaredMs = firstWait(waits, { answer, attempt, scope: headers, now });
      // Providers count in whole seconds: one more, and their time is over.
      if (declaredMs !== undefined) return bounded(declaredMs + 1);
      const asked = Number(answer.headers["retry-after"]);
      return bounded(asked > 0 ? asked : 2 ** (attempt - 1));
    },
  };
}

const handlerTypes = [
  ...(["DefaultErrorHandler", "CompositeErrorHandler", "CustomErrorHandler"] as const),
] as const;

/** Handlers within others are asked in their order, as if they stood in one list. */
const handlersOf = (handler: Component): Component[] =>
  handler.type === "CompositeErrorHandler"
    ? handler.children("error_handlers", ...handlerTypes).flatMap(handlersOf)
    : [handler];

function firstWait(waits: readonly Wait[], { answer, attempt, scope, now }: Attempt) {
  for (const wait of waits) {
    const seconds = wait(scope, attempt, now, answer);
    if (seconds !== undefined && seconds > 0) return seconds;
  }
  return undefined;
}

/** Nobody waits longer for one answer: the job is tried again later. */
const maxWaitSeconds = 3_900;
function bounded(seconds: number): number {
  if (seconds > maxWaitSeconds) throw new ConnectorError("RATE_LIMITED");
  return seconds * 1000;
}

type Filter = (answer: HttpResponse, seen: Scope) => Verdict | undefined;
type Wait = (seen: Scope, attempt: number, now: number, answer: HttpResponse) => number | undefined;

function compileOne(handler: Component) {
  const retries = handler.template("max_retries");
  return {
    maxRetries: (scope: Scope) => {
      const made = retries ? Number(toText(retries.value(scope))) : 5;
      if (!Number.isInteger(made)) throw invalid(handler.at("max_retries"), "must be a number");
      return Math.max(0, Math.min(made, 100));
    },
    ...waysOf(handler),
  };
}

/** The meanings that answers have for a handler, and its waits. */
function waysOf(handler: Component): { filters: Filter[]; waits: Wait[] } {
  const own = ownPartOf(handler);
  if (own)
    return {
      filters: [
        (answer, seen) => {
          const action = judgeWith(own, answer, seen, ownActions);
          return action && { action, code: codeOf(answer.status) };
        },
      ],
      waits: [(seen, attempt, _, answer) => waitWith(own, answer, seen, attempt)],
    };
  return {
    filters: handler.children("response_filters", "HttpResponseFilter").map(compileFilter),
    waits: handler
      .children(
        "backoff_strategies",
        ...([
          "ConstantBackoffStrategy",
          "ExponentialBackoffStrategy",
          "WaitTimeFromHeader",
        ] as const),
        ...(["WaitUntilTimeFromHeader", "WaitTimeFromResponse"] as const),
        "CustomBackoffStrategy",
      )
      .map(compileWait),
  };
}

function compileFilter(filter: Component): Filter {
  const action = filter.get("action");
  const known = actions.find((one) => one === action);
  if (action !== undefined && action !== null && !known)
    throw new Unsupported(filter.at("action"), `is ${String(action)}, which is not supported here`);
  const codes = filter.get("http_codes") ?? [];
  if (!Array.isArray(codes)) throw invalid(filter.at("http_codes"), "must be a list");
  const statuses = new Set(codes.map(Number));
  const predicate = filter.template("predicate");
  const words = filter.get("error_message_contains");
  const failure = filter.get("failure_type");
  return (answer, seen) => {
    const isMeant =
      statuses.has(answer.status) ||
      (predicate?.holds(seen) ?? false) ||
      (typeof words === "string" && words !== "" && errorText(answer, seen).includes(words));
    if (!isMeant || known === undefined) return undefined;
    return { action: known, code: failureCode(failure, answer.status) };
  };
}

const firstOf = (filters: readonly Filter[], answer: HttpResponse, seen: Scope) => {
  for (const filter of filters) {
    const verdict = filter(answer, seen);
    if (verdict) return verdict;
  }
  return undefined;
};

/** Everything else that fails is tried again, unknown statuses too, as in Airbyte. */
const failingStatuses: readonly number[] = [400, 401, 403, 404, 405];

/** The meaning of an answer that no filter knows. */
function usual({ status }: HttpResponse): Verdict {
  const code = codeOf(status);
  if (status < 400) return { action: "SUCCESS", code };
  if (status === 429) return { action: "RATE_LIMITED", code };
  return { action: failingStatuses.includes(status) ? "FAIL" : "RETRY", code };
}

function codeOf(status: number): ErrorCode {
  if (status === 401) return "CREDENTIALS_REJECTED";
  if (status === 403) return "PERMISSION_DENIED";
  if (status === 404 || status === 410) return "RESOURCE_NOT_FOUND";
  if (status === 429) return "RATE_LIMITED";
  if (status >= 500 || status === 408) return "PROVIDER_UNAVAILABLE";
  return "REQUEST_REJECTED";
}

function failureCode(failure: unknown, status: number): ErrorCode {
  if (failure === "transient_error")
    return status === 429 ? "RATE_LIMITED" : "PROVIDER_UNAVAILABLE";
  if (failure === "config_error" && status < 400) return "ACCESS_MISSING";
  return codeOf(status);
}

/** Where providers say what went wrong, as Airbyte looks for it. */
const messageNames = [
  ...["message", "messages", "error", "errors", "failures", "failure", "detail", "err"],
  ...["error_message", "msg", "reason", "status_message"],
];
function errorText(answer: HttpResponse, { response }: Scope): string {
  const find = (value: PlainValue): string | undefined => {
    if (typeof value === "string") return value;
    if (Array.isArray(value))
      return value
        .map(find)
        .filter((one) => one !== undefined)
        .join(", ");
    if (!isMapping(value)) return undefined;
    const name = messageNames.find((one) => Object.hasOwn(value, one) && value[one]);
    return name === undefined ? undefined : find(value[name]);
  };
  const isDocument = isMapping(response) ? Object.keys(response).length > 0 : true;
  return (isDocument ? find(response) : answer.text()) ?? "";
}

function compileWait(strategy: Component): Wait {
  const own = ownPartOf(strategy);
  if (own) return (seen, attempt, _, answer) => waitWith(own, answer, seen, attempt);
  const numberAt = (name: string) => {
    const template = strategy.template(name);
    return (scope: Scope) => {
      const made = template?.value(scope);
      return made === undefined || made === null || made === "" ? undefined : Number(toText(made));
    };
  };
  if (strategy.type === "ConstantBackoffStrategy") {
    const seconds = numberAt("backoff_time_in_seconds");
    return (seen) => seconds(seen);
  }
  if (strategy.type === "ExponentialBackoffStrategy") {
    const factor = numberAt("factor");
    return (seen, attempt) => (factor(seen) ?? 5) * 2 ** attempt;
  }
  if (strategy.type === "WaitTimeFromResponse") return compileBodyWait(strategy);
  const header = strategy.required("header", strategy.template("header"));
  const regex = strategy.template("regex");
  const most = numberAt("max_waiting_time_in_seconds");
  const least = numberAt("min_wait");
  const isUntil = strategy.type === "WaitUntilTimeFromHeader";
  return (seen, _, now) => {
    const value = (seen.headers as Scope)[header.text(seen).toLowerCase()];
    let text = typeof value === "string" ? value : "";
    if (regex && text !== "") text = searchPattern(`^(?:${regex.text(seen)})`, text)?.[0] ?? text;
    const given = text.trim() === "" ? Number.NaN : Number(text);
    const floor = least(seen);
    let seconds: number | undefined = Number.isNaN(given) ? undefined : given;
    if (isUntil && seconds !== undefined) seconds -= now / 1000;
    if (isUntil && floor !== undefined) seconds = Math.max(seconds ?? floor, floor);
    if (seconds === undefined || seconds < 0) return undefined;
    const limit = most(seen);
    if (limit !== undefined && seconds > 0 && seconds >= limit)
      throw new ConnectorError("RATE_LIMITED");
    return seconds;
  };
}

/** A wait that an answer says in its body: one of another shape says nothing. */
function compileBodyWait(strategy: Component): Wait {
  const name = "wait_time_in_seconds";
  const template = strategy.required(name, strategy.template(name));
  const most = strategy.template("max_waiting_time_in_seconds");
  return (seen) => {
    const written = evaluated(() => template.perhaps(seen));
    const seconds =
      typeof written === "string" ? readFloat(written) : isNumber(written) ? number(written) : 0;
    if (seconds === undefined || !Number.isFinite(seconds) || seconds <= 0) return undefined;
    const limit = most === undefined ? undefined : Number(toText(most.value(seen)));
    if (limit !== undefined && seconds >= limit) throw new ConnectorError("RATE_LIMITED");
    return seconds;
  };
}

/** Nothing for an expression that does not fit what it is given. */
function evaluated(work: () => PlainValue): PlainValue {
  try {
    return work();
  } catch (error) {
    const { problem } = error instanceof ConnectorError ? error.details : {};
    if (String(problem).startsWith("holds an expression")) return undefined;
    throw error;
  }
}
