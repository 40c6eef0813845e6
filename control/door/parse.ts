import type { Operation, OperationInput } from "../contract/operation.ts";
import type { ControlHeaders, Request } from "./execute.ts";
import { parseJsonBody } from "./json-body.ts";
import { checkTexts } from "./validate.ts";

type Parts = OperationInput<object, object, object>;

/**
 * The parts of a request, not yet of the form that an operation wants.
 * @throws invalid_query, malformed_json, duplicate_field, nesting_too_deep, validation_failed
 */
export function parseRequest({ effect }: Operation, { params, query, body }: Request): Parts {
  checkTexts(params);
  checkTexts(query);
  return {
    params: { ...params },
    query: { ...query },
    body: effect === "read" ? {} : (bodyOf(body) as object),
  };
}

/**
 * A body that was parsed already goes through the same checks: a character that cannot be stored
 * comes in by any door.
 */
function bodyOf(body: Request["body"]): unknown {
  if (body === undefined) return {};
  if ("value" in body) return parseJsonBody(Buffer.from(JSON.stringify(body.value ?? {})));
  return body.length === 0 ? {} : parseJsonBody(body);
}

/** The workspaces that the parts of a request name; where none of them does, the header's. */
export function namedWorkspaces(
  { params, query, body }: Parts,
  headers: ControlHeaders,
): unknown[] {
  const of = (part: unknown) =>
    typeof part === "object" && part !== null
      ? (part as { workspace_id?: unknown }).workspace_id
      : undefined;
  // A value that is no text is refused by the schema, with its place.
  const named = [of(params), of(query), of(body)].filter((id) => typeof id === "string");
  return named.length > 0 ? named : [headers.workspaceId];
}
