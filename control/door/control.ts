import type { Caller, Operation } from "../contract/operation.ts";
import type { Services } from "../services/services.ts";
import type { Answer } from "./answer.ts";
import type { RequestFacts } from "./authenticate.ts";
import type { Request } from "./execute.ts";

/**
 * The Control API without a network: whoever embeds it puts HTTP or something else in front of it.
 */
export interface Control extends AsyncDisposable {
  readonly services: Services;
  readonly operations: readonly Operation[];
  /** @throws unauthenticated, invalid_header */
  authenticate(facts: RequestFacts): Promise<Caller>;
  execute(operation: Operation, request: Request, caller: Caller): Promise<Answer>;
}
