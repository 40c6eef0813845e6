import {
  type HttpContext,
  type PublicConfig,
  secret,
  type TokenAuthorization,
  Type,
  withDefault,
} from "svc-connectors";

/** Filters travel in the query, which servers limit to some 8 KB. */
const maxIds = 100;

const ids = (title: string, description: string) =>
  withDefault(
    Type.Array(Type.String({ pattern: "^[0-9]{1,20}$" }), {
      title,
      description: `${description} Empty: all.`,
      maxItems: maxIds,
      uniqueItems: true,
    }),
    [],
  );

const date = (title: string, description: string) =>
  Type.Optional(
    Type.String({
      title,
      description,
      pattern:
        "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3})?Z)?$",
      examples: ["2026-01-01", "2026-01-01T12:00:00Z"],
    }),
  );

const flag = (title: string, description: string, isOn: boolean) =>
  withDefault(Type.Boolean({ title, description }), isOn);

export const spec = Type.Object({
  access_token: secret(
    Type.String({
      title: "Access token",
      description:
        "A personal API token (pk_…, under Settings, Apps) or an OAuth access token, which is preferred. Both as they are, without the word Bearer.",
      minLength: 1,
    }),
  ),
  workspace_ids: ids("Workspaces", "Ids of the workspaces to read."),
  space_ids: ids("Spaces", "Ids of the spaces to read: they, and what lies in them."),
  folder_ids: ids(
    "Folders",
    "Ids of the folders to read: they, and what lies in them. Lists without a folder are then left out.",
  ),
  list_ids: ids("Lists", "Ids of the lists to read: they, and what lies in them."),
  assignee_ids: ids("Assignees", "Ids of the people whose tasks and time entries are read."),
  include_closed: flag("Include closed tasks", "Also read tasks that are closed.", true),
  include_subtasks: flag("Include subtasks", "Also read tasks that are part of another.", true),
  include_archived: flag("Include archived", "Also read archived folders, lists and tasks.", false),
  fetch_strategy: withDefault(
    Type.Enum(["workspace", "list"], {
      type: "string",
      title: "Fetch strategy",
      description:
        "workspace: tasks of a whole workspace at once, with the fewest requests. list: list by list, for tokens that may not search the workspace.",
    }),
    "workspace",
  ),
  start_date: date(
    "Start date",
    "Read tasks that were updated, and time entries that started, at this moment or later. Without it: all tasks, and the last 30 days of time entries.",
  ),
  end_date: date(
    "End date",
    "Read tasks that were updated, and time entries that started, before this moment.",
  ),
  lookback_days: withDefault(
    Type.Integer({
      title: "Lookback in days",
      description:
        "How far behind its saved position an incremental read of time entries starts, because entries are changed and added later.",
      minimum: 0,
      maximum: 365,
    }),
    30,
  ),
});

/**
 * How an account is connected in the browser: the user chooses workspaces, there are no scopes and
 * no proof key. The token does not end; were it to end with a refresh token, it would be renewed.
 * @see https://developer.clickup.com/docs/authentication (read 2026-07)
 */
export const authorization: TokenAuthorization<never> = {
  authorizeUrl: "https://app.clickup.com/api",
  tokenUrl: "https://api.clickup.com/api/v2/oauth/token",
  scopes: [],
  pkce: false,
};

export type Config = PublicConfig<typeof spec>;
export type TaskappContext = HttpContext<Config>;
