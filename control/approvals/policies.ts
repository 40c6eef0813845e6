import { type Static, Type } from "typebox";
import { type Category, categories, type Operation } from "../contract/operation.ts";
import { ControlError } from "../contract/reasons.ts";
import { Id, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import type { Db } from "../store/database.ts";

export const categoryNames = Object.keys(categories) as Category[];

export const ApprovalPolicy = StrictObject(
  {
    category: OneOf(categoryNames),
    description: Type.String(),
    requires_approval: Type.Boolean({
      description: "What an agent asks for in this category becomes a proposal.",
    }),
    require_distinct_approver: Type.Boolean({
      description: "Nobody approves what they have proposed themselves.",
    }),
    operations: Type.Array(Type.String()),
    updated_at: Nullable(Time),
    updated_by: Nullable(Id("user")),
    version: Type.Integer({ minimum: 0, description: "0: as it was when the workspace was made." }),
  },
  { title: "ApprovalPolicy" },
);
export type ApprovalPolicy = Static<typeof ApprovalPolicy>;

/** The policy of every category, in their order. */
export async function listPolicies(
  db: Db,
  workspaceId: string,
  operations: readonly Operation[],
): Promise<ApprovalPolicy[]> {
  const rows = await db
    .selectFrom("approval_policies")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .execute();
  return categoryNames.map((category) => {
    const row = rows.find((one) => one.category === category);
    return {
      category,
      description: categories[category],
      requires_approval: row?.requires_approval ?? true,
      require_distinct_approver: row?.require_distinct_approver ?? false,
      operations: operations
        .filter((one) => one.effect === "write" && one.category === category)
        .map(({ id }) => id),
      updated_at: row?.updated_at.toISOString() ?? null,
      updated_by: row?.updated_by ?? null,
      version: row?.version ?? 0,
    };
  });
}

/** @throws not_found for a category that does not exist */
export async function findPolicy(
  db: Db,
  workspaceId: string,
  category: string,
  operations: readonly Operation[] = [],
): Promise<ApprovalPolicy> {
  const policies = await listPolicies(db, workspaceId, operations);
  const found = policies.find((policy) => policy.category === category);
  if (!found) throw new ControlError("not_found");
  return found;
}
