/** The envelope and the headers of every answer. */
import type { Components, DocumentPart } from "./components.ts";

const text = { type: "string" };
const count = { type: "string", pattern: "^\\d+$" };

const headers = {
  "X-Request-Id": ["The request_id of the envelope.", { type: "string", format: "uuid" }],
  "X-RateLimit-Limit": ["Requests per minute in this budget.", count],
  "X-RateLimit-Remaining": ["What is left of them.", count],
  "X-RateLimit-Reset": ["When the minute ends, in Unix seconds.", count],
  "Retry-After": ["Seconds to wait.", count],
  "WWW-Authenticate": ["How to authenticate.", text],
  ETag: ["The version of the resource, for If-Match.", text],
  Location: ["Where it can be read.", text],
  "Idempotent-Replayed": [
    "This is the answer of the first request with this key.",
    { const: "true" },
  ],
  Deprecation: [
    "The request names a connector by an id of old configurations: since when (RFC 9745).",
    { type: "string", pattern: "^@\\d+$" },
  ],
  Link: ["What to use in place of what is old.", text],
} as const;

export type HeaderName = keyof typeof headers;

export const limits = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] as const;

export const headersOf = (components: Components, names: readonly HeaderName[]): DocumentPart =>
  Object.fromEntries(
    (["X-Request-Id", ...names] as const).map((name) => {
      const [description, schema] = headers[name];
      return [name, components.shared("headers", name, { description, schema })];
    }),
  );

export const requestId = {
  title: "RequestId",
  type: "string",
  format: "uuid",
  description: "Of this answer alone.",
};
export const envelope = (properties: DocumentPart): DocumentPart => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
