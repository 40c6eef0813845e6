import { ConnectorError, type ErrorCode, isErrorCode, isRetryable } from "../contract/errors.ts";
import { isJsonObject } from "../contract/json.ts";
import { type HttpCall, type HttpMethod, readingMethods } from "../wire/http-call.ts";

/** Statuses besides 2xx that one call may ask for: every error there is, and no more. */
const maxAccepted = 200;

/**
 * Checks the form of a call that came from a worker. Path, query and headers are checked where they
 * are encoded.
 * @param mayNameUrls its path may be a whole URL
 * @throws CONNECTOR_PROTOCOL
 */
export function checkCall(
  call: HttpCall,
  methods: readonly HttpMethod[] = readingMethods,
  mayNameUrls = false,
): void {
  const given: { readonly [name in keyof HttpCall]?: unknown } = call;
  if (!methods.includes(given.method as HttpMethod))
    throw refused(`the method must be ${methods.join(" or ")}`);
  const isUrl = typeof given.path === "string" && mayNameUrls;
  if (!Array.isArray(given.path) && !isUrl) throw refused("the path must be a list of segments");
  if (given.query !== undefined && !isJsonObject(given.query))
    throw refused("the query must be an object");
  const { body, text } = given;
  if (given.method === "GET" && (body !== undefined || text !== undefined))
    throw refused("a GET request has no body");
  if (text !== undefined && (typeof text !== "string" || body !== undefined))
    throw refused("a request has one body");
  if (given.accept !== undefined && !isStatusList(given.accept))
    throw refused("accept must be a list of HTTP statuses");
  if (given.again !== undefined) checkAgain(given.again);
}

function checkAgain(again: unknown): void {
  const { code, attempt } = (again ?? {}) as { code?: unknown; attempt?: unknown };
  if (!isErrorCode(code) || !isRetryable(code as ErrorCode))
    throw refused("only a transient error is tried again");
  if (!Number.isInteger(attempt) || Number(attempt) < 1)
    throw refused("the attempt must be counted from 1");
}

const isStatusList = (value: unknown) =>
  Array.isArray(value) &&
  value.length <= maxAccepted &&
  value.every((status) => Number.isInteger(status) && status >= 200 && status <= 599);
const refused = (problem: string) => new ConnectorError("CONNECTOR_PROTOCOL", { problem });
