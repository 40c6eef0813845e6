import type { Operation, OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";

/** Keeps the request as a proposal that an administrator decides about. */
export async function propose(_operation: Operation, _ctx: OperationContext, _input: never): Promise<object> {
  throw new ControlError("internal");
}
