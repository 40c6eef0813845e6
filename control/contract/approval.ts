import { Type } from "typebox";
import { approvalStatuses, clients } from "../store/tables.ts";
import { categories } from "./operation.ts";
import { Id, Nullable, OneOf, StrictObject, Time } from "./schemas.ts";

const AnyObject = Type.Object({}, { additionalProperties: true });

/**
 * A proposal and what became of it. Every operation that can be proposed answers with it instead of
 * doing what was asked.
 */
export const Approval = StrictObject(
  {
    approval_id: Id("approval"),
    workspace_id: Id("workspace"),
    operation: Type.String({ description: "The operation's id, for instance source.delete." }),
    category: Nullable(OneOf(Object.keys(categories) as (keyof typeof categories)[])),
    status: OneOf(approvalStatuses),
    source: OneOf(clients),
    proposal: StrictObject({
      method: Type.String(),
      path: Type.String({ description: "Below the base path, with its query." }),
      params: AnyObject,
      body_redacted: AnyObject,
      summary: Type.String(),
    }),
    payload_digest: Type.String({ pattern: "^sha256:[0-9a-f]{64}$" }),
    resource: StrictObject({
      type: Type.String(),
      id: Nullable(Type.String()),
      version: Nullable(Type.Integer()),
    }),
    requested_by: StrictObject({ user_id: Id("user"), session_id: Id("session") }),
    reason: Nullable(Type.String()),
    created_at: Time,
    expires_at: Time,
    decided_by: Nullable(Id("user")),
    decided_at: Nullable(Time),
    decision_comment: Nullable(Type.String()),
    result: Nullable(AnyObject),
    error: Nullable(
      StrictObject({ code: Type.String(), reason: Type.String(), message: Type.String() }),
    ),
    /** It was decided before this request came. */
    already_resolved: Type.Optional(Type.Boolean()),
  },
  { title: "Approval" },
);
