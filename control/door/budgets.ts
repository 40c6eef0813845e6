import type { Caller, ComputeOperation, Operation, WriteOperation } from "../contract/operation.ts";
import type { LimitHeaders } from "../services/limiter.ts";
import type { Services } from "../services/services.ts";
import type { Budget } from "../services/settings.ts";

/** The budget that every call of an operation is paid from. */
export const budgetOf = ({ access, effect }: Operation): Budget =>
  access === "open" ? "anonymous" : effect === "write" ? "write" : "read";

/**
 * Whether a call asks somebody else now, and is paid from that budget too. A proposal does where
 * what it is about cannot wait.
 * @param found by the operation's guard
 */
export function asksProvider(
  operation: ComputeOperation | WriteOperation,
  found: unknown,
  proposes: boolean,
): boolean {
  const isNow = !proposes || (operation.effect === "write" && operation.hold !== undefined);
  const isOfThose = operation.effect === "compute" || operation.limit === "provider";
  return isNow && isOfThose && (operation.asks?.(found) ?? true);
}

/**
 * Takes one from a budget of the caller's, and gives the headers of the answer. The operator pays
 * nothing.
 * @throws rate_limited
 */
export async function pay(
  { limiter }: Services,
  budget: Budget,
  { kind, session }: Caller,
  now: Date,
): Promise<Partial<LimitHeaders>> {
  if (kind === "operator") return {};
  return await limiter.take(budget, session.id, now.getTime());
}
