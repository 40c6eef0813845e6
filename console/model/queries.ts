/** Queries of the API that several pages share. Keys that begin with "in" are of one workspace. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, ask, chooseWorkspace } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";

export type Kind = "source" | "destination";

/** One of both, under the names that they share. */
export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly connectorId: string;
  readonly credentialHandle: string | null;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly lastCheck: schemas["Check"] | null;
  readonly version: number;
}

export const fromSource = (one: schemas["Source"]): Endpoint => ({
  ...shared(one),
  id: one.source_id,
});
export const fromDestination = (one: schemas["Destination"]): Endpoint => ({
  ...shared(one),
  id: one.destination_id,
});
const shared = (one: schemas["Source"] | schemas["Destination"]): Omit<Endpoint, "id"> => ({
  name: one.name,
  connectorId: one.connector_id,
  credentialHandle: one.credential_handle,
  configuration: one.configuration,
  lastCheck: one.last_check,
  version: one.version,
});

/** The most that a page of a list has. */
export const limit = 200;

/** Everything of a list, page by page. */
export async function all<T>(
  page: (cursor: string | undefined) => Promise<{
    readonly items: readonly T[];
    readonly next_cursor: string | null;
  }>,
): Promise<readonly T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const { items: more, next_cursor: next } = await page(cursor);
    items.push(...more);
    cursor = next ?? undefined;
  } while (cursor !== undefined);
  return items;
}

export const useEndpoints = (kind: Kind) =>
  useQuery({
    queryKey: ["in", kind, "list"],
    queryFn: () =>
      kind === "source"
        ? all((cursor) =>
            ask(api.GET("/sources", { params: { query: { limit, cursor, sort: "name" } } })),
          ).then((items) => items.map(fromSource))
        : all((cursor) =>
            ask(api.GET("/destinations", { params: { query: { limit, cursor, sort: "name" } } })),
          ).then((items) => items.map(fromDestination)),
  });

export const useConnectors = () =>
  useQuery({
    queryKey: ["in", "connectors"],
    queryFn: () =>
      all((cursor) =>
        ask(api.GET("/connectors", { params: { query: { limit, cursor, sort: "name" } } })),
      ),
    staleTime: 60_000,
  });

export const useConnector = (id: string) =>
  useQuery({
    queryKey: ["in", "connectors", id],
    queryFn: () =>
      ask(api.GET("/connectors/{connector_id}", { params: { path: { connector_id: id } } })),
  });

export const useCredentials = () =>
  useQuery({
    queryKey: ["in", "credentials"],
    queryFn: () =>
      all((cursor) =>
        ask(api.GET("/credentials", { params: { query: { limit, cursor, sort: "name" } } })),
      ),
    staleTime: 30_000,
  });

export const usePipelines = () =>
  useQuery({
    queryKey: ["in", "pipelines"],
    queryFn: () =>
      all((cursor) =>
        ask(api.GET("/pipelines", { params: { query: { limit, cursor, sort: "name" } } })),
      ),
    refetchInterval: 10_000,
  });

export const useJobs = (query: { readonly pipeline_id?: string; readonly limit?: number }) =>
  useQuery({
    queryKey: ["in", "jobs", query],
    queryFn: () => ask(api.GET("/jobs", { params: { query } })),
    refetchInterval: 5_000,
  });

const storageKey = "svc-workspace";

export const workspaces = {
  /** The workspace that was chosen last in this browser, while one is its member. */
  useChosen(me: schemas["GetMeResult"]) {
    const [chosen, setChosen] = useState(() => localStorage.getItem(storageKey) ?? undefined);
    const ids = me.memberships.map(({ workspace_id: id }) => id);
    const workspaceId =
      chosen !== undefined && ids.includes(chosen)
        ? chosen
        : (me.default_workspace_id ?? ids[0] ?? undefined);
    chooseWorkspace(workspaceId);
    return {
      workspaceId,
      choose(id: string) {
        localStorage.setItem(storageKey, id);
        chooseWorkspace(id);
        setChosen(id);
      },
    };
  },
};
