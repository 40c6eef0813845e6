/**
 * The possible answers of each operation, for the OpenAPI document: statuses, envelopes, reasons,
 * headers.
 */
import type { TSchema } from "typebox";
import type { Operation } from "../contract/operation.ts";
import { type Reason, reasons } from "../contract/reasons.ts";

type DocumentPart = { readonly [name: string]: unknown };

const header = (description: string, schema: DocumentPart): DocumentPart => ({
  description,
  schema,
});
const text = { type: "string" };
const count = { type: "string", pattern: "^\\d+$" };

export const headerComponents = {
  "X-Request-Id": header("The request_id of the envelope.", { type: "string", format: "uuid" }),
  "X-RateLimit-Limit": header("Requests per minute in this budget.", count),
  "X-RateLimit-Remaining": header("What is left of them.", count),
  "X-RateLimit-Reset": header("When the minute ends, in Unix seconds.", count),
  "Retry-After": header("Seconds to wait.", count),
  "WWW-Authenticate": header("How to authenticate.", text),
  ETag: header("The version of the resource, for If-Match.", text),
  Location: header("Where it can be read.", text),
  "Idempotent-Replayed": header("This is the answer of the first request with this key.", {
    const: "true",
  }),
  Deprecation: header("The request names a connector by an id of old configurations.", {
    const: "true",
  }),
} as const;

type HeaderName = keyof typeof headerComponents;

const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;

const headersOf = (names: readonly HeaderName[]): DocumentPart =>
  Object.fromEntries(
    ["X-Request-Id" as const, ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );

const requestId = { type: "string", format: "uuid" };
const envelope = (properties: DocumentPart): DocumentPart => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const success = (
  description: string,
  data: unknown,
  headers: readonly HeaderName[],
): DocumentPart => ({
  description,
  headers: headersOf([...limits, ...headers]),
  content: { "application/json": { schema: envelope({ request_id: requestId, data }) } },
});

/** Places of a request that are wrong. */
const faults = {
  type: "array",
  items: envelope({ path: text, reason: text, message: text }),
};

function failure(status: number, of: readonly Reason[]): DocumentPart {
  const details = {
    type: "object",
    properties: { reason: { type: "string", enum: of }, errors: faults },
    required: ["reason"],
  };
  const schema = envelope({
    code: { const: String(status) },
    message: text,
    details,
    request_id: requestId,
  });
  const own: HeaderName[] = [
    ...(status === 401 ? ["WWW-Authenticate" as const] : []),
    ...([409, 429, 503].includes(status) ? ["Retry-After" as const] : []),
  ];
  return {
    description: of.map((reason) => `\`${reason}\`: ${reasons[reason].message}`).join("\n\n"),
    headers: headersOf([...limits, ...own]),
    content: { "application/json": { schema } },
  };
}

/** The failures that every operation has. */
const always = [
  "unauthenticated",
  "permission_denied",
  "not_acceptable",
  "rate_limited",
  "headers_too_large",
  "internal",
  "overloaded",
] as const satisfies readonly Reason[];

/** The reasons of an operation beyond those that it names itself. */
function reasonsOf(operation: Operation): Set<Reason> {
  const { effect, access, workspace, params, query, errors } = operation;
  const isWrite = effect === "write";
  const isProvider = effect === "compute" || operation.limit === "provider";
  const chosen: readonly (readonly [boolean, readonly Reason[]])[] = [
    [true, always],
    [true, ["malformed_request", "invalid_header", "invalid_query", "not_found"]],
    [workspace !== "none", ["workspace_required"]],
    [
      effect !== "read",
      ["malformed_json", "request_timeout", "body_too_large", "unsupported_media_type"],
    ],
    [
      effect !== "read",
      ["validation_failed", "duplicate_field", "nesting_too_deep", "invalid_execution_mode"],
    ],
    [effect !== "read", ["secret_not_allowed"]],
    [params !== undefined, ["validation_failed"]],
    [query?.properties.cursor !== undefined, ["invalid_cursor"]],
    [isWrite && access !== "open", ["idempotency_in_flight", "idempotency_key_reused"]],
    [isWrite && params !== undefined, ["version_mismatch"]],
    [isProvider, ["provider_refused", "provider_failed", "provider_timeout"]],
    [true, errors],
  ];
  return new Set(chosen.flatMap(([applies, some]) => (applies ? some : [])));
}

/** The failures of an operation, each by the name that it has among the components. */
function failuresOf(
  operation: Operation,
): { readonly name: string; readonly status: number; readonly of: Reason[] }[] {
  return [...Map.groupBy(reasonsOf(operation), (reason) => reasons[reason].status)]
    .sort(([left], [right]) => left - right)
    .map(([status, of]) => ({
      name: of.length === 1 ? String(of[0]) : `${status}.${of.join(".")}`,
      status,
      of,
    }));
}

/** The failures of all operations: most are the same for many. */
export const failureComponents = (operations: readonly Operation[]): DocumentPart =>
  Object.fromEntries(
    operations.flatMap(failuresOf).map(({ name, status, of }) => [name, failure(status, of)]),
  );

export function answersOf(operation: Operation): DocumentPart {
  const { effect, data, access } = operation;
  const failures = failuresOf(operation).map(({ name, status }) => [
    status,
    { $ref: `#/components/responses/${name}` },
  ]);
  const status = effect === "write" ? operation.status : 200;
  const named: HeaderName[] = [
    ...(data.properties.version ? ["ETag" as const] : []),
    ...(status === 201 ? ["Location" as const] : []),
    ...(effect === "write" && access !== "open" ? ["Idempotent-Replayed" as const] : []),
    ...(namesConnector(operation) ? ["Deprecation" as const] : []),
  ];
  const canBeProposed = effect !== "read" && access !== "open";
  const approval = { $ref: "#/components/schemas/Approval" };
  const accepted =
    status === 202
      ? success(
          "It has begun; or, where that was asked for, a proposal of it.",
          { anyOf: [data, approval] },
          named,
        )
      : success("A proposal: nothing was done.", approval, ["Location", "Idempotent-Replayed"]);
  return {
    ...(status === 202 ? {} : { [status]: success(operation.summary, data, named) }),
    ...(canBeProposed || status === 202 ? { 202: accepted } : {}),
    ...Object.fromEntries(failures),
  };
}

/** Whether it takes an id of a connector anywhere, which may be one of old configurations. */
function namesConnector({ params, query, ...operation }: Operation): boolean {
  const body = operation.effect === "read" ? undefined : operation.body;
  return [params, query, body].some(
    (schema) => (schema?.properties as Record<string, TSchema>)?.connector_id,
  );
}
