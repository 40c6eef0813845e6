import { type PublicConfig, secret, Type, withDefault } from "svc-connectors";
import type { ActivationHttpContext } from "svc-connectors/destination";

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
          "A token for all API endpoints: one that may only send cannot change subscribers.",
        minLength: 1,
      }),
    ),
    skip_confirmation: withDefault(
      Type.Boolean({
        title: "Skip confirmation",
        description:
          "Subscribe new people at once, also on lists that ask them to confirm by mail. They must have agreed elsewhere.",
      }),
      false,
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
export type MailerContext = ActivationHttpContext<Config>;
