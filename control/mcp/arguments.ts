/** Schemas of tools, and the requests that their arguments make. */
import type { TObject, TSchema } from "typebox";
import { Type } from "typebox";
import { Approval } from "../contract/approval.ts";
import type { Operation } from "../contract/operation.ts";
import { OneOf, StrictObject } from "../contract/schemas.ts";
import { createRename } from "../door/other-names.ts";
import { type Validate, validateBody } from "../door/validate.ts";
import type { NamedTool } from "./tools.ts";

/** A request for an operation, as a tool's arguments make it. */
export interface ToolRequest {
  readonly operation: Operation;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined: the operation takes none. */
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly executionMode?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Arguments of every tool that changes something, beside the operation's own. */
const control = {
  execution_mode: Type.Optional(
    OneOf(["proposal", "direct"], {
      description:
        "proposal: a person decides, also where the policy would not ask for it. direct cannot lift a policy.",
    }),
  ),
  idempotency_key: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: "The same key for a request that is sent again: it happens once.",
    }),
  ),
};

type Properties = Readonly<Record<string, TSchema>>;

const bodyOf = (operation: Operation): TObject | undefined =>
  operation.effect === "read" ? undefined : (operation.body as TObject | undefined);
const propertiesOf = (schema: TObject | undefined): Properties => schema?.properties ?? {};
const requiredOf = (schema: TObject | undefined): readonly string[] =>
  (schema?.required as string[] | undefined) ?? [];

/** One object for path, query and body. */
export function inputSchemaOf({ operation, change, only }: NamedTool): TObject {
  const parts = (one: Operation) => [one.query, bodyOf(one), one.params];
  const shapes = change ? [...parts(operation), ...parts(change.operation)] : parts(operation);
  const all: Properties = Object.assign({}, ...shapes.map(propertiesOf));
  const own = Object.fromEntries(
    Object.entries(all).filter(([name]) => !only || only.includes(name)),
  );
  const isWrite = operation.effect === "write";
  // The needs of one of two operations are known when it is clear which of them is meant.
  const required = only ?? (change ? [] : [...new Set(parts(operation).flatMap(requiredOf))]);
  return Type.Unsafe({
    type: "object",
    properties: { ...own, ...(isWrite ? control : {}) },
    required: [...required],
    additionalProperties:
      (bodyOf(operation) as { additionalProperties?: unknown } | undefined)?.additionalProperties ??
      false,
  }) as unknown as TObject;
}

/** The answer of a tool when nothing was refused. */
export function outputSchemaOf({ operation }: NamedTool): TObject {
  if (operation.effect !== "write") return operation.data;
  return StrictObject({
    status: OneOf(["executed", "proposal_created"]),
    result: Type.Optional(operation.data),
    approval: Type.Optional(Approval),
  });
}

/** @throws validation_failed with the places */
export type ToRequest = (args: Readonly<Record<string, unknown>>) => ToolRequest;

/** Makes requests of a tool's arguments. */
export function requestsOf(tool: NamedTool, inputSchema: TObject): ToRequest {
  const validate: Validate = validateBody(inputSchema);
  const rename = createRename(inputSchema, tool.operation.formerNames);
  return (args) => {
    const given = structuredClone(args) as Record<string, unknown>;
    rename(given);
    validate(given);
    const { execution_mode, idempotency_key, ...own } =
      tool.operation.effect === "write" ? given : { ...given };
    const { change } = tool;
    const operation =
      change && own[change.argument] !== undefined ? change.operation : tool.operation;
    return {
      ...split(operation, own),
      executionMode: typeof execution_mode === "string" ? execution_mode : undefined,
      idempotencyKey: typeof idempotency_key === "string" ? idempotency_key : undefined,
    };
  };
}

function split(operation: Operation, args: Readonly<Record<string, unknown>>): ToolRequest {
  const body = bodyOf(operation);
  const params: Record<string, string> = {};
  const query: Record<string, unknown> = {};
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(args)) {
    if (name in propertiesOf(operation.params)) params[name] = String(value);
    else if (name in propertiesOf(operation.query) && !(name in propertiesOf(body)))
      query[name] = value;
    else rest[name] = value;
  }
  if (operation.effect === "read") return { operation, params, query: { ...query, ...rest } };
  return { operation, params, query, body: rest };
}
