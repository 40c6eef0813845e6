/**
 * The OpenAPI 3.1 document of the Control API, made from the registry: what it says is what the
 * routes do.
 */
import { packageVersion } from "svc-connectors/host";
import { areas } from "../contract/areas.ts";
import { exampleIds, examples } from "../contract/examples.ts";
import { type Operation, permissions } from "../contract/operation.ts";
import { workspaceInput } from "../contract/schemas.ts";
import { basePath } from "../door/base-path.ts";
import { answersOf } from "./answers.ts";
import {
  type Components,
  createComponents,
  type DocumentPart,
  type DocumentParts,
} from "./components.ts";
import { reasonsOf } from "./failures.ts";
import { guide } from "./guide.ts";
import { operationIdOf, pascal } from "./names.ts";
import { createParameters, type OpenApiParameter } from "./parameters.ts";

export interface OpenApiDocument {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: DocumentParts; readonly [kind: string]: DocumentPart };
  readonly [field: string]: unknown;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly parameters: readonly (OpenApiParameter | DocumentPart)[];
  readonly responses: DocumentPart;
  readonly [field: string]: unknown;
}

/**
 * @param serverUrl where the API is reached; default: the path on whatever server the document
 * comes from
 */
export function createOpenApi(
  operations: readonly Operation[],
  serverUrl: string = basePath,
): OpenApiDocument {
  const components = createComponents();
  const parametersOf = createParameters(components, operations);
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const operation of operations) {
    const path = paths[operation.path] ?? {};
    paths[operation.path] = path;
    path[operation.method.toLowerCase()] = toOperation(components, operation, parametersOf);
  }
  const named = new Set<string>(operations.map(({ area }) => area));
  return {
    openapi: "3.1.1",
    info: {
      title: "svc Control API",
      version: packageVersion,
      description: guide,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serverUrl }],
    tags: Object.entries(areas).flatMap(([name, description]) =>
      named.has(name) ? [{ name, description }] : [],
    ),
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
      ...components.all(),
    },
  };
}

function toOperation(
  components: Components,
  operation: Operation,
  parametersOf: ReturnType<typeof createParameters>,
): OpenApiOperation {
  const { id, area, summary, permission, access } = operation;
  const { role, scope } = permissions[permission];
  const needs =
    access === "open"
      ? "Needs no access token."
      : `Needs the role \`${role}\` and the scope \`${scope}\`.`;
  return {
    operationId: operationIdOf(operation),
    "x-svc-operation": id,
    tags: [area],
    summary,
    description: [operation.description, needs].filter((text) => text).join("\n\n"),
    ...(access === "open" ? { security: [] } : {}),
    parameters: parametersOf(operation),
    ...bodyOf(components, operation),
    responses: answersOf(components, operation),
    "x-svc-reasons": reasonsOf(operation),
  };
}

function bodyOf(components: Components, operation: Operation): DocumentPart {
  if (operation.effect === "read" || !operation.body) return {};
  const { id, body } = operation;
  const isRequired = ((body.required ?? []) as readonly string[]).length > 0;
  // Where there is nothing to say but where.
  const isWorkspaceOnly =
    Object.keys(body.properties).join() === Object.keys(workspaceInput).join();
  const example =
    examples[id] ?? (isWorkspaceOnly ? { workspace_id: exampleIds.workspace } : undefined);
  const name = isWorkspaceOnly
    ? "WorkspaceSelection"
    : `${pascal(operationIdOf(operation))}Request`;
  const schema = components.schemaAs(name, body);
  const content = { "application/json": { schema, ...(example ? { example } : {}) } };
  return { requestBody: { ...(isRequired ? { required: true } : {}), content } };
}
