import type { Context, HttpClient, HttpResponse, Log, RequestOptions } from "../contract/context.ts";
import type { Egress, ErrorRule } from "../contract/egress.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import type { Source } from "../contract/source.ts";
import type { HttpCall, HttpMethod } from "../egress/broker.ts";
import { findErrorCode } from "../egress/error-rules.ts";
import { ConnectorError, isRetryable } from "../errors.ts";
import { parseExact } from "../sanitize/exact-json.ts";
import { isSecret } from "../spec/secret-fields.ts";
import type { Calls, TextAnswer } from "./calls.ts";

/** What a connector receives; everything in it goes through the host. */
export function createContext(
  source: Source,
  config: JsonObject,
  calls: Calls,
  signal: AbortSignal,
): Context<never, Egress> {
  const base = {
    config: deepFreeze(trapSecrets(config, source.spec as unknown as JsonObject)),
    log: createLog(calls),
    clock: { now: calls.now, sleep: calls.sleep },
    signal,
  };
  const context =
    source.egress.kind === "http"
      ? { ...base, http: createHttpClient(calls, source.egress.errors ?? []) }
      : { ...base, connect: calls.connect };
  return Object.freeze(context) as unknown as Context<never, Egress>;
}

/** A secret is not there; `undefined` would hide the mistake of asking for it until a provider refuses the request. */
function trapSecrets(config: JsonObject, schema: JsonObject): JsonObject {
  for (const [name, part] of Object.entries((schema.properties ?? {}) as { [name: string]: JsonObject })) {
    const value = config[name];
    if (value === undefined && isSecret(part)) {
      const get = () => {
        throw new ConnectorError("CONNECTOR_FORBIDDEN", { resource: `the secret setting ${name}` });
      };
      Object.defineProperty(config, name, { get, enumerable: false });
    } else if (typeof value === "object" && value !== null && !Array.isArray(value)) trapSecrets(value, part);
  }
  for (const list of [schema.anyOf, schema.oneOf, schema.allOf])
    for (const one of Array.isArray(list) ? list : []) trapSecrets(config, one as JsonObject);
  return config;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

function createLog(calls: Calls): Log {
  return {
    debug: (message, fields = {}) => calls.log("debug", String(message), fields),
    info: (message, fields = {}) => calls.log("info", String(message), fields),
    warn: (message, fields = {}) => calls.log("warn", String(message), fields),
  };
}

function createHttpClient(calls: Calls, rules: readonly ErrorRule[]): HttpClient {
  const send = createSender(calls, rules);
  return {
    get: (path, options = {}) => send("GET", path, options),
    post: (path, options = {}) => send("POST", path, options),
  };
}

/** Sends requests, and tries those again whose answer is a success by its status only. */
export function createSender(calls: Pick<Calls, "request">, rules: readonly ErrorRule[]) {
  const bodyRules = rules.filter((rule) => rule.pointer !== undefined);
  return async (
    method: HttpMethod,
    path: HttpCall["path"],
    options: RequestOptions & { body?: unknown },
  ): Promise<HttpResponse> => {
    const call: HttpCall = {
      method,
      path,
      ...(options.query ? { query: options.query as { [name: string]: JsonValue } } : {}),
      ...(options.headers ? { headers: options.headers } : {}),
      ...(options.accept ? { accept: options.accept } : {}),
      ...(options.body === undefined ? {} : { body: options.body as JsonValue }),
    };
    for (let attempt = 1, again: HttpCall["again"]; ; attempt++) {
      const answer = await calls.request(again ? { ...call, again } : call);
      const response = toResponse(answer);
      const code = bodyRules.length > 0 ? judge(bodyRules, answer, response) : undefined;
      if (code === undefined) return response;
      if (!isRetryable(code)) throw new ConnectorError(code, { status: answer.status });
      again = { code, attempt }; // the host waits by its retry policy, and refuses when the budget is used up
    }
  };
}

/** What an error rule makes of an answer that HTTP calls a success. */
function judge(rules: readonly ErrorRule[], { status, headers }: TextAnswer, response: HttpResponse) {
  const body = () => {
    try {
      return response.json();
    } catch {
      return undefined; // the connector meets this when it reads the body
    }
  };
  return findErrorCode(rules, { status, headers, body: body() });
}

function toResponse({ status, headers, text }: TextAnswer): HttpResponse {
  let parsed: { readonly value: unknown } | undefined;
  return {
    status,
    headers,
    text: () => text,
    json<T>(): T {
      parsed ??= { value: parseBody(text, headers["content-type"] ?? "") };
      return parsed.value as T;
    },
  };
}

function parseBody(text: string, contentType: string): unknown {
  if (text === "") throw new ConnectorError("RESPONSE_INVALID", { reason: "the body is empty" });
  try {
    return parseExact(text);
  } catch {
    const isHtml = /html/i.test(contentType) || text.trimStart().startsWith("<");
    throw new ConnectorError("RESPONSE_INVALID", { reason: isHtml ? "it is a web page, not JSON" : "it is not JSON" });
  }
}
