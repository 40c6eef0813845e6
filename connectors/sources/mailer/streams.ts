import { Nullable, type Stream, Timestamp, Type } from "svc-connectors";
import type { Config } from "./spec.ts";

const key = Type.String();
const text = Nullable(Type.String());
const time = Nullable(Timestamp());
const flag = Nullable(Type.Boolean());
const count = Nullable(Type.Integer({ minimum: 0 }));
const ratio = Nullable(Type.Number({ minimum: 0, description: "As a ratio: 0.252 is 25.2 %." }));
const rawRate = Nullable(
  Type.Integer({ minimum: 0, description: "As the API gives it: 2520 is 25.20 %." }),
);
const anything = Type.Unknown();
type Fields = Readonly<
  Record<
    string,
    typeof key | typeof text | typeof flag | typeof count | typeof ratio | typeof anything
  >
>;

/** A stream, and where the API has it. */
export interface MailerStream {
  readonly name: string;
  readonly description: string;
  /** Route of the listing; below each `parent` where there is one. */
  readonly route: string;
  readonly parent?: "campaigns" | "email-lists";
  readonly primaryKey: readonly string[];
  /** Orders the listing, newest first. */
  readonly cursorField?: string;
  readonly fields: Fields;
  /** Identify a person: only with include_personal_data. */
  readonly personal?: Fields;
  /** Bodies of mails: only with include_html. */
  readonly html?: Fields;
  /** Old servers lack the route. */
  readonly mayBeMissing?: boolean;
}

const dates = { created_at: time, updated_at: time };
const ofSubscriber = { campaign_uuid: key, subscriber_uuid: key };
const personalEmail = { subscriber_email: text };

export const streams: readonly MailerStream[] = [
  {
    name: "email_lists",
    description: "Lists that people subscribe to, with their settings.",
    route: "email-lists",
    primaryKey: ["uuid"],
    fields: {
      uuid: key,
      name: text,
      active_subscribers_count: count,
      campaigns_feed_enabled: flag,
      default_from_email: text,
      default_from_name: text,
      default_reply_to_email: text,
      default_reply_to_name: text,
      allow_form_subscriptions: flag,
      redirect_after_subscribed: text,
      redirect_after_already_subscribed: text,
      redirect_after_subscription_pending: text,
      redirect_after_unsubscribed: text,
      requires_confirmation: flag,
      confirmation_mail_subject: text,
      confirmation_mailable_class: text,
      campaign_mailer: text,
      automation_mailer: text,
      transactional_mailer: text,
      report_campaign_sent: flag,
      report_campaign_summary: flag,
      report_email_list_summary: flag,
      email_list_summary_sent_at: time,
      ...dates,
    },
    personal: { report_recipients: text },
    html: { confirmation_mail_content: text },
  },
  {
    name: "campaigns",
    description: "Campaigns with their results so far.",
    route: "campaigns",
    primaryKey: ["uuid"],
    cursorField: "sent_at",
    fields: {
      uuid: key,
      name: text,
      email_list_uuid: text,
      template_uuid: text,
      from_email: text,
      from_name: text,
      status: text,
      mailable_class: text,
      utm_tags: flag,
      sent_to_number_of_subscribers: count,
      segment_class: text,
      segment_description: text,
      open_count: count,
      unique_open_count: count,
      open_rate: ratio,
      open_rate_raw: rawRate,
      click_count: count,
      unique_click_count: count,
      click_rate: ratio,
      click_rate_raw: rawRate,
      unsubscribe_count: count,
      unsubscribe_rate: ratio,
      unsubscribe_rate_raw: rawRate,
      bounce_count: count,
      bounce_rate: ratio,
      bounce_rate_raw: rawRate,
      sent_at: time,
      statistics_calculated_at: time,
      scheduled_at: time,
      last_modified_at: time,
      summary_mail_sent_at: time,
      ...dates,
    },
    html: {
      html: text,
      structured_html: text,
      email_html: text,
      webview_html: text,
      fields: anything,
    },
  },
  {
    name: "campaign_opens",
    description: "Who opened a campaign: one row per campaign and subscriber.",
    route: "opens",
    parent: "campaigns",
    primaryKey: ["campaign_uuid", "subscriber_uuid"],
    cursorField: "first_opened_at",
    fields: {
      ...ofSubscriber,
      uuid: text,
      subscriber_email_list_uuid: text,
      open_count: count,
      first_opened_at: time,
    },
    personal: personalEmail,
  },
  {
    name: "campaign_clicks",
    description: "Clicks per link of a campaign. The API does not say who clicked.",
    route: "clicks",
    parent: "campaigns",
    primaryKey: ["campaign_uuid", "url"],
    fields: {
      campaign_uuid: key,
      url: key,
      uuid: text,
      unique_click_count: count,
      click_count: count,
    },
  },
  {
    name: "campaign_unsubscribes",
    description: "Who unsubscribed through a campaign. The API does not say when.",
    route: "unsubscribes",
    parent: "campaigns",
    primaryKey: ["campaign_uuid", "subscriber_uuid"],
    fields: ofSubscriber,
    personal: personalEmail,
  },
  {
    name: "campaign_bounces",
    description:
      "Bounces of and complaints about a campaign. Servers before version 6 cannot tell: the stream is empty there.",
    route: "bounces",
    parent: "campaigns",
    primaryKey: ["campaign_uuid", "subscriber_uuid", "type"],
    fields: {
      ...ofSubscriber,
      type: key,
      subscriber_email_list_uuid: text,
      bounce_count: count,
      created_at: time,
    },
    personal: personalEmail,
    mayBeMissing: true,
  },
  {
    name: "subscribers",
    description: "Subscribers of every list: subscribed, unconfirmed and unsubscribed ones.",
    route: "subscribers",
    parent: "email-lists",
    primaryKey: ["uuid"],
    fields: {
      uuid: key,
      email_list_uuid: text,
      tags: anything,
      subscribed_at: time,
      unsubscribed_at: time,
      ...dates,
    },
    personal: { email: text, first_name: text, last_name: text, extra_attributes: anything },
  },
  {
    name: "sends",
    description: "Every mail that was sent to a subscriber, failed ones included.",
    route: "sends",
    primaryKey: ["uuid"],
    fields: {
      uuid: key,
      transport_message_id: text,
      campaign_uuid: text,
      automation_mail_uuid: text,
      transactional_mail_log_item_uuid: text,
      subscriber_uuid: text,
      sent_at: time,
      failed_at: time,
      open_count: count,
      click_count: count,
      first_opened_at: time,
      last_opened_at: time,
      first_clicked_at: time,
      last_clicked_at: time,
      ...dates,
    },
    personal: { failure_reason: text }, // mail servers quote the address in it
  },
  {
    name: "tags",
    description: "Tags of every list.",
    route: "tags",
    parent: "email-lists",
    primaryKey: ["uuid"],
    fields: { uuid: key, name: text, email_list_uuid: text, ...dates },
  },
  {
    name: "segments",
    description: "Segments of every list.",
    route: "segments",
    parent: "email-lists",
    primaryKey: ["uuid"],
    fields: {
      uuid: key,
      name: text,
      email_list_uuid: text,
      all_positive_tags_required: flag,
      all_negative_tags_required: flag,
      ...dates,
    },
  },
  {
    name: "templates",
    description: "Templates that campaigns are made from.",
    route: "templates",
    primaryKey: ["uuid"],
    fields: { uuid: key, name: text, ...dates },
    html: { html: text, structured_html: text },
  },
  {
    name: "automations",
    description: "Automations and whether they run.",
    route: "automations",
    primaryKey: ["uuid"],
    fields: {
      uuid: key,
      name: text,
      email_list_uuid: text,
      interval: text,
      status: text,
      ...dates,
    },
  },
  {
    name: "transactional_mails",
    description: "The log of transactional mails.",
    route: "transactional-mails",
    primaryKey: ["uuid"],
    fields: { uuid: key, mail_name: text, created_at: time },
    personal: { subject: text, from: anything, to: anything, cc: anything, bcc: anything },
    html: { body: text },
  },
];

