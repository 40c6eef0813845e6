/** An event as Slack's incoming webhooks take it; Mattermost and others take the same. */
import { type EventText, textOf } from "./event-mail.ts";

/**
 * Slack cuts longer messages.
 * @see https://docs.slack.dev/messaging/formatting-message-text (2026-11-24)
 */
const maxChars = 4_000;

/** @param event as a mail tells it */
export function slackMessageOf(...event: Parameters<typeof textOf>): Buffer {
  const { subject, paragraphs }: EventText = textOf(...event);
  const lines = [`*${escaped(subject)}*`, ...paragraphs.flat().map(escaped)];
  return Buffer.from(JSON.stringify({ text: lines.join("\n").slice(0, maxChars) }));
}

/** Names are text of somebody else: none of them calls a channel or makes a link. */
const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
