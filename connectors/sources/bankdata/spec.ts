import { type HttpContext, type PublicConfig, secret, Type, withDefault } from "svc-connectors";

export const spec = Type.Object({
  api_key: secret(
    Type.String({
      title: "API key",
      description: "The secret of your Plaid team for the chosen environment: Developers, Keys.",
      minLength: 1,
    }),
  ),
  client_id: Type.String({
    title: "Client ID",
    description: "Your Plaid team's client ID: Developers, Keys.",
    pattern: "\\S",
    minLength: 1,
  }),
  environment: Type.Enum(["sandbox", "development", "production"], {
    type: "string",
    title: "Environment",
    description:
      "The environment that the API key and the access token belong to. Plaid has shut development down: it cannot be reached.",
  }),
  access_token: secret(
    Type.String({
      title: "Access token",
      description:
        "Stands for one connection to one bank (an Item): access-<environment>-…. It is made outside of svc, see the documentation.",
      minLength: 1,
    }),
  ),
  days_requested: withDefault(
    Type.Integer({
      title: "Days of history",
      description:
        "How far back transactions are asked for. For bank transactions it counts only the first time that they are read of this Item.",
      minimum: 1,
      maximum: 730,
    }),
    730,
  ),
  country_codes: withDefault(
    Type.Array(Type.String({ pattern: "^[A-Z]{2}$" }), {
      title: "Country codes",
      description:
        "Countries among which the institution is looked up; those that Plaid has enabled for your team.",
      minItems: 1,
    }),
    ["US"],
  ),
  include_identity: withDefault(
    Type.Boolean({
      title: "Include identity",
      description:
        "Also read owners with their names, addresses, e-mail addresses and phone numbers, and who paid whom. Without it these are left out.",
    }),
    false,
  ),
  include_account_numbers: withDefault(
    Type.Boolean({
      title: "Include account numbers",
      description:
        "Also read the full numbers of accounts and loans. Without it these are left out.",
    }),
    false,
  ),
});

export type Config = PublicConfig<typeof spec>;
export type BankdataContext = HttpContext<Config>;
