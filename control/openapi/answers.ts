/** The possible answers of each operation, for the OpenAPI document. */
import { Approval } from "../contract/approval.ts";
import { isStream, type Operation, type StreamOperation } from "../contract/operation.ts";
import type { Components, DocumentPart } from "./components.ts";
import { envelope, type HeaderName, headersOf, requestId } from "./envelope.ts";
import { failuresOf } from "./failures.ts";
import { operationIdOf, pascal } from "./names.ts";

/** The content of an answer, under the name of its type in clients. */
interface Named {
  readonly name: string;
  readonly schema: DocumentPart;
}

const refersTo = ({ $ref }: DocumentPart) => String($ref).split("/").at(-1) ?? "";

function dataOf(components: Components, operation: Operation): Named {
  const operationId = operationIdOf(operation);
  const schema = components.schemaAs(`${pascal(operationId)}Result`, operation.data);
  return { name: refersTo(schema), schema };
}

function success(
  components: Components,
  { name, schema }: Named,
  response: { readonly name: string; readonly description: string },
  own: readonly HeaderName[],
): DocumentPart {
  const body = envelope({ request_id: requestId, data: schema });
  return components.shared("responses", response.name, {
    description: response.description,
    headers: headersOf(components, own),
    content: {
      "application/json": {
        schema: components.schemaOf({ title: `${name.replace(/Result$/, "")}Response`, ...body }),
      },
    },
  });
}

/** The response of a stream: each of its items is of the form that `x-svc-item` names. */
function streamed(components: Components, operation: StreamOperation): DocumentPart {
  const { media } = operation;
  return {
    description:
      media === "text/event-stream"
        ? "Server-sent events: the data of each is JSON. Lines that begin with a colon say only that the stream is alive; `refused` is the last event when it may not go on."
        : "One JSON text a line.",
    headers: headersOf(components, []),
    content: {
      [media]: { schema: { type: "string" }, "x-svc-item": dataOf(components, operation).schema },
    },
  };
}

export function answersOf(components: Components, operation: Operation): DocumentPart {
  if (isStream(operation))
    return { 200: streamed(components, operation), ...failuresOf(components, operation) };
  const { effect, access, data: dataSchema } = operation;
  const status = effect === "write" ? operation.status : 200;
  const data = dataOf(components, operation);
  const isKeyed = effect === "write" && access !== "open";
  const own: HeaderName[] = [
    ...(dataSchema.properties.version ? ["ETag" as const] : []),
    ...(status === 201 ? ["Location" as const] : []),
    ...(isKeyed ? ["Idempotent-Replayed" as const] : []),
    ...(namesConnector(operation) ? (["Deprecation", "Link"] as const) : []),
  ];
  const proposed = {
    name: "Approval",
    schema: components.schemaOf(Approval),
  };
  const canBeProposed = effect !== "read" && access !== "open";
  const begun = {
    name: `${data.name}OrApproval`,
    schema: { anyOf: [data.schema, proposed.schema] },
  };
  const kind = status === 201 ? "Created" : isKeyed ? "Done" : "";
  const answers =
    status === 202
      ? {
          202: success(
            components,
            begun,
            {
              name: `${data.name.replace(/Result$/, "")}Begun`,
              description: "It has begun; or, where that was asked for, a proposal of it.",
            },
            own,
          ),
        }
      : {
          [status]: success(
            components,
            data,
            {
              name: `${data.name.replace(/Result$/, "")}${kind}`,
              description: successDescriptions[kind],
            },
            own,
          ),
          ...(canBeProposed
            ? {
                202: success(
                  components,
                  proposed,
                  { name: "Proposed", description: "A proposal: nothing was done." },
                  ["Location", "Idempotent-Replayed"],
                ),
              }
            : {}),
        };
  return { ...answers, ...failuresOf(components, operation) };
}

const successDescriptions = {
  Created: "It was made.",
  Done: "It was done.",
  "": "As it is now.",
} as const;

/** Whether it takes an id of a connector anywhere, which may be one of old configurations. */
function namesConnector({ params, query, ...operation }: Operation): boolean {
  const body = operation.effect === "read" ? undefined : operation.body;
  return [params, query, body].some((schema) => "connector_id" in (schema?.properties ?? {}));
}
