import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../api/client.ts";

/** Proposals that wait for somebody's decision, as they come. */
export const usePending = (isEnabled = true) =>
  useQuery({
    queryKey: ["in", "approvals", "pending"],
    queryFn: () =>
      ask(api.GET("/approvals", { params: { query: { status: "pending", limit: 200 } } })),
    refetchInterval: 5_000,
    enabled: isEnabled,
  });

/** Whether anything can still become of it. */
export const isOpen = (status: string): boolean =>
  status === "pending" || status === "approved" || status === "executing";
