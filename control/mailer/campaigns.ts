import type { JsonObject, JsonValue } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { Nullable, OneOf, StrictObject } from "../contract/schemas.ts";

const TextOrNull = Nullable(Type.String());
const Count = Nullable(Type.Integer({ minimum: 0 }));
const Ratio = Nullable(Type.Number({ minimum: 0, description: "0.252 is 25.2 %." }));

export const Campaign = StrictObject(
  {
    campaign_uuid: Type.String(),
    name: TextOrNull,
    status: TextOrNull,
    sent_at: TextOrNull,
    sent_to_number_of_subscribers: Count,
    open_count: Count,
    unique_open_count: Count,
    open_rate: Ratio,
    click_count: Count,
    unique_click_count: Count,
    click_rate: Ratio,
    unsubscribe_count: Count,
    unsubscribe_rate: Ratio,
    bounce_count: Count,
    bounce_rate: Ratio,
  },
  { title: "Campaign" },
);

export const MetricRequiringAttribution = StrictObject(
  {
    metric: OneOf(["sessions", "orders", "revenue"]),
    status: OneOf(["requires_external_attribution_join"]),
    value: Type.Null(),
  },
  { title: "MetricRequiringAttribution" },
);

/**
 * Traffic and sales: a mailer cannot know them. They come from joining its campaigns with what
 * happened elsewhere.
 */
export const metricsRequiringAttribution = (["sessions", "orders", "revenue"] as const).map(
  (metric) => ({
    metric,
    status: "requires_external_attribution_join" as const,
    value: null,
  }),
);

/** A row of the campaigns stream as customers see it: its numbers, and of its texts one line. */
export function toCampaign(row: JsonObject): Static<typeof Campaign> {
  return {
    campaign_uuid: line(row.uuid) ?? "",
    name: line(row.name),
    status: line(row.status),
    sent_at: line(row.sent_at),
    sent_to_number_of_subscribers: number(row.sent_to_number_of_subscribers),
    open_count: number(row.open_count),
    unique_open_count: number(row.unique_open_count),
    open_rate: number(row.open_rate),
    click_count: number(row.click_count),
    unique_click_count: number(row.unique_click_count),
    click_rate: number(row.click_rate),
    unsubscribe_count: number(row.unsubscribe_count),
    unsubscribe_rate: number(row.unsubscribe_rate),
    bounce_count: number(row.bounce_count),
    bounce_rate: number(row.bounce_rate),
  };
}

/** Longest text of a campaign that is shown. */
const maxLineLength = 200;

function line(value: JsonValue | undefined): string | null {
  if (typeof value !== "string") return null;
  const plain = value.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ").trim();
  return plain.length > maxLineLength
    ? `${[...plain].slice(0, maxLineLength - 1).join("")}…`
    : plain;
}

const number = (value: JsonValue | undefined) => (typeof value === "number" ? value : null);
