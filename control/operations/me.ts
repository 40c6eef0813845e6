/** Who the caller is, and where they may act. */
import { Type } from "typebox";
import { defineRead } from "../contract/operation.ts";
import { Id, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { clients, roles, scopes } from "../store/tables.ts";

const Role = OneOf(roles, {
  description: "The lower of the membership's role and the token's.",
});

export const getMe = defineRead({
  id: "me.get",
  area: "Current user",
  path: "/me",
  summary: "Get the current user",
  permission: "read",
  workspace: "none",
  data: StrictObject({
    user_id: Id("user"),
    email: Type.String(),
    name: Type.String(),
    default_workspace_id: Nullable(
      Id("workspace", "Where requests that name no workspace act; null: they must name one."),
    ),
    session: StrictObject({ session_id: Id("session"), client: OneOf(clients), expires_at: Time }),
    scopes: Type.Array(OneOf(scopes)),
    memberships: Type.Array(StrictObject({ workspace_id: Id("workspace"), role: Role })),
  }),
  errors: [],
  async run({ caller: { user, session, memberships } }) {
    const [only, ...others] = memberships;
    return {
      user_id: user.id,
      email: user.email,
      name: user.name,
      default_workspace_id: only && others.length === 0 ? only.workspaceId : null,
      session: {
        session_id: session.id,
        client: session.client,
        expires_at: session.expiresAt.toISOString(),
      },
      scopes: [...session.scopes],
      memberships: memberships.map(({ workspaceId, role }) => ({
        workspace_id: workspaceId,
        role,
      })),
    };
  },
});

export const meOperations = [getMe];
