import fastJson from "fast-json-stringify";
import type { TObject } from "typebox";
import { Approval } from "../contract/approval.ts";
import type { Operation } from "../contract/operation.ts";
import { Empty } from "../contract/schemas.ts";
import { createRename, type Rename } from "./other-names.ts";
import { type Validate, validateBody, validateQuery } from "./validate.ts";

type Stringify = (data: unknown) => string;

/** An operation with its schemas as functions. */
export interface CompiledOperation {
  readonly operation: Operation;
  readonly params: Validate;
  readonly query: Validate;
  readonly body: Validate;
  readonly stringify: Stringify;
  readonly stringifyProposal: Stringify;
}

const compiled = new WeakMap<Operation, CompiledOperation>();

export function compileOperation(operation: Operation): CompiledOperation {
  const known = compiled.get(operation);
  if (known) return known;
  const { params = Empty, query = Empty, data } = operation;
  const body = operation.effect === "read" ? Empty : (operation.body ?? Empty);
  const made = {
    operation,
    params: validateBody(params),
    query: inOrder(createRename(query, operation.formerNames), validateQuery(query)),
    body: inOrder(createRename(body, operation.formerNames), validateBody(body)),
    stringify: later(data),
    stringifyProposal: later(Approval),
  };
  compiled.set(operation, made);
  return made;
}

const inOrder =
  (rename: Rename, validate: Validate): Validate =>
  (value) => {
    rename(value);
    validate(value);
  };

/** Compiled when it is first needed: a server starts before all of its operations are used. */
function later(schema: TObject): Stringify {
  let stringify: Stringify | undefined;
  return (data) => {
    stringify ??= fastJson(schema as never) as Stringify;
    return stringify(data);
  };
}
