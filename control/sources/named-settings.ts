/**
 * Settings that a request may name beside its configuration: the mailer's and the social
 * connector's. They mean the same in both places, and are kept in the configuration.
 */
import type { JsonObject, JsonValue } from "svc-connectors/host";
import { Type } from "typebox";
import type { ConnectorDefinition } from "../connectors/registry.ts";
import { refuseField } from "../contract/reasons.ts";
import { Nullable, OneOf } from "../contract/schemas.ts";

/** Ids of providers are texts; some clients send them as numbers. */
export const ProviderId = Type.Union([
  Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" }),
  Type.Integer({ minimum: 0 }),
]);
const ProviderIds = Type.Array(ProviderId, { maxItems: 5_000 });

export const BaseUrl = Type.String({
  description: "https, an approved host, no port but 443, a path that ends in /api.",
});
export const ConnectionMethod = OneOf(["self_hosted", "cloud"], {
  title: "ConnectionMethod",
  description: "Default self_hosted.",
});

const schemas = {
  base_url: BaseUrl,
  connection_method: ConnectionMethod,
  portal_id: ProviderId,
  brand_ids: ProviderIds,
  channel_ids: ProviderIds,
} as const;

export const namedSettings = {
  base_url: Type.Optional(schemas.base_url),
  connection_method: Type.Optional(schemas.connection_method),
  portal_id: Type.Optional(schemas.portal_id),
  brand_ids: Type.Optional(schemas.brand_ids),
  channel_ids: Type.Optional(schemas.channel_ids),
};

/** As {@link namedSettings}, for a merge patch. */
export const namedSettingsPatch = {
  base_url: Type.Optional(schemas.base_url),
  connection_method: Type.Optional(Nullable(schemas.connection_method)),
  portal_id: Type.Optional(schemas.portal_id),
  brand_ids: Type.Optional(schemas.brand_ids),
  channel_ids: Type.Optional(Nullable(schemas.channel_ids)),
};

const names = Object.keys(schemas);

/**
 * The configuration that a request means, ids as texts.
 * @throws validation_failed for a setting of another connector · duplicate_field when it stands in
 * both places
 */
export function enteredConfiguration(
  definition: ConnectorDefinition,
  body: { readonly configuration?: object } & { readonly [name: string]: unknown },
): JsonObject {
  const { configuration = {} } = body;
  const entered = new Map(Object.entries(configuration as JsonObject));
  for (const name of names.filter((one) => body[one] !== undefined)) {
    if (!definition.namedSettings.includes(name))
      throw refuseField("validation_failed", name, "is no setting of this connector");
    if (entered.has(name))
      throw refuseField("duplicate_field", name, "stands both here and in configuration");
    entered.set(name, body[name] as JsonValue);
  }
  return Object.fromEntries([...entered].map(([name, value]) => [name, withTextIds(name, value)]));
}

/** Whether a body names any setting. */
export const namesSettings = (body: object): boolean =>
  Object.entries(body).some(
    ([name, value]) => value !== undefined && (name === "configuration" || names.includes(name)),
  );

/**
 * A number under the name of an id becomes text, a list of ids names each once.
 * @throws validation_failed for a number that JSON parsers have rounded
 */
export function withTextIds(name: string, value: JsonValue): JsonValue {
  if (/_ids$/.test(name) && Array.isArray(value))
    return [...new Set(value.map((one) => toTextId(name, one)))];
  return /_id$/.test(name) ? toTextId(name, value) : value;
}

function toTextId(name: string, value: JsonValue): JsonValue {
  if (typeof value !== "number") return value;
  if (Number.isSafeInteger(value) && value >= 0) return String(value);
  throw refuseField("validation_failed", name, "is too large for a number: send it as text");
}
