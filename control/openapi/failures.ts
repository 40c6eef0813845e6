/** The failures of each operation, for the OpenAPI document. */
import { isStream, type Operation } from "../contract/operation.ts";
import { type Reason, reasons } from "../contract/reasons.ts";
import { FieldError } from "../contract/schemas.ts";
import type { Components, DocumentPart } from "./components.ts";
import { envelope, type HeaderName, headersOf, limits, requestId } from "./envelope.ts";

const reasonNames = Object.keys(reasons) as Reason[];

/** The schema of every failure. */
const failureSchema = {
  title: "Error",
  ...envelope({
    code: { type: "string", pattern: "^[45]\\d\\d$", description: "The HTTP status, as text." },
    message: { type: "string", description: "For people: it may be worded anew." },
    details: {
      title: "ErrorDetails",
      type: "object",
      description: "What more there is to know, by the reason.",
      properties: {
        reason: {
          title: "Reason",
          type: "string",
          description: "For programs: it stays. More are added in time.",
          "x-extensible-enum": reasonNames,
        },
        resource: { type: "string", description: "The kind of thing that was not found." },
        errors: {
          type: "array",
          items: FieldError,
        },
      },
      required: ["reason"],
      additionalProperties: true,
    },
    request_id: requestId,
  }),
};

/** Failures that are told one by one, by their status; all others are the default. */
const failures: Readonly<Record<number, string>> = {
  400: "The request cannot be understood.",
  403: "Not by this caller.",
  404: "What the address or the body names does not exist, or belongs to another workspace.",
  409: "The state of things does not allow it.",
  410: "It has expired.",
  412: "It was changed since the version in If-Match.",
  422: "Understood, and not possible as it stands.",
  424: "The credential cannot be used: connect the account again.",
  429: "Too many requests, or too many streams at once.",
  502: "The provider did not answer as its API promises.",
  504: "The provider did not answer in time.",
};

const otherFailures =
  "Any other failure: 401 without a valid token, 403 without the right, 429 when the budget of the minute is spent, 4xx when the request was sent badly, 5xx when the server fails.";

/** The reasons of every operation. */
const always = [
  "malformed_request",
  "invalid_header",
  "invalid_query",
  "unauthenticated",
  "permission_denied",
  "not_found",
  "not_acceptable",
  "rate_limited",
  "headers_too_large",
  "internal",
  "overloaded",
] as const satisfies readonly Reason[];

/** Failures of every operation that takes a body. */
const ofBodies = [
  "malformed_json",
  "request_timeout",
  "body_too_large",
  "unsupported_media_type",
  "validation_failed",
  "duplicate_field",
  "nesting_too_deep",
  "secret_not_allowed",
  "invalid_execution_mode",
] as const satisfies readonly Reason[];

/** The reasons of an operation beyond those of all. */
export function reasonsOf(operation: Operation): readonly Reason[] {
  const { effect, access, workspace, params, query, errors } = operation;
  const isWrite = effect === "write";
  const isProvider = effect === "compute" || operation.limit === "provider";
  const chosen: readonly (readonly [boolean, readonly Reason[]])[] = [
    [workspace !== "none" && workspace !== "instance", ["workspace_required"]],
    [params !== undefined, ["validation_failed"]],
    [query?.properties.cursor !== undefined, ["invalid_cursor"]],
    [isWrite && access !== "open", ["idempotency_in_flight", "idempotency_key_reused"]],
    [isWrite && params !== undefined, ["version_mismatch"]],
    [isStream(operation), ["too_many_streams"]],
    [isProvider, ["provider_refused", "provider_failed", "provider_timeout"]],
    [true, errors],
  ];
  const known: readonly Reason[] = [...always, ...(effect === "read" ? [] : ofBodies)];
  return [...new Set(chosen.flatMap(([applies, some]) => (applies ? some : [])))].filter(
    (reason) => !known.includes(reason),
  );
}

function failureOf(components: Components, status: number | "default"): DocumentPart {
  const own: HeaderName[] = [
    ...limits,
    ...(status === "default" ? (["Retry-After", "WWW-Authenticate"] as const) : []),
    ...(status === 409 ? (["Retry-After"] as const) : []),
  ];
  return components.shared("responses", String(status), {
    description: status === "default" ? otherFailures : failures[status],
    headers: headersOf(components, own),
    ...(status === "default" ? { "x-svc-reasons": [...always, ...ofBodies] } : {}),
    content: { "application/json": { schema: components.schemaOf(failureSchema) } },
  });
}

/** Failures that clients tell apart, by their status; all others are the default. */
export function failuresOf(components: Components, operation: Operation): DocumentPart {
  const possible: readonly Reason[] = [
    ...(operation.params ? (["not_found"] as const) : []),
    ...(operation.effect === "read" ? [] : (["validation_failed"] as const)),
    ...reasonsOf(operation),
  ];
  const statuses = [...new Set<number>(possible.map((reason) => reasons[reason].status))];
  return Object.fromEntries([
    ...statuses
      .sort((left, right) => left - right)
      .flatMap((status) => (failures[status] ? [[status, failureOf(components, status)]] : [])),
    ["default", failureOf(components, "default")],
  ]);
}
