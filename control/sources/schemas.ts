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
import type { SourceRow } from "./rows.ts";

const Configuration = Type.Object(
  {},
  { additionalProperties: true, description: "Settings without secrets." },
);

export const Check = StrictObject(
  {
    status: OneOf(["succeeded", "failed"]),
    error: Nullable(Type.String({ description: "Code of what is wrong." })),
    message: Nullable(Type.String()),
    checked_at: Time,
  },
  { title: "Check" },
);

/** The saved result of a check; one that succeeded has no error. */
export type SavedCheck = Pick<Static<typeof Check>, "status" | "checked_at"> &
  Partial<Static<typeof Check>>;

export const toCheck = ({ status, error, message, checked_at }: SavedCheck) => ({
  status,
  error: error ?? null,
  message: message ?? null,
  checked_at,
});

export const Source = StrictObject(
  {
    source_id: Id("source"),
    workspace_id: Id("workspace"),
    name: Name,
    connector_id: Type.String(),
    credential_handle: Handle,
    status: OneOf(["active", "error", "disabled"]),
    configuration: Configuration,
    last_check: Check,
    created_at: Time,
    updated_at: Time,
    version: Version,
  },
  { title: "Source" },
);

export function toSource(row: SourceRow): Static<typeof Source> {
  return {
    source_id: row.id,
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
