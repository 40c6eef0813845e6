import { createContext, useContext } from "react";
import type { schemas } from "../api/schema.ts";

export type Me = schemas["GetMeResult"];

interface MeHere {
  readonly me: Me;
  readonly workspaceId: string | undefined;
  choose(id: string): void;
}

export const MeContext = createContext<MeHere | undefined>(undefined);

const order = ["viewer", "runner", "editor", "admin"] as const;

/** Who has signed in, where they are, and what they may do there. */
export function useMe() {
  const here = useContext(MeContext);
  if (!here) throw new Error("Nobody has signed in.");
  const role = here.me.memberships.find(({ workspace_id: id }) => id === here.workspaceId)?.role;
  const has = (least: (typeof order)[number]) =>
    role !== undefined && order.indexOf(role) >= order.indexOf(least);
  return {
    ...here,
    role,
    mayRun: has("runner"),
    mayWrite: has("editor"),
    isAdmin: has("admin"),
    administersInstance: here.me.instance !== null,
    mayApprove: has("admin") && here.me.scopes.includes("control:approve"),
  };
}