/** The stream as discover lists it under this configuration. */
export function describe(stream: MailerStream, config: Config): Stream {
  const { name, description, primaryKey, cursorField = "" } = stream;
  return {
    name,
    description,
    schema: Type.Object(fieldsOf(stream, config)),
    primaryKey,
    isResumable: true,
    ...(isIncremental(stream, config)
      ? { cursorField, syncModes: ["full_refresh", "incremental"] }
      : {}),
  };
}

/** Campaigns that were not sent have no date to go by. */
export function isIncremental(
  { name, cursorField }: MailerStream,
  { campaign_status }: Config,
): boolean {
  return cursorField !== undefined && (name !== "campaigns" || campaign_status === "sent");
}

function fieldsOf(stream: MailerStream, config: Config): Fields {
  return {
    ...stream.fields,
    ...(config.include_personal_data ? stream.personal : {}),
    ...(config.include_html ? stream.html : {}),
  };
}

/**
 * Makes rows of the stream from what the API gives: only its fields, and quirks of servers mended.
 */
export function createRowMapper(stream: MailerStream, config: Config) {
  const fields = Object.entries(fieldsOf(stream, config));
  return (given: Readonly<Record<string, unknown>>, parent: string | undefined) => {
    const row: Record<string, unknown> = {};
    for (const [name, schema] of fields) {
      if (schema === rawRate) row[name] = toNumber(given[name.replace(/_raw$/, "")]);
      else if (schema === ratio) row[name] = toRatio(given[name]);
      else if (schema === count) row[name] = toNumber(given[name]);
      else row[name] = given[name];
    }
    if (stream.parent === "campaigns") row.campaign_uuid = parent;
    // version 5 casts the uuid to a number
    if (row.subscriber_email_list_uuid === 0) row.subscriber_email_list_uuid = null;
    return row;
  };
}

/** Some servers write counts as text. Anything else stays as it is, for the schema to judge. */
const toNumber = (value: unknown) =>
  typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;

/** The API gives rates in hundredths of a percent. */
function toRatio(value: unknown): unknown {
  const rate = toNumber(value);
  return typeof rate === "number" ? rate / 10_000 : rate;
}
