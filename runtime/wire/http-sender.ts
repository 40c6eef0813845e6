import type { BodyOptions, HttpResponse } from "../contract/context.ts";
import type { ErrorRule } from "../contract/egress.ts";
import { ConnectorError, isRetryable } from "../contract/errors.ts";
import type { JsonValue } from "../contract/json.ts";
import { findErrorCode } from "./error-rules.ts";
import { parseExact } from "./exact-json.ts";
import type { HttpAnswer, HttpCall, HttpMethod } from "./http-call.ts";

/** An answer in the worker: its body as text. */
export type TextAnswer = Omit<HttpAnswer, "body"> & { readonly text: string };

/** Sends one call to the broker. @throws ConnectorError as HttpClient lists them */
export type SendCall = (call: HttpCall) => Promise<TextAnswer>;

/** Sends requests, and tries those again whose answer is a success by its status only. */
export function createSender(request: SendCall, rules: readonly ErrorRule[]) {
  const bodyRules = rules.filter((rule) => rule.pointer !== undefined);
  return async (
    method: HttpMethod,
    path: HttpCall["path"],
    options: BodyOptions & Pick<HttpCall, "place">,
  ): Promise<HttpResponse> => {
    const call: HttpCall = {
      method,
      path,
      query: options.query as HttpCall["query"],
      headers: options.headers,
      accept: options.accept,
      jwt: options.jwt,
      renewal: options.renewal,
      place: options.place,
      body: options.body as JsonValue | undefined,
      text: options.text,
    };
    for (let attempt = 1, again: HttpCall["again"]; ; attempt++) {
      const answer = await request(again ? { ...call, again } : call);
      const response = toResponse(answer);
      const code = bodyRules.length > 0 ? judge(bodyRules, answer, response) : undefined;
      if (code === undefined) return response;
      if (!isRetryable(code)) throw new ConnectorError(code, { status: answer.status });
      // the host waits by its retry policy, and refuses when the budget is used up
      again = { code, attempt };
    }
  };
}

/** The verdict of an error rule on an answer that HTTP calls a success. */
function judge(
  rules: readonly ErrorRule[],
  { status, headers }: TextAnswer,
  response: HttpResponse,
) {
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
    throw new ConnectorError("RESPONSE_INVALID", {
      reason: isHtml ? "it is a web page, not JSON" : "it is not JSON",
    });
  }
}
