import { Nullable, type Stream, Timestamp, Type } from "svc-connectors";

const key = Type.String();
const text = Nullable(Type.String());
/** Ids of people come as numbers, all others as text: here all are text. */
const id = Nullable(Type.String({ description: "An id, as text." }));
const time = Nullable(Timestamp());
const flag = Nullable(Type.Boolean());
const count = Nullable(Type.Integer());
const number = Nullable(Type.Number());
const ids = Nullable(Type.Array(Type.String()));
const anything = Type.Unknown();
type Field =
  | typeof key
  | typeof text
  | typeof flag
  | typeof count
  | typeof number
  | typeof ids
  | typeof anything;

/** The kind of place in which a stream's rows lie; one listing each. "tasks" = below every task. */
export type Source = "workspace" | "space" | "folder" | "lists-of" | "list" | "tasks";

/** A stream, and where the API has it. */
export interface TaskappStream {
  readonly name: string;
  readonly description: string;
  readonly source: Source;
  readonly primaryKey: readonly string[];
  readonly cursorField?: string;
  readonly fields: Readonly<Record<string, Field>>;
}

const named = { id: key, name: text };
const coloured = { tag_fg: text, tag_bg: text };
const comment = {
  id: key,
  comment: anything,
  comment_text: text,
  user_id: id,
  user: anything,
  resolved: flag,
  assignee: anything,
  assigned_by: anything,
  reactions: anything,
  date: time,
  reply_count: count,
};

export const streams: readonly TaskappStream[] = [
  {
    name: "workspaces",
    description: "Workspaces that the token may read.",
    source: "workspace",
    primaryKey: ["id"],
    fields: { ...named, color: text, avatar: text },
  },
  {
    name: "users",
    description: "Members of every workspace.",
    source: "workspace",
    primaryKey: ["workspace_id", "id"],
    fields: {
      id: key,
      workspace_id: key,
      username: text,
      email: text,
      color: text,
      initials: text,
      profilePicture: text,
      role: count,
      custom_role: anything,
      last_active: time,
      date_joined: time,
      date_invited: time,
      invited_by_id: id,
    },
  },
  {
    name: "spaces",
    description: "Spaces of every workspace.",
    source: "workspace",
    primaryKey: ["id"],
    fields: {
      ...named,
      workspace_id: id,
      color: text,
      private: flag,
      avatar: text,
      admin_can_manage: flag,
      statuses: anything,
      multiple_assignees: flag,
      features: anything,
      archived: flag,
    },
  },
  {
    name: "folders",
    description: "Folders of every space.",
    source: "space",
    primaryKey: ["id"],
    fields: {
      ...named,
      workspace_id: id,
      space_id: id,
      orderindex: count,
      override_statuses: flag,
      hidden: flag,
      task_count: count,
      archived: flag,
      statuses: anything,
      permission_level: text,
    },
  },
  {
    name: "lists",
    description: "Lists in folders, and lists without a folder (folder_id is null).",
    source: "lists-of",
    primaryKey: ["id"],
    fields: {
      ...named,
      workspace_id: id,
      space_id: id,
      folder_id: id,
      orderindex: count,
      content: text,
      status: anything,
      priority: anything,
      assignee: anything,
      task_count: count,
      due_date: time,
      start_date: time,
      archived: flag,
      override_statuses: flag,
      permission_level: text,
    },
  },
  {
    name: "tasks",
    description: "Tasks, with subtasks and closed ones as the settings say.",
    source: "tasks",
    primaryKey: ["id"],
    cursorField: "date_updated",
    fields: {
      ...named,
      custom_id: text,
      custom_item_id: count,
      text_content: text,
      description: text,
      status: anything,
      orderindex: text,
      date_created: time,
      date_updated: Timestamp(),
      date_closed: time,
      date_done: time,
      archived: flag,
      creator_id: id,
      creator: anything,
      assignee_ids: ids,
      assignees: anything,
      group_assignees: anything,
      watchers: anything,
      checklists: anything,
      tags: anything,
      parent: id,
      top_level_parent: id,
      priority: anything,
      due_date: time,
      start_date: time,
      points: number,
      time_estimate: count,
      time_spent: count,
      custom_fields: anything,
      dependencies: anything,
      linked_tasks: anything,
      locations: anything,
      url: text,
      permission_level: text,
      workspace_id: id,
      space_id: id,
      folder_id: id,
      list_id: id,
      list: anything,
      folder: anything,
      space: anything,
    },
  },
  {
    name: "task_custom_fields",
    description: "Values of custom fields: one row per task and field that has a value.",
    source: "tasks",
    primaryKey: ["task_id", "id"],
    cursorField: "task_date_updated",
    fields: {
      ...named,
      task_id: key,
      task_date_updated: Timestamp(),
      type: text,
      value: anything,
      list_id: id,
      workspace_id: id,
    },
  },
  {
    name: "custom_fields",
    description: "Custom fields that a list offers, with their types.",
    source: "list",
    primaryKey: ["list_id", "id"],
    fields: {
      ...named,
      list_id: key,
      type: text,
      type_config: anything,
      date_created: time,
      hide_from_guests: flag,
      required: flag,
    },
  },
  {
    name: "comments",
    description: "Comments on tasks. Costs a request per task.",
    source: "tasks",
    primaryKey: ["id"],
    fields: { ...comment, task_id: key },
  },
  {
    name: "list_comments",
    description: "Comments on lists.",
    source: "list",
    primaryKey: ["id"],
    fields: { ...comment, list_id: key },
  },
  {
    name: "time_in_status",
    description:
      "How long each task has been in each status. The workspace must have that feature switched on.",
    source: "tasks",
    primaryKey: ["task_id"],
    fields: {
      task_id: key,
      current_status: text,
      current_status_minutes: count,
      current_status_since: time,
      status_history: anything,
    },
  },
  {
    name: "time_entries",
    description:
      "Tracked time, of all members unless assignees are set. A negative duration means that the timer runs.",
    source: "workspace",
    primaryKey: ["id"],
    cursorField: "start",
    fields: {
      id: key,
      workspace_id: id,
      task_id: id,
      task: anything,
      user_id: id,
      user: anything,
      billable: flag,
      start: Timestamp(),
      end: time,
      duration: count,
      description: text,
      tags: anything,
      source: text,
      at: time,
      task_location: anything,
      task_tags: anything,
      task_url: text,
    },
  },
  {
    name: "goals",
    description: "Goals, completed ones and those in folders included.",
    source: "workspace",
    primaryKey: ["id"],
    fields: {
      ...named,
      workspace_id: id,
      pretty_id: text,
      creator: id,
      owner: anything,
      color: text,
      date_created: time,
      start_date: time,
      due_date: time,
      description: text,
      private: flag,
      archived: flag,
      multiple_owners: flag,
      date_updated: time,
      last_update: time,
      folder_id: id,
      pinned: flag,
      owners: anything,
      key_result_count: count,
      members: anything,
      group_members: anything,
      percent_completed: number,
    },
  },
  {
    name: "tags",
    description: "Tags of every space.",
    source: "space",
    primaryKey: ["space_id", "name"],
    fields: { space_id: key, name: key, ...coloured, creator: id },
  },
  {
    name: "templates",
    description: "Task templates of every workspace.",
    source: "workspace",
    primaryKey: ["id"],
    fields: { ...named, workspace_id: id },
  },
];

