/** Parameters of operations in the OpenAPI document: of the path, the query and the headers. */
import type { TObject, TSchema } from "typebox";
import { isStream, type Operation } from "../contract/operation.ts";
import { OneOf } from "../contract/schemas.ts";
import { clients } from "../store/tables.ts";
import type { Components, DocumentPart } from "./components.ts";
import { pascal } from "./names.ts";

export interface OpenApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly schema: TSchema | DocumentPart;
  readonly [field: string]: unknown;
}

const header = (
  name: string,
  description: string,
  schema: TSchema | DocumentPart,
): OpenApiParameter => ({
  name,
  in: "header",
  description,
  schema,
});

const headers = {
  Workspace: header("X-Svc-Workspace-Id", "The workspace, where the request names none.", {
    type: "string",
  }),
  Client: header(
    "X-Svc-Client",
    "What asks. It can only make a request less trusted than its token.",
    OneOf(clients),
  ),
  ExecutionMode: header(
    "X-Svc-Execution-Mode",
    "`proposal`: nothing is done, an approval is asked for.",
    OneOf(["direct", "proposal"]),
  ),
  IdempotencyKey: header(
    "Idempotency-Key",
    "A request that comes again with its key within 24 hours has one effect.",
    { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x20-\\x7e]+$" },
  ),
  IfMatch: header("If-Match", "The ETag that was read: 412 when it was changed since.", {
    type: "string",
  }),
  LastEventId: header(
    "Last-Event-ID",
    "The id of the last event that was got: it goes on after it. Browsers send it by themselves.",
    { type: "string", maxLength: 64 },
  ),
} as const;

/** The headers that mean something to it. */
function headersOf(operation: Operation) {
  const { effect, method, access, workspace, params } = operation;
  if (access === "open") return ["Client"] as const;
  const namesWorkspace = params !== undefined && "workspace_id" in params.properties;
  const isChange = effect === "write" && params !== undefined && method !== "POST";
  return [
    ...(workspace === "none" || workspace === "instance" || namesWorkspace
      ? []
      : (["Workspace"] as const)),
    "Client" as const,
    ...(effect === "read" ? [] : (["ExecutionMode"] as const)),
    ...(effect === "write" ? (["IdempotencyKey"] as const) : []),
    ...(isChange ? (["IfMatch"] as const) : []),
    ...(isStream(operation) && operation.media === "text/event-stream"
      ? (["LastEventId"] as const)
      : []),
  ];
}

const isRequired = (schema: TObject | undefined, name: string) =>
  ((schema?.required ?? []) as readonly string[]).includes(name);

function declaredIn(
  components: Components,
  place: "path" | "query",
  schema: TObject | undefined,
): readonly OpenApiParameter[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = property as TSchema & { readonly description?: string };
    return {
      name,
      in: place,
      ...(place === "path" || isRequired(schema, name) ? { required: true } : {}),
      description,
      schema: components.schemaOf(rest),
    };
  });
}

/** The parameters of an operation, before it is known which of them others have too. */
const parametersOf = (components: Components, { params, query }: Operation) => [
  ...declaredIn(components, "path", params),
  ...declaredIn(components, "query", query),
];

/**
 * Parameters of all operations. Those that several have alike stand among the components, under
 * their name; of those that are called alike and are not, the one that most have.
 */
export function createParameters(
  components: Components,
  operations: readonly Operation[],
): (operation: Operation) => readonly (OpenApiParameter | DocumentPart)[] {
  const declared = new Map(operations.map((one) => [one, parametersOf(components, one)]));
  const alike = Map.groupBy([...declared.values()].flat(), (one) => JSON.stringify(one));
  const shared = new Map<string, string>();
  const taken = new Set<string>();
  const byUse = [...alike].sort(([, left], [, right]) => right.length - left.length);
  for (const [text, [parameter, ...others]] of byUse) {
    const name = parameter && nameOf(parameter);
    if (name === undefined || others.length === 0 || taken.has(name)) continue;
    taken.add(name);
    shared.set(text, name);
  }
  return (operation) => [
    ...(declared.get(operation) ?? []).map((parameter) => {
      const name = shared.get(JSON.stringify(parameter));
      return name === undefined ? parameter : components.shared("parameters", name, parameter);
    }),
    ...headersOf(operation).map((name) =>
      components.shared("parameters", `${name}Header`, {
        ...headers[name],
        schema: components.schemaOf(headers[name].schema),
      }),
    ),
  ];
}

const nameOf = ({ name, in: place }: OpenApiParameter) =>
  `${pascal(name).replace(/^./, (first) => first.toUpperCase())}${place === "path" ? "Path" : "Query"}`;
