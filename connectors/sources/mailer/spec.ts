import { type HttpContext, type PublicConfig, secret, Type, withDefault } from "svc-connectors";

/** A cloud team lives at `https://<team>.mailcoach.app/api`: one label, and no path before /api. */
const cloudUrl =
  "^[Hh][Tt][Tt][Pp][Ss]://[A-Za-z0-9-]+\\.[Mm][Aa][Ii][Ll][Cc][Oo][Aa][Cc][Hh]\\.[Aa][Pp][Pp](:443)?/api$";

export const spec = Type.Object(
  {
    connection_method: withDefault(
      Type.Enum(["self_hosted", "cloud"], {
        type: "string",
        title: "Connection method",
        description:
          "self_hosted: your own server, at a host that the operator approved. cloud: a team on mailcoach.app.",
      }),
      "self_hosted",
    ),
    base_url: Type.String({
      title: "Base URL",
      description: "Address of the API, ending in /api.",
      examples: ["https://mail.example.com/api", "https://my-team.mailcoach.app/api"],
      maxLength: 2048,
    }),
    api_token: secret(
      Type.String({
        title: "API token",
        description:
          "A token for all API endpoints (one that may only send cannot read). Created under your profile, API tokens.",
        minLength: 1,
      }),
    ),
    campaign_status: withDefault(
      Type.Enum(["sent", "scheduled", "draft", "all"], {
        type: "string",
        title: "Campaign status",
        description:
          "Which campaigns the campaigns stream holds. Opens, clicks and the like always belong to campaigns that were sent.",
      }),
      "sent",
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
          "Also read e-mail addresses, names and custom attributes of subscribers. Without it streams do not have these fields.",
      }),
      false,
    ),
    include_html: withDefault(
      Type.Boolean({
        title: "Include HTML",
        description:
          "Also read the bodies of campaigns, templates and transactional mails. Without it streams do not have these fields.",
      }),
      false,
    ),
    lookback_days: withDefault(
      Type.Integer({
        title: "Lookback in days",
        description:
          "How far behind its saved position an incremental read starts, because counts keep moving after the sending.",
        minimum: 0,
        maximum: 365,
      }),
      30,
    ),
  },
  {
    if: {
      type: "object",
      properties: { connection_method: { const: "cloud" } },
      required: ["connection_method"],
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { type: "object", properties: { base_url: { type: "string", pattern: cloudUrl } } },
  },
);

export type Config = PublicConfig<typeof spec>;
export type MailerContext = HttpContext<Config>;
