import type { JsonObject, JsonValue } from "svc-connectors";
import type { FailedRow, RowChange, RowOperation } from "svc-connectors/destination";
import { findSubscriber, type Subscriber } from "./api.ts";
import type { MailerContext } from "./spec.ts";

/** Fields of a subscriber that are no attributes. */
const ownFields = ["email", "first_name", "last_name", "tags"];

type Failure = Omit<FailedRow, "key">;

/**
 * Brings one subscriber of a list to what the row says. What the row does not name stays as it is,
 * other attributes too; whoever has unsubscribed stays so.
 * @returns why the provider did not take the row; undefined: it has
 */
export async function writeSubscriber(
  ctx: MailerContext,
  list: string,
  operation: RowOperation,
  { change, fields }: RowChange,
): Promise<Failure | undefined> {
  const email = String(fields.email ?? "").trim();
  const known = await findSubscriber(ctx, list, email);
  if (change === "removed") return known ? await remove(ctx, known) : undefined;
  if (known)
    return operation === "insert" ? { reason: "row_exists" } : await update(ctx, known, fields);
  return operation === "update"
    ? { reason: "row_not_found" }
    : await add(ctx, list, email, operation, fields);
}

async function add(
  ctx: MailerContext,
  list: string,
  email: string,
  operation: RowOperation,
  fields: JsonObject,
): Promise<Failure | undefined> {
  const { skip_confirmation } = ctx.config;
  const body = { ...toBody(fields, {}), ...(skip_confirmation ? { skip_confirmation } : {}) };
  const { status } = await ctx.http.post(["email-lists", list, "subscribers"], {
    body,
    accept: [422],
  });
  if (status < 300) return undefined;
  // An earlier try of this very request may have come through.
  const known = operation === "insert" ? undefined : await findSubscriber(ctx, list, email);
  return known ? await update(ctx, known, fields) : { reason: "value_invalid" };
}

async function update(
  ctx: MailerContext,
  { uuid, extra_attributes = [] }: Subscriber,
  fields: JsonObject,
) {
  const attributes = Array.isArray(extra_attributes) ? {} : (extra_attributes as JsonObject);
  const { status } = await ctx.http.patch(["subscribers", uuid], {
    body: toBody(fields, attributes),
    accept: [422],
  });
  return status < 300 ? undefined : ({ reason: "value_invalid" } as const);
}

/** Gone already is as good. */
async function remove(ctx: MailerContext, { uuid }: Subscriber): Promise<undefined> {
  await ctx.http.delete(["subscribers", uuid], { accept: [404, 410] });
}

function toBody(fields: JsonObject, attributes: JsonObject): JsonObject {
  const entries = Object.entries(fields);
  const own = entries.filter(([name]) => ownFields.includes(name));
  const extra = entries.filter(([name]) => !ownFields.includes(name));
  return {
    ...Object.fromEntries(
      own.map(([name, value]) => [name, name === "tags" ? toTags(value) : value]),
    ),
    ...(extra.length > 0
      ? { extra_attributes: { ...attributes, ...Object.fromEntries(extra) } }
      : {}),
  };
}

/** A list, or names with commas between them. */
function toTags(value: JsonValue): JsonValue {
  if (typeof value !== "string") return value ?? [];
  const text = value.trim();
  if (text.startsWith("[")) {
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      // A tag may begin so.
    }
  }
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}
