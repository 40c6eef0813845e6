import { NativeSelect } from "@mantine/core";
import type { schemas } from "../api/schema.ts";

type Role = schemas["Role"];

export const roleWords: Readonly<Record<Role, string>> = {
  viewer: "Viewer: looks",
  runner: "Runner: looks, starts and stops",
  editor: "Editor: sets up too",
  admin: "Administrator: all, people and approvals too",
};

export const RoleField = ({
  value,
  description,
  onChange,
}: {
  readonly value: Role;
  readonly description?: string | undefined;
  readonly onChange: (role: Role) => void;
}) => (
  <NativeSelect
    label="Role"
    description={description}
    value={value}
    data={Object.entries(roleWords).map(([role, label]) => ({ value: role, label }))}
    onChange={(event) => onChange(event.currentTarget.value as Role)}
  />
);
