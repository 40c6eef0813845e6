import { findPolicy } from "../approvals/policies.ts";
import type { Operation, OperationContext } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";

/**
 * Whether a proposal is made instead of the effect: the header asks for it, or an agent asks for a
 * change and the policy of its category wants a person's approval. Several values may stand in the
 * header, and one `proposal` among them is enough; a word that is not known is refused, so that a
 * typo never executes.
 * @throws invalid_execution_mode
 */
export async function isProposal(
  operation: Operation,
  ctx: OperationContext,
  header: string | undefined,
): Promise<boolean> {
  if (wordsOf(header).some((word) => !["", "direct", "proposal"].includes(word)))
    throw new ControlError("invalid_execution_mode");
  if (asksForProposal(header)) return true;
  if (ctx.caller.client !== "mcp" || operation.effect !== "write" || operation.isFree) return false;
  if (operation.workspace === "none" || operation.category === undefined)
    return operation.workspace !== "none";
  return (await findPolicy(ctx.db, ctx.workspaceId, operation.category)).requires_approval;
}

/** Whether the header asks for a proposal, whatever else stands in it. */
export const asksForProposal = (header: string | undefined): boolean =>
  wordsOf(header).includes("proposal");

const wordsOf = (header = "") => header.split(",").map((word) => word.trim().toLowerCase());
