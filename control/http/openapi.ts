/**
 * The OpenAPI 3.1 document of the Control API, made from the registry: what it says is what the
 * routes do.
 */
import { packageVersion } from "svc-connectors/host";
import type { TObject, TSchema } from "typebox";
import { Approval } from "../contract/approval.ts";
import { type Operation, permissions } from "../contract/operation.ts";
import { basePath } from "../door/base-path.ts";
import { answersOf, failureComponents, headerComponents } from "./openapi-answers.ts";

export type OpenApiSchema = { readonly [keyword: string]: unknown };

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>> };
  readonly [field: string]: unknown;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters: readonly OpenApiParameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: OpenApiSchema }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

interface OpenApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly [field: string]: unknown;
}

const description = `Set up and operate data integration: connectors, credentials, sources and what moves between them.

Every success is \`{"request_id", "data"}\`, every failure \`{"code", "message", "details", "request_id"}\`: \`code\` is the HTTP
status as text, \`details.reason\` a stable word for programs. Secrets are accepted by the credential endpoints only and never
given back: everything else names a credential by its \`credential_handle\`.

Any request but a GET becomes a proposal, and has no effect, with \`X-Svc-Execution-Mode: proposal\`.`;

/**
 * @param serverUrl where the API is reached; default: the path on whatever server the document
 * comes from
 */
export function createOpenApi(
  operations: readonly Operation[],
  serverUrl: string = basePath,
): OpenApiDocument {
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    paths[operation.path] = path;
    path[operation.method.toLowerCase()] = toOperation(operation);
  }
  const areas = [...new Set(operations.map(({ area }) => area))];
  // Through JSON: what TypeBox notes in its schemas for itself stays behind.
  return JSON.parse(
    JSON.stringify({
      openapi: "3.1.1",
      info: {
        title: "svc Control API",
        version: packageVersion,
        description,
        license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      },
      servers: [{ url: serverUrl }],
      tags: areas.map((name) => ({ name })),
      security: [{ access_token: [] }],
      paths,
      components: {
        securitySchemes: {
          access_token: {
            type: "http",
            scheme: "bearer",
            description: "An access token: `svc token create` makes one.",
          },
        },
        headers: headerComponents,
        responses: failureComponents(operations),
        schemas: { Approval },
      },
    }),
  );
}

function toOperation(operation: Operation): OpenApiOperation {
  const { id, area, summary, permission, access } = operation;
  const { role, scope } = permissions[permission];
  const needs =
    access === "open"
      ? "Needs no access token."
      : `Needs the role \`${role}\` and the scope \`${scope}\`.`;
  return {
    operationId: id,
    tags: [area],
    summary,
    description: [operation.description, needs].filter((text) => text).join("\n\n"),
    ...(access === "open" ? { security: [] } : {}),
    parameters: [
      ...parametersOf("path", operation.params),
      ...parametersOf("query", operation.query),
      ...headersOf(operation),
    ],
    ...bodyOf(operation),
    responses: answersOf(operation),
  };
}

function parametersOf(place: "path" | "query", schema: TObject | undefined): OpenApiParameter[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description: text, ...rest } = property as TSchema & { readonly description?: string };
    return {
      name,
      in: place,
      required: place === "path" || isRequired(schema, name),
      ...(text === undefined ? {} : { description: text }),
      schema: rest,
    };
  });
}

const isRequired = (schema: TObject | undefined, name: string) =>
  ((schema?.required ?? []) as readonly string[]).includes(name);

function bodyOf(operation: Operation): Pick<OpenApiOperation, "requestBody"> {
  if (operation.effect === "read" || !operation.body) return {};
  const required = Object.keys(operation.body.properties).some((name) =>
    isRequired(operation.body, name),
  );
  const content = { "application/json": { schema: operation.body as unknown as OpenApiSchema } };
  return { requestBody: { ...(required ? { required } : {}), content } };
}

/** The headers that mean something to it. */
function headersOf({ effect, method, access, workspace, params }: Operation): OpenApiParameter[] {
  const header = (name: string, text: string, schema: OpenApiSchema): OpenApiParameter => ({
    name,
    in: "header",
    description: text,
    schema,
  });
  const client = header(
    "X-Svc-Client",
    "What asks. It can only make a request less trusted than its token.",
    {
      type: "string",
      enum: ["api", "cli", "mcp"],
    },
  );
  if (access === "open") return [client];
  return [
    ...(workspace === "none" || (params && "workspace_id" in params.properties)
      ? []
      : [
          header("X-Svc-Workspace-Id", "The workspace, where the request names none.", {
            type: "string",
          }),
        ]),
    client,
    ...(effect === "read"
      ? []
      : [
          header("X-Svc-Execution-Mode", "`proposal`: nothing is done, an approval is asked for.", {
            type: "string",
            enum: ["direct", "proposal"],
          }),
        ]),
    ...(effect === "write"
      ? [
          header(
            "Idempotency-Key",
            "A request that comes again with its key within 24 hours has one effect.",
            {
              type: "string",
              minLength: 1,
              maxLength: 255,
              pattern: "^[\\x20-\\x7e]+$",
            },
          ),
        ]
      : []),
    ...(effect === "write" && params && method !== "POST"
      ? [
          header("If-Match", "The ETag that was read: 412 when it was changed since.", {
            type: "string",
          }),
        ]
      : []),
  ];
}
