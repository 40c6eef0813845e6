/** The rules for all operations, as pages of the OpenAPI document. */
import { reasons } from "../contract/reasons.ts";

const rows = Object.entries(reasons).map(
  ([reason, { status, message }]) => `| ${status} | \`${reason}\` | ${message} |`,
);

export const guide = `Set up and operate data integration: connectors, credentials, sources and what moves between them.

# Requests and answers

Requests carry \`Authorization: Bearer <access token>\`, and a body of \`application/json\`. Every success is \`{"request_id", "data"}\`, every failure
\`{"code", "message", "details", "request_id"}\`; both have the header \`X-Request-Id\`. A token of several workspaces names one: \`workspace_id\` in the path, query or
body, else the header \`X-Svc-Workspace-Id\`. Secrets are accepted by the credential endpoints only and never given back: everything else names a credential by its
\`credential_handle\`. Times are RFC 3339 in UTC, with milliseconds.

# Names

A thing has one name, in paths, bodies and answers: a *source* is read from, a *destination* is a warehouse that pipelines write (\`destination_id\`; for a model of reverse
ETL, which queries it, \`warehouseId\`), a *reverse ETL destination* (\`destinationId\`) takes rows that are sent back out. Fields are in snake_case; those of Reverse ETL are
in camelCase, and snake_case is taken there too. Words that programs read (statuses, reasons, codes, kinds) are in snake_case everywhere. Ids are opaque; their prefix says of what kind they are.

# Pagination

Lists give \`{"items", "next_cursor", "has_more"}\`, the newest first. \`limit\` is 1 to 200, by default 50; \`cursor\` is the \`next_cursor\` of the page before, with the same
filters, search and order. Another one is \`invalid_cursor\`. Nothing comes twice and nothing is left out, whatever is added meanwhile.

# Idempotency

A \`POST\`, \`PATCH\` or \`DELETE\` with an \`Idempotency-Key\` (up to 255 printable characters) has one effect within 24 hours, however often it is sent by the same token: the
answer of the first is given again, with \`Idempotent-Replayed: true\` and a new \`request_id\`. With another body it is \`idempotency_key_reused\`, while the first is under way
\`idempotency_in_flight\`. What was refused before it had an effect may be sent again with its key.

Resources with a \`version\` have it as their \`ETag\`: a change with \`If-Match: "v3"\` is refused with \`version_mismatch\` when somebody else was faster.

# Errors

\`code\` is the HTTP status as text. \`details.reason\` is for programs and stays; \`message\` is for people. \`details.errors\` names the places that are wrong:
\`{"path", "reason", "message"}\`, without what stood there. An id that does not exist is \`404\`, as is one of another workspace; \`details.resource\` says of what kind it is,
and \`details.errors\` where it stands, if that is not in the address. Each operation lists its own reasons as \`x-svc-reasons\`; the default answer has those of all.

| status | reason | message |
|---|---|---|
${rows.join("\n")}

# Rate limits

Each token has a budget a minute for reads, for writes, and for what asks a provider. Answers say \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`
(Unix seconds); beyond it requests are \`429\`, with \`Retry-After\` in seconds. Budgets are those of the whole instance, however many servers it has.

# Proposals and approvals

Any request but a \`GET\` becomes a proposal with \`X-Svc-Execution-Mode: proposal\`: it is checked, \`202\` gives an approval, and nothing is done until an administrator approves
it. Changes by agents (tokens of the client \`mcp\`, or requests with \`X-Svc-Client: mcp\`) are proposals by themselves unless the policy of their category lets agents
act. What is approved is what was proposed: it is checked again, done once, and told in the approval's \`result\` or \`error\`.

# Versioning

The path has the version: \`/control/v1\`. Within it things are added and nothing is taken away or changes its meaning: new operations, optional parameters, fields of
answers, reasons, and words of statuses. Read what you know and pass over the rest. Old names stay accepted in requests; a request that uses the old id of a connector is
answered with \`Deprecation\`.
`;
