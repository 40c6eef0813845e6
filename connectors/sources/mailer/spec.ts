import { type HttpContext, type PublicConfig, secret, Type } from "svc-connectors";

/** A cloud team lives at `https://<team>.mailcoach.app/api`: one label, and no path before /api. */
const cloudUrl =
  "^[Hh][Tt][Tt][Pp][Ss]://[A-Za-z0-9-]+\\.[Mm][Aa][Ii][Ll][Cc][Oo][Aa][Cc][Hh]\\.[Aa][Pp][Pp](:443)?/api$";

export const spec = Type.Object(
  {
    connection_method: Type.Optional(
      Type.Enum(["self_hosted", "cloud"], {
        type: "string",
        title: "Connection method",
        description:
          "self_hosted: your own server, at a host that the operator approved. cloud: a team on mailcoach.app.",
        default: "self_hosted",
      }),
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
    campaign_status: Type.Optional(
      Type.Enum(["sent", "scheduled", "draft", "all"], {
        type: "string",
        title: "Campaign status",
        description:
          "Which campaigns the campaigns stream holds. Opens, clicks and the like always belong to campaigns that were sent.",
        default: "sent",
      }),
    ),
    page_size: Type.Optional(
      Type.Integer({
        title: "Page size",
        description: "Rows per request.",
        default: 100,
        minimum: 1,
        maximum: 100,
      }),
    ),
    include_personal_data: Type.Optional(
      Type.Boolean({
        title: "Include personal data",
        description:
          "Also read e-mail addresses, names and custom attributes of subscribers. Without it streams do not have these fields.",
        default: false,
      }),
    ),
    include_html: Type.Optional(
      Type.Boolean({
        title: "Include HTML",
        description:
          "Also read the bodies of campaigns, templates and transactional mails. Without it streams do not have these fields.",
        default: false,
      }),
    ),
    lookback_days: Type.Optional(
      Type.Integer({
        title: "Lookback in days",
        description:
          "How far behind its saved position an incremental read starts, because counts keep moving after the sending.",
        default: 30,
        minimum: 0,
        maximum: 365,
      }),
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

/** The configuration as it arrives: the host has filled in every default. */
export type Config = Required<PublicConfig<typeof spec>>;
export type MailerContext = HttpContext<Config>;
