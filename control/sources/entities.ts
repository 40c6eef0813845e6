import type { JsonObject, JsonValue } from "svc-connectors/host";
import { isJsonObject } from "svc-connectors/host";
import { type Static, Type } from "typebox";
import { Handle, Nullable, OneOf, StrictObject } from "../contract/schemas.ts";
import type { RunTarget } from "./runs.ts";

const Text = Type.String();
const TextOrNull = Nullable(Type.String());

/** A choice of a form. */
const Option = StrictObject({ value: Text, label: Text }, { title: "Option" });

export const Entities = StrictObject(
  {
    connector_id: Text,
    credential_handle: Handle,
    portals: Type.Array(StrictObject({ portal_id: Text, name: TextOrNull })),
    brands: Type.Array(
      StrictObject({ brand_id: Text, portal_id: Text, name: TextOrNull, timezone: TextOrNull }),
    ),
    channels: Type.Array(
      StrictObject({
        channel_id: Text,
        brand_id: Text,
        portal_id: Text,
        network: TextOrNull,
        name: TextOrNull,
        status: OneOf(["active", "reconnect"]),
      }),
    ),
    options: StrictObject({
      portal_id: Type.Array(Option),
      brand_ids: Type.Array(Option),
      channel_ids: Type.Array(Option),
    }),
    next_cursor: Nullable(Text),
  },
  { title: "SourceEntities" },
);

type Data = Static<typeof Entities>;

/** The connector's lists in the shape of the API. It gives them whole: there is no next page. */
export function toEntities({ definition, credential }: RunTarget, found: JsonObject): Data {
  const portals = rowsOf(found.portals).map((row) => ({
    portal_id: text(row.portal_id),
    name: textOrNull(row.name),
  }));
  const brands = rowsOf(found.brands).map((row) => ({
    brand_id: text(row.brand_id),
    portal_id: text(row.portal_id),
    name: textOrNull(row.name),
    timezone: textOrNull(row.timezone),
  }));
  const channels = rowsOf(found.channels).map((row) => ({
    channel_id: text(row.channel_id),
    brand_id: text(row.brand_id),
    portal_id: text(row.portal_id),
    network: textOrNull(row.network),
    name: textOrNull(row.name),
    status: row.status === "reconnect" ? ("reconnect" as const) : ("active" as const),
  }));
  return {
    connector_id: definition.id,
    credential_handle: credential.handle,
    portals,
    brands,
    channels,
    options: {
      portal_id: portals.map(({ portal_id, name }) => ({
        value: portal_id,
        label: name ?? portal_id,
      })),
      brand_ids: brands.map(({ brand_id, name }) => ({ value: brand_id, label: name ?? brand_id })),
      channel_ids: channels.map(({ channel_id, name, network }) => ({
        value: channel_id,
        label: network === null ? (name ?? channel_id) : `${name ?? channel_id} (${network})`,
      })),
    },
    next_cursor: null,
  };
}

const rowsOf = (list: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(list) ? list.filter(isJsonObject) : [];
const text = (value: JsonValue | undefined) =>
  typeof value === "string" ? value : String(value ?? "");
const textOrNull = (value: JsonValue | undefined) => (typeof value === "string" ? value : null);