/** The stream as discover lists it. */
export function describe({
  name,
  description,
  primaryKey,
  cursorField,
  fields,
}: TaskappStream): Stream {
  const incremental = {
    cursorField: cursorField ?? "",
    syncModes: ["full_refresh", "incremental"],
  } as const;
  const schema = Type.Object(fields);
  return {
    name,
    description,
    schema,
    primaryKey,
    isResumable: true,
    ...(cursorField ? incremental : {}),
  };
}

/** Makes rows of the stream: only its fields, dates in RFC 3339, ids and counts in one form. */
export function createRowMapper({ fields }: TaskappStream) {
  const entries = Object.entries(fields);
  return (given: Readonly<Record<string, unknown>>) => {
    const row: Record<string, unknown> = {};
    for (const [name, schema] of entries) row[name] = toField(schema, given[name] ?? null);
    return row;
  };
}

function toField(schema: Field, value: unknown): unknown {
  if (schema === id || schema === key)
    return typeof value === "number" || typeof value === "bigint" ? String(value) : value;
  if ("format" in schema || schema === time) return toTime(value);
  if (schema === count) return typeof value === "string" ? toCount(value) : value;
  return schema === anything ? withTimes(value) : value;
}

/** A whole number of any size. */
function toCount(text: string): unknown {
  if (!/^-?\d{1,100}$/.test(text)) return text;
  return text.length <= 15 ? Number(text) : BigInt(text);
}

/**
 * The API writes dates as text of milliseconds, seldom as a number. Anything else stays as it is,
 * for the schema to judge.
 */
export function toTime(value: unknown): unknown {
  const ms = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof ms === "number" && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : value;
}

/** Dates of nested objects, which all go by these names. */
const timeNames = new Set([
  "date",
  "since",
  "date_created",
  "date_updated",
  "date_added",
  "date_invited",
  "date_joined",
  "last_active",
]);

function withTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withTimes);
  if (
    typeof value !== "object" ||
    value === null ||
    Object.getPrototypeOf(value) !== Object.prototype
  )
    return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, nested]) => [
      name,
      timeNames.has(name) ? toTime(nested) : withTimes(nested),
    ]),
  );
}
