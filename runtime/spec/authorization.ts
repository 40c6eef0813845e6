/** The part of a manifest that declares how a user connects an account. */
import { Type } from "typebox";
import { type Auth, type Egress, settingOf } from "../contract/egress.ts";
import type { JsonObject } from "../contract/json.ts";
import { isSecret } from "../contract/spec.ts";
import type { Fault } from "./validation.ts";

const UrlTemplate = Type.String({ pattern: "^https://" });
const ParameterName = Type.String({ pattern: "^[A-Za-z0-9._-]{1,100}$" });
const exactly = { additionalProperties: false };

const properties = {
  authorizeUrl: UrlTemplate,
  scopes: Type.Array(Type.String({ pattern: "^[!#-+\\--[\\]-~]{1,200}$" }), {
    maxItems: 100,
    uniqueItems: true,
  }),
  scopeSeparator: Type.Optional(Type.Union([Type.Literal(" "), Type.Literal(",")])),
  issuer: Type.Optional(Type.String({ pattern: "^https://[^\\s?#]+$", maxLength: 500 })),
  pkce: Type.Optional(Type.Boolean()),
  extra: Type.Optional(Type.Record(ParameterName, Type.String({ maxLength: 500 }))),
  revokeUrl: Type.Optional(UrlTemplate),
  region: Type.Optional(
    Type.Object(
      { parameter: ParameterName, field: Type.String({ minLength: 1, maxLength: 200 }) },
      exactly,
    ),
  ),
};

/** How a client proves itself at the token endpoint. */
export const ClientAuth = Type.Union([Type.Literal("basic"), Type.Literal("body")]);

/** Schema of the authorization of `oauth2`. */
export const Authorization = Type.Object(properties, exactly);

/** Schema of the authorization of a header. */
export const TokenAuthorization = Type.Object(
  { ...properties, tokenUrl: UrlTemplate, clientAuth: Type.Optional(ClientAuth) },
  exactly,
);

/** The token endpoint and the authorization that a declaration has. */
const declaredOf = (auth: Auth) => {
  if (auth.type === "oauth2") return { tokenUrl: auth.tokenUrl, authorization: auth.authorization };
  if (auth.type !== "headers" || !auth.authorization) return undefined;
  return { tokenUrl: auth.authorization.tokenUrl, authorization: auth.authorization };
};

/** Every URL template of a declaration that has to do with OAuth. */
export function oauthTemplates(auth: Auth): readonly string[] {
  const { tokenUrl, authorization } = declaredOf(auth) ?? {};
  return [tokenUrl, authorization?.authorizeUrl, authorization?.revokeUrl].filter(
    (url) => url !== undefined,
  );
}

/** Parameters of an authorization request that the host writes itself. */
const ownParameters = [
  "response_type",
  "response_mode",
  "client_id",
  "redirect_uri",
  "scope",
  "state",
  "code_challenge",
  "code_challenge_method",
  "request",
  "request_uri",
];

/**
 * Fixed parameters may not replace the host's; a region is found among the hosts of the token URL,
 * so its setting is a choice that stands in them; a token that an account gives goes into one
 * secret setting.
 */
export function authorizationFaults(
  egress: Egress,
  schemaOf: (field: string) => JsonObject | undefined,
): Fault[] {
  if (egress.kind !== "http") return [];
  const declared = egress.auth.flatMap((auth) => declaredOf(auth) ?? []);
  const faults = egress.auth.flatMap((auth) => placeFaults(auth, schemaOf));
  if (declared.length > 1)
    faults.push({ path: "egress.auth", problem: "has more than one way to connect an account" });
  for (const { tokenUrl, authorization: { extra = {}, region } = {} } of declared) {
    for (const name of Object.keys(extra).filter((one) => ownParameters.includes(one)))
      faults.push({
        path: `egress.auth.authorization.extra.${name}`,
        problem: "is set by the host",
      });
    const host = /^https:\/\/[^/]*/.exec(tokenUrl)?.[0] ?? "";
    if (
      !region ||
      (Array.isArray(schemaOf(region.field)?.enum) && host.includes(`{${region.field}}`))
    )
      continue;
    const path = "egress.auth.authorization.region.field";
    faults.push({ path, problem: "must be an enum that stands in the host of tokenUrl" });
  }
  return faults;
}

/** A token that takes the place of a setting needs exactly one, and that is a secret. */
function placeFaults(auth: Auth, schemaOf: (field: string) => JsonObject | undefined): Fault[] {
  if (auth.type !== "headers" || !auth.authorization) return [];
  const [place, another] = Object.values(auth.headers);
  const schema = place && !another ? schemaOf(settingOf(place.field)) : undefined;
  if (schema && isSecret(schema)) return [];
  return [
    {
      path: "egress.auth.authorization",
      problem: "needs exactly one header, and its setting must be a secret",
    },
  ];
}
