/** The mail about an event: what happened, and where to look. */
import { basePath } from "../door/base-path.ts";
import type { Mail } from "../mail/mailer.ts";
import type { EventType } from "../store/tables.ts";
import type { EventData, EventRow } from "./schemas.ts";
import { eventTable } from "./types.ts";

export interface MailReceiver {
  readonly email: string;
  /** Name of the workspace. */
  readonly workspace: string;
}

/** Lines of one kind that a mail names; the event has the rest. */
const maxNamed = 20;

export function mailOf(
  event: EventRow,
  { email, workspace }: MailReceiver,
  publicUrl?: string,
): Mail {
  const { subject, paragraphs: own } = textOf(event, workspace, publicUrl);
  const paragraphs = [
    ...own,
    ["Administrators choose who gets such mails: PATCH /notification-settings."],
  ];
  return {
    to: email,
    subject,
    text: `${paragraphs.map((lines) => lines.join("\n")).join("\n\n")}\n`,
  };
}

/** An event in words for people. */
export interface EventText {
  readonly subject: string;
  /** Lines of each. */
  readonly paragraphs: readonly (readonly string[])[];
}

/**
 * @param workspace its name
 * @param publicUrl undefined: nobody knows where the server is reached, and paths stand alone
 */
export function textOf(
  { type, data, occurred_at }: EventRow,
  workspace: string,
  publicUrl = "",
): EventText {
  const facts = data as EventData;
  const path = pathOf(facts);
  return {
    subject: `${subjectOf(type, facts)} (${workspace})`,
    paragraphs: [
      [`${eventTable[type].meaning}`],
      [`Workspace: ${workspace}`, ...aboutOf(facts), `Time: ${occurred_at.toISOString()}`].map(
        oneLine,
      ),
      ...(path === undefined ? [] : [[`More: GET ${publicUrl}${basePath}${path}`]]),
    ],
  };
}

/** A name, of a stream above all, is text of somebody else: it makes no line of its own. */
const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 500);

const words: Partial<Record<EventType, string>> = {
  "pipeline.failed": "Failed",
  "pipeline.recovered": "Works again",
  "pipeline.paused": "Paused",
  "pipeline.degraded": "Something did not fit",
  "activation.failed": "Failed",
  "activation.recovered": "Works again",
  "activation.degraded": "Rows were refused",
  "schema.changed": "Streams or columns have changed",
  "credential.needs_reauth": "Connect again",
  "credential.expiring": "Ends soon",
  "webhook_endpoint.disabled": "Disabled",
};

function subjectOf(type: EventType, data: EventData): string {
  const { pipeline, activation, credential, webhook_endpoint } = data;
  const name = (pipeline ?? activation ?? credential ?? webhook_endpoint)?.name;
  return name === undefined ? `svc: ${type}` : `${words[type] ?? type}: ${name}`;
}

function aboutOf(data: EventData): string[] {
  const { pipeline, activation, job, credential, webhook_endpoint, approval } = data;
  const left = (data.left_out ?? [])
    .slice(0, maxNamed)
    .map(({ stream, values, columns, rows }) =>
      [
        `Left out of ${stream}: ${values} values`,
        ...(rows ? [`${rows} rows without a value in the cursor field`] : []),
        ...(columns.length > 0 ? [`columns ${columns.slice(0, maxNamed).join(", ")}`] : []),
      ].join(", "),
    );
  const changed = (data.changes ?? [])
    .slice(0, maxNamed)
    .map(
      ({ stream, type, column, from, to }) =>
        `Changed: ${[stream, column, from && to ? `${from} → ${to}` : type].filter(Boolean).join(" ")}`,
    );
  return [
    ...(pipeline ? [`Pipeline: ${pipeline.name} (${pipeline.pipeline_id})`] : []),
    ...(pipeline?.pause_reason ? [`Paused by svc: ${pipeline.pause_reason}`] : []),
    ...(activation ? [`Activation: ${activation.name} (${activation.activation_id})`] : []),
    ...(job ? [`Job: ${job.job_id}, ${job.status} after ${job.attempts} attempts`] : []),
    ...(job?.failure ? [`Why: ${job.failure.message} (${job.failure.code})`] : []),
    ...(data.rows_refused === undefined ? [] : [`Rows that were refused: ${data.rows_refused}`]),
    ...left,
    ...changed,
    ...(credential ? [`Credential: ${credential.name} (${credential.credential_id})`] : []),
    ...(credential?.secrets_expire_at ? [`Its secrets end: ${credential.secrets_expire_at}`] : []),
    ...(webhook_endpoint
      ? [`Webhook endpoint: ${webhook_endpoint.name} (${webhook_endpoint.webhook_endpoint_id})`]
      : []),
    ...(webhook_endpoint?.disabled_reason ? [`Why: ${webhook_endpoint.disabled_reason}`] : []),
    ...(approval ? [`Proposal: ${approval.summary} (${approval.approval_id})`] : []),
  ];
}

function pathOf({ job, pipeline, credential, webhook_endpoint, approval }: EventData) {
  if (job) return `/jobs/${job.job_id}`;
  if (pipeline) return `/pipelines/${pipeline.pipeline_id}`;
  if (credential) return `/credentials/${credential.credential_id}`;
  if (approval) return `/approvals/${approval.approval_id}`;
  return (
    webhook_endpoint && `/webhook-endpoints/${webhook_endpoint.webhook_endpoint_id}/deliveries`
  );
}
