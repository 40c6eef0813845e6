/** Who the caller is, and where they may act. */
import { Type } from "typebox";
import { type Caller, defineRead, type Membership } from "../contract/operation.ts";
import { Id, Nullable, OneOf, StrictObject, Time } from "../contract/schemas.ts";
import { administersInstance } from "../door/authorize.ts";
import { selectMemberships, toMembership } from "../door/memberships.ts";
import type { Db } from "../store/database.ts";
import { clients, roles, scopes } from "../store/tables.ts";

/** Memberships in one answer; GET /workspaces has pages. */
const mostListed = 100;

const Role = OneOf(roles, {
  description: "The lower of the membership's role and the token's.",
});

const AdministeredInstance = StrictObject(
  {
    images: Type.Array(Type.String(), {
      description:
        "Images that may be added as connectors, as the operator's settings name them: a repository, all below a prefix (`acme/*`), or one image with its digest.",
    }),
  },
  {
    title: "AdministeredInstance",
    description:
      "What its administrators may add to the instance, beside declarative manifests; null: who asks is none of them, or not with this token.",
  },
);

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
    memberships: Type.Array(StrictObject({ workspace_id: Id("workspace"), role: Role }), {
      maxItems: mostListed,
      description: `In the order of joining, at most ${mostListed}.`,
    }),
    has_more_memberships: Type.Boolean({
      description: "There are more than these: GET /workspaces lists all, page by page.",
    }),
    instance: Nullable(AdministeredInstance),
  }),
  errors: [],
  async run({ db, caller, services }) {
    const { user, session } = caller;
    const found = caller.findMemberships ? await firstMemberships(db, caller) : caller.memberships;
    const [only, ...others] = found;
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
      memberships: found.slice(0, mostListed).map(({ workspaceId, role }) => ({
        workspace_id: workspaceId,
        role,
      })),
      has_more_memberships: found.length > mostListed,
      instance: (await administersInstance({ db, caller }))
        ? { images: [...services.settings.images] }
        : null,
    };
  },
});

/** One more than are listed, of somebody who has brought only some along. */
async function firstMemberships(db: Db, caller: Caller): Promise<readonly Membership[]> {
  const rows = await selectMemberships(db, caller)
    .select(["workspace_id", "role", "last_active_at"])
    .orderBy("joined_at")
    .orderBy("id")
    .limit(mostListed + 1)
    .execute();
  return rows.map((row) => toMembership(caller.session, row));
}

export const meOperations = [getMe];
