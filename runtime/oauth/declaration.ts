/** What a connector declares of OAuth, with the user's settings filled in. */
import type { Manifest } from "../contract/catalog.ts";
import type { Authorization, OAuth2 } from "../contract/egress.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { configText, configValue } from "../egress/config-field.ts";
import { fillTemplate } from "../egress/request-url.ts";
import type { TokenClient } from "../egress/token-endpoint.ts";
import { ConnectorError } from "../errors.ts";
import { egressFields, schemaOf } from "../spec/manifest.ts";
import { compileSchema, copyJson } from "../spec/validation.ts";

/** An OAuth declaration by which a user can connect an account. */
export type AuthorizableOAuth = OAuth2 & { readonly authorization: Authorization };

/** The OAuth declaration of a connector; undefined when it has none. */
export function findOAuth({ egress }: Manifest): OAuth2 | undefined {
  return egress.kind === "http" ? egress.auth.find((auth) => auth.type === "oauth2") : undefined;
}

/** Whether a user connects an account of this connector in the browser. */
export const isAuthorizable = (manifest: Manifest): boolean => findOAuth(manifest)?.authorization !== undefined;

/** @throws CONNECTOR_INVALID when the connector declares no authorization */
export function requireAuthorization(manifest: Manifest): AuthorizableOAuth {
  const oauth = findOAuth(manifest);
  const authorization = oauth?.authorization;
  if (oauth && authorization) return { ...oauth, authorization };
  throw new ConnectorError("CONNECTOR_INVALID", { path: "egress.auth", problem: "declares no OAuth authorization" });
}

/**
 * The settings that the declaration names, under their dotted names, with defaults; those that the authorisation brings may be missing.
 * @throws CONFIG_INVALID a setting that is there does not fit the spec
 */
export function oauthConfig(manifest: Manifest, config: JsonObject): JsonObject {
  const whole = copyJson(config) as JsonObject;
  const fault = compileSchema({ additionalProperties: false, ...manifest.spec, required: [] })(whole).at(0);
  if (fault) {
    throw new ConnectorError("CONFIG_INVALID", { path: fault.path || "the document", problem: fault.problem });
  }
  const kept: JsonObject = {};
  for (const { field } of egressFields(manifest.egress)) {
    const value = configValue(whole, field);
    if (value !== undefined) kept[field] = value;
  }
  delete kept[requireAuthorization(manifest).refreshToken];
  return kept;
}

/** @throws CONFIG_INVALID the client id, its secret or a part of the URL is missing */
export function toTokenClient(oauth: OAuth2, config: JsonObject, spec: JsonObject): TokenClient {
  return {
    tokenUrl: fillTemplate(oauth.tokenUrl, config, spec),
    clientId: configText(config, oauth.clientId),
    clientSecret: configText(config, oauth.clientSecret),
    clientAuth: oauth.clientAuth ?? "body",
  };
}

/**
 * The setting that fits the token host which a callback names: a host or origin, compared as text with those of the choices.
 * Undefined when none does.
 */
export function regionOf(
  { tokenUrl, authorization: { region } }: AuthorizableOAuth,
  named: string,
  config: JsonObject,
  spec: JsonObject,
): JsonObject | undefined {
  const choices: JsonValue | undefined = region && schemaOf(spec, region.field)?.enum;
  if (!region || !Array.isArray(choices)) return undefined;
  const { field } = region;
  const choice = choices.find((one) => {
    const { origin, host } = fillTemplate(tokenUrl, { ...config, [field]: one }, spec);
    return named === origin || named === host;
  });
  return choice === undefined ? undefined : { [field]: choice };
}
