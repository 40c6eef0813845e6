import type { Operation, OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";

/**
 * Whether the request asks for a proposal instead of the effect. Several values may stand in the header, and one `proposal`
 * among them is enough; a word that is not known is refused, so that a typo never executes.
 * @throws invalid_execution_mode
 */
export async function isProposal(
  _operation: Operation,
  _ctx: OperationContext,
  header: string | undefined,
): Promise<boolean> {
  const words = (header ?? "").split(",").map((word) => word.trim().toLowerCase());
  if (words.some((word) => !["", "direct", "proposal"].includes(word)))
    throw new ControlError("invalid_execution_mode");
  return words.includes("proposal");
}
