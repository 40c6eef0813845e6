/** The types of events: what each says, and whether people are mailed unless they choose. */
import type { EventType } from "../store/tables.ts";

interface TypeRow {
  readonly meaning: string;
  /** Members are mailed of it unless the workspace has settings of its own. */
  readonly isMailed?: true;
  /** It goes to the one endpoint that asked for it. */
  readonly isTest?: true;
}

export const eventTable = {
  "job.succeeded": { meaning: "A job is done." },
  "job.failed": { meaning: "A job has failed, after all of its attempts." },
  "job.cancelled": { meaning: "A job was cancelled." },
  "pipeline.failed": {
    meaning: "A pipeline has stopped working: its first job failed. Not told again until it works.",
    isMailed: true,
  },
  "pipeline.recovered": { meaning: "A pipeline that failed works again.", isMailed: true },
  "pipeline.paused": { meaning: "A pipeline was paused, by a person or by svc.", isMailed: true },
  "pipeline.degraded": {
    meaning:
      "A pipeline has begun to leave out values, columns or rows, or a column of its destination is text now, since a value did not fit. Not told again until nothing of the kind comes of a job.",
    isMailed: true,
  },
  "activation.failed": {
    meaning: "An activation has stopped working: its first run failed.",
    isMailed: true,
  },
  "activation.recovered": { meaning: "An activation that failed works again.", isMailed: true },
  "activation.degraded": {
    meaning:
      "The destination of an activation has begun to refuse rows. Not told again until a run has none refused.",
    isMailed: true,
  },
  "schema.changed": {
    meaning:
      "A job has found that the streams of its source have changed, or a column at the destination has another type now, so that every value fits.",
  },
  "approval.created": { meaning: "Somebody, or an agent, proposes a change." },
  "approval.decided": { meaning: "A proposal was approved, rejected or withdrawn." },
  "approval.expired": { meaning: "Nobody has decided about a proposal in time." },
  "credential.needs_reauth": {
    meaning: "The provider no longer honours a credential: connect the account again.",
    isMailed: true,
  },
  "credential.expiring": {
    meaning: "The secrets of a credential end within a week.",
    isMailed: true,
  },
  "webhook_endpoint.disabled": {
    meaning: "svc has disabled a webhook endpoint, because it takes no deliveries.",
    isMailed: true,
  },
  "webhook_endpoint.test": { meaning: "Somebody has tried a webhook endpoint.", isTest: true },
} as const satisfies Record<EventType, TypeRow>;

/** The form of what an endpoint is sent: the event as it is, or a message for Slack. */
export const webhookFormats = ["event", "slack"] as const;

const namesOf = (isWanted: (row: TypeRow) => boolean | undefined): EventType[] =>
  (Object.keys(eventTable) as EventType[]).filter((type) => isWanted(eventTable[type]));

/** Types that an endpoint or a mailbox can choose. */
export const chosenTypes = namesOf(({ isTest }) => !isTest);
/** Types of which people are mailed unless the workspace has settings of its own. */
export const mailedTypes = namesOf(({ isMailed }) => isMailed);
