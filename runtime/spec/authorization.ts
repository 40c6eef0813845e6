/** The part of a manifest that declares how a user connects an account. */
import { Type } from "typebox";
import type { Egress, OAuth2 } from "../contract/egress.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Fault } from "./validation.ts";

const UrlTemplate = Type.String({ pattern: "^https://" });
const ParameterName = Type.String({ pattern: "^[A-Za-z0-9._-]{1,100}$" });
const exactly = { additionalProperties: false };

/** Schema of {@link OAuth2.authorization}. */
export const Authorization = Type.Object(
  {
    authorizeUrl: UrlTemplate,
    scopes: Type.Array(Type.String({ pattern: "^[!#-+\\--[\\]-~]{1,200}$" }), { maxItems: 100, uniqueItems: true }),
    scopeSeparator: Type.Optional(Type.Union([Type.Literal(" "), Type.Literal(",")])),
    issuer: Type.Optional(Type.String({ pattern: "^https://[^\\s?#]+$", maxLength: 500 })),
    pkce: Type.Optional(Type.Boolean()),
    extra: Type.Optional(Type.Record(ParameterName, Type.String({ maxLength: 500 }))),
    revokeUrl: Type.Optional(UrlTemplate),
    region: Type.Optional(
      Type.Object({ parameter: ParameterName, field: Type.String({ minLength: 1, maxLength: 200 }) }, exactly),
    ),
  },
  exactly,
);

/** Every URL template of an OAuth declaration. */
export function oauthTemplates({ tokenUrl, authorization }: OAuth2): readonly string[] {
  return [tokenUrl, authorization?.authorizeUrl, authorization?.revokeUrl].filter((url) => url !== undefined);
}

/** What the host writes into an authorization request itself. */
const ownParameters = [
  "response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "request", "request_uri",
]; // biome-ignore format: a list of words

/** Fixed parameters may not replace the host's; a region is found among the hosts of the token URL, so its setting is a choice that stands in them. */
export function authorizationFaults(egress: Egress, schemaOf: (field: string) => JsonObject | undefined): Fault[] {
  const declared = egress.kind === "http" ? egress.auth.filter((auth) => auth.type === "oauth2") : [];
  return declared.flatMap(({ tokenUrl, authorization: { extra = {}, region } = { extra: {} } }) => {
    const faults: Fault[] = Object.keys(extra)
      .filter((name) => ownParameters.includes(name))
      .map((name) => ({ path: `egress.auth.authorization.extra.${name}`, problem: "is set by the host" }));
    if (!region) return faults;
    const host = /^https:\/\/[^/]*/.exec(tokenUrl)?.[0] ?? "";
    const isChoice = Array.isArray(schemaOf(region.field)?.enum) && host.includes(`{${region.field}}`);
    const path = "egress.auth.authorization.region.field";
    return isChoice ? faults : [...faults, { path, problem: "must be an enum that stands in the host of tokenUrl" }];
  });
}
