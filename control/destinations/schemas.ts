import { type Static, Type } from "typebox";
import {
  Handle,
  Id,
  Name,
  Nullable,
  OneOf,
  StrictObject,
  Time,
  Version,
} from "../contract/schemas.ts";
import { Check, type SavedCheck, toCheck } from "../sources/schemas.ts";
import type { DestinationRow } from "./rows.ts";

export const Destination = StrictObject(
  {
    destination_id: Id("destination"),
    workspace_id: Id("workspace"),
    name: Name,
    connector_id: Type.String(),
    credential_handle: Nullable(Handle),
    status: OneOf(["active", "error", "disabled"]),
    configuration: Type.Object(
      {},
      { additionalProperties: true, description: "Settings without secrets." },
    ),
    last_check: Check,
    created_at: Time,
    updated_at: Time,
    version: Version,
  },
  { title: "Destination" },
);

export function toDestination(row: DestinationRow): Static<typeof Destination> {
  return {
    destination_id: row.id,
    workspace_id: row.workspace_id,
    name: row.name,
    connector_id: row.connector_id,
    credential_handle: row.handle,
    status: row.status,
    configuration: row.configuration,
    last_check: toCheck(row.last_check as SavedCheck),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    version: row.version,
  };
}
