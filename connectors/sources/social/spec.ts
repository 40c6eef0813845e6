import {
  type Authorization,
  type HttpContext,
  type PublicConfig,
  secret,
  Type,
  withDefault,
} from "svc-connectors";

const Id = Type.String({ pattern: "^[A-Za-z0-9_-]{1,64}$" });
const days = (title: string, description: string, standard: number) =>
  withDefault(Type.Integer({ title, description, minimum: 0, maximum: 365 }), standard);

export const spec = Type.Object({
  // The provider's data centres; the value ends the host names of its API and of its accounts
  // server.
  region: withDefault(
    Type.Enum(["com", "eu", "in", "com.au", "jp", "uk", "sa", "com.cn"], {
      type: "string",
      title: "Region",
      description:
        "Where the account lives: the end of the address at which you log in (zoho.com, zoho.eu, …).",
    }),
    "com",
  ),
  client_id: Type.String({
    title: "Client ID",
    description: "Of the application that was authorised, from the API console of your region.",
    pattern: "\\S",
    minLength: 1,
    maxLength: 200,
  }),
  client_secret: secret(
    Type.String({
      title: "Client secret",
      description: "Belongs to the client ID.",
      minLength: 1,
      maxLength: 500,
    }),
  ),
  refresh_token: secret(
    Type.String({
      title: "Refresh token",
      description: "What the authorisation of the application gave, with access type offline.",
      minLength: 1,
      maxLength: 1000,
    }),
  ),
  // A saved source must have a portal and brands (card.json). The choices of them come from
  // `entities`, which needs none.
  portal_id: Type.Optional(
    Type.String({
      title: "Portal",
      description: "The portal to read. Needed for everything but the list of choices.",
      pattern: "^[A-Za-z0-9_-]{1,64}$",
    }),
  ),
  brand_ids: withDefault(
    Type.Array(Id, {
      title: "Brands",
      description: "The brands to read. None: all brands of the portal.",
      maxItems: 1000,
      uniqueItems: true,
    }),
    [],
  ),
  channel_ids: withDefault(
    Type.Array(Id, {
      title: "Channels",
      description: "The channels to read. None: all channels of the brands.",
      maxItems: 5000,
      uniqueItems: true,
    }),
    [],
  ),
  start_date: Type.Optional(
    Type.String({
      title: "Start date",
      description:
        "Posts and daily metrics from this day on. Without it: all posts, and daily metrics of 90 days.",
      format: "date",
      examples: ["2026-01-01"],
    }),
  ),
  posts_lookback_days: days(
    "Lookback of posts in days",
    "How far behind its saved position an incremental read of posts starts.",
    7,
  ),
  post_metrics_lookback_days: days(
    "Lookback of post metrics in days",
    "Metrics are read again for posts so many days old, because they keep moving after the publishing.",
    28,
  ),
  channel_metrics_lookback_days: days(
    "Lookback of channel metrics in days",
    "How many days before its saved position an incremental read of daily metrics reads again.",
    3,
  ),
  page_size: withDefault(
    Type.Integer({
      title: "Page size",
      description: "Rows per request.",
      minimum: 1,
      maximum: 100,
    }),
    100,
  ),
  include_personal_data: withDefault(
    Type.Boolean({
      title: "Include personal data",
      description:
        "Also read names and e-mail addresses of people. Without it streams do not have these fields.",
    }),
    false,
  ),
});

/**
 * How an account is connected in the browser. The provider names the scopes of this API nowhere:
 * these follow the form of its others (service.resource.operation). It lists scopes with commas.
 * @see https://www.zoho.com/accounts/protocol/oauth/multi-dc.html: the callback names the accounts
 * server of the user's region (from memory)
 */
export const authorization: Authorization<"region"> = {
  authorizeUrl: "https://accounts.zoho.{region}/oauth/v2/auth",
  scopes: ["portals", "brands", "channels", "users", "posts", "reports"].map(
    (name) => `ZohoSocial.${name}.READ`,
  ),
  scopeSeparator: ",",
  extra: { access_type: "offline", prompt: "consent" },
  revokeUrl: "https://accounts.zoho.{region}/oauth/v2/token/revoke",
  region: { parameter: "accounts-server", field: "region" },
};

export type Config = PublicConfig<typeof spec>;
export type SocialContext = HttpContext<Config>;
