/** Events of a workspace, in words, and who is notified of them. */
import { useQuery } from "@tanstack/react-query";
import { api, ask } from "../api/client.ts";
import type { schemas } from "../api/schema.ts";
import { all, limit } from "./queries.ts";

export type EventName = schemas["ChosenEventType"];
export type WebhookEndpoint = schemas["WebhookEndpoint"];

/** Events by what they are about: the word for each says when it comes. */
export const eventGroups = [
  {
    title: "Pipelines",
    events: {
      "pipeline.failed": "One stops working",
      "pipeline.recovered": "One works again",
      "pipeline.degraded": "One begins to leave values, columns or rows out",
      "pipeline.paused": "One is paused",
      "schema.changed": "The streams of a source have changed",
    },
  },
  {
    title: "Reverse ETL",
    events: {
      "activation.failed": "An activation stops working",
      "activation.recovered": "An activation works again",
      "activation.degraded": "A receiver begins to refuse rows",
    },
  },
  {
    title: "Logins and webhooks",
    events: {
      "credential.needs_reauth": "A login is refused: it must be connected again",
      "credential.expiring": "A login ends within a week",
      "webhook_endpoint.disabled": "A webhook was disabled, because it takes nothing",
    },
  },
  {
    title: "Approvals",
    events: {
      "approval.created": "A change waits for approval",
      "approval.decided": "A change was approved, rejected or withdrawn",
      "approval.expired": "Nobody has decided in time",
    },
  },
  {
    title: "Each job",
    events: {
      "job.succeeded": "It is done",
      "job.failed": "It has failed, after all of its attempts",
      "job.cancelled": "It was cancelled",
    },
  },
] as const satisfies readonly {
  readonly title: string;
  readonly events: Partial<Record<EventName, string>>;
}[];

export const allEvents: readonly EventName[] = eventGroups.flatMap(
  ({ events }) => Object.keys(events) as EventName[],
);

/** "Pipelines: One stops working", for where an event stands alone. */
export function eventWords(type: schemas["EventType"]): string {
  if (type === "webhook_endpoint.test") return "A test";
  for (const { title, events } of eventGroups) {
    const said = (events as Partial<Record<string, string>>)[type];
    if (said !== undefined) return `${title}: ${said.charAt(0).toLowerCase()}${said.slice(1)}`;
  }
  return type;
}

export const formatWords: Readonly<Record<schemas["WebhookFormat"], string>> = {
  event: "The event, signed, for a program",
  slack: "A message, as Slack's incoming webhooks take it",
};

export const disabledWords: Readonly<Record<schemas["DisabledReason"], string>> = {
  by_a_person: "Somebody has disabled it.",
  deliveries_failed: "svc has disabled it: for days it has taken nothing.",
  gone: "svc has disabled it: it answered that it is gone for good (410).",
};

export const useNotificationSettings = () =>
  useQuery({
    queryKey: ["in", "notification-settings"],
    queryFn: () => ask(api.GET("/notification-settings")),
  });

export const useWebhookEndpoints = (isEnabled: boolean) =>
  useQuery({
    queryKey: ["in", "webhook-endpoints", "list"],
    queryFn: () =>
      all((cursor) =>
        ask(api.GET("/webhook-endpoints", { params: { query: { limit, cursor, sort: "name" } } })),
      ),
    enabled: isEnabled,
  });
