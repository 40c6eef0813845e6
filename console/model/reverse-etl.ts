import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { all, type Endpoint, limit } from "./queries.ts";

export const useModels = () =>
  useQuery({
    queryKey: ["in", "models", "list"],
    queryFn: () =>
      all((cursor) =>
        ask(api.GET("/reverse-etl/models", { params: { query: { limit, cursor, sort: "name" } } })),
      ),
  });

export const useReceivers = () =>
  useQuery({
    queryKey: ["in", "receivers", "list"],
    queryFn: () =>
      all((cursor) =>
        ask(
          api.GET("/reverse-etl/destinations", {
            params: { query: { limit, cursor, sort: "name" } },
          }),
        ),
      ),
  });

export type Receiver = schemas["ReverseEtlDestination"];
export type ReceiverType = schemas["CreateReverseEtlDestinationRequest"]["type"];

/** The kinds of receivers, by the API's word for them. */
export const receiverWords: Readonly<Record<string, string>> = {
  webhook: "Webhook",
  postgres: "PostgreSQL",
  mailer: "Mailer",
} satisfies Record<ReceiverType, string>;

/** Where a receiver is, as far as its settings say so in one word. */
export function placeOf({ configuration: { url, base_url: base, host } }: Receiver): string {
  const place = url ?? base ?? host;
  return typeof place === "string" ? place : "";
}

/** As one of what `save.ts` saves: a webhook has settings and secrets like a source. */
export const fromReceiver = (one: Receiver): Endpoint => ({
  id: one.destinationId,
  name: one.name,
  connectorId: "conn_webhook",
  credentialHandle: one.credentialHandle,
  configuration: one.configuration,
  lastCheck: null,
  version: one.version,
});

export const useActivations = () =>
  useQuery({
    queryKey: ["in", "activations", "list"],
    queryFn: () =>
      all((cursor) =>
        ask(
          api.GET("/reverse-etl/activations", {
            params: { query: { limit, cursor, sort: "name" } },
          }),
        ),
      ),
    refetchInterval: 10_000,
  });

export const useRuns = (activationId: string) =>
  useQuery({
    queryKey: ["in", "runs", { activationId }],
    queryFn: () =>
      ask(api.GET("/reverse-etl/runs", { params: { query: { activationId, limit: 30 } } })),
    refetchInterval: 3_000,
  });

export const isRunOpen = ({ finishedAt }: schemas["ReverseEtlRun"]): boolean => finishedAt === null;

export const operations: Readonly<Record<schemas["RowOperation"], string>> = {
  upsert: "Add new rows, change those that are there",
  insert: "Only add new rows",
  update: "Only change rows that are there",
  mirror: "Add, change, and remove what has left the model",
  append: "Add each new or changed row once more",
};

/** "12 added, 3 changed". */
export function rowWords({ addedCount, changedCount, removedCount }: schemas["RowCounts"]): string {
  const parts = [
    addedCount > 0 ? `${addedCount} to add` : "",
    changedCount > 0 ? `${changedCount} to change` : "",
    removedCount > 0 ? `${removedCount} to remove` : "",
  ].filter((one) => one !== "");
  return parts.length === 0 ? "nothing to do" : parts.join(", ");
}

export const sumOf = ({ addedCount, changedCount, removedCount }: schemas["RowCounts"]): number =>
  addedCount + changedCount + removedCount;
