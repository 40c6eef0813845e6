import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { all, limit } from "../model/queries.ts";
import { useMe } from "./me.tsx";

export const useMembers = () => {
  const { workspaceId = "" } = useMe();
  return useQuery({
    queryKey: ["in", "members"],
    queryFn: () =>
      all((cursor) =>
        ask(
          api.GET("/workspaces/{workspace_id}/members", {
            params: {
              path: { workspace_id: workspaceId },
              query: { limit, cursor, sort: "name" },
            },
          }),
        ),
      ),
    staleTime: 60_000,
  });
};

/** People's names, by their ids. Who has left the workspace keeps the id alone. */
export function usePersonNames(): (userId: string | null) => string {
  const { me } = useMe();
  const { data = [], isPending } = useMembers();
  return (userId) => {
    if (userId === null) return "svc";
    if (userId === me.user_id) return "You";
    const found = data.find((one) => one.user_id === userId);
    return found?.name ?? found?.email ?? (isPending ? "…" : userId);
  };
}

/** Through what somebody asks. */
export const clientWords: Readonly<Record<schemas["Client"], string>> = {
  api: "a program",
  cli: "the console or a terminal",
  mcp: "an agent",
};
