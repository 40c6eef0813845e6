/**
 * A connector's declaration of accounts, in one form for every kind, with the user's settings
 * filled in.
 */
import type { Manifest } from "../contract/catalog.ts";
import { type Authorization, settingOf } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { configText, configValue } from "../egress/config-field.ts";
import { fillTemplate } from "../egress/request-url.ts";
import type { TokenClient } from "../egress/token-endpoint.ts";
import { egressFields, rotatingFields, schemaOf } from "../spec/egress-fields.ts";
import { compileSchema, copyJson } from "../spec/validation.ts";

/** A client that is registered with the provider. */
export interface OAuthClient {
  readonly id: string;
  readonly secret: string;
}

/** How a connector gets the tokens of an account. */
export interface Account {
  /** URL template of the token endpoint. */
  readonly tokenUrl: string;
  readonly clientAuth: "basic" | "body";
  /** Settings that hold the client; undefined: it is the operator's and no setting. */
  readonly client?: { readonly id: string; readonly secret: string } | undefined;
  /** The secret setting that a token of the account takes the place of, and which token that is. */
  readonly token: { readonly kind: "refresh" | "access"; readonly field: string };
  /** How a user connects it in the browser; undefined: the setting is entered. */
  readonly authorization?: Authorization | undefined;
}

export type AuthorizableAccount = Account & { readonly authorization: Authorization };

/**
 * The setting of a refresh token that somebody enters, and that its provider replaces with each
 * use: the host keeps the next ones.
 */
export const findRotatingField = ({ egress }: Pick<Manifest, "egress">): string | undefined =>
  egress.kind === "http" ? rotatingFields(egress)[0] : undefined;

/** Undefined when the connector has no accounts: what it is given does not come from OAuth. */
export function findAccount({ egress }: Pick<Manifest, "egress">): Account | undefined {
  if (egress.kind !== "http") return undefined;
  for (const auth of egress.auth) {
    const { authorization } = auth as { readonly authorization?: Authorization };
    if (auth.type === "oauth2") {
      const { tokenUrl, clientAuth = "body", clientId, clientSecret, refreshToken } = auth;
      return {
        tokenUrl,
        clientAuth,
        client: { id: clientId, secret: clientSecret },
        token: { kind: "refresh", field: refreshToken },
        authorization,
      };
    }
    if (auth.type === "headers" && auth.authorization) {
      const { tokenUrl, clientAuth = "body" } = auth.authorization;
      const field = settingOf(Object.values(auth.headers).at(0)?.field ?? "");
      return {
        tokenUrl,
        clientAuth,
        token: { kind: "access", field },
        authorization: auth.authorization,
      };
    }
  }
  return undefined;
}

/** Whether a user connects an account of this connector in the browser. */
export const isAuthorizable = (manifest: Manifest): boolean =>
  findAccount(manifest)?.authorization !== undefined;

/** @throws CONNECTOR_INVALID when the connector declares no authorization */
export function requireAuthorization(manifest: Manifest): AuthorizableAccount {
  const account = findAccount(manifest);
  const authorization = account?.authorization;
  if (account && authorization) return { ...account, authorization };
  throw new ConnectorError("CONNECTOR_INVALID", {
    path: "egress.auth",
    problem: "declares no OAuth authorization",
  });
}

/**
 * The settings that the egress names, under their dotted names, with defaults; what the
 * authorisation brings may be missing, and is left out.
 * @throws CONFIG_INVALID a setting that is there does not fit the spec
 */
export function accountConfig(
  manifest: Manifest,
  config: JsonObject,
  client?: OAuthClient,
): JsonObject {
  const whole = copyJson(config) as JsonObject;
  const fault = compileSchema({ additionalProperties: false, ...manifest.spec, required: [] })(
    whole,
  ).at(0);
  if (fault) {
    throw new ConnectorError("CONFIG_INVALID", {
      path: fault.path || "the document",
      problem: fault.problem,
    });
  }
  const kept: JsonObject = {};
  for (const { field } of egressFields(manifest.egress)) {
    const value = configValue(whole, field);
    if (value !== undefined) kept[field] = value;
  }
  const account = requireAuthorization(manifest);
  delete kept[account.token.field];
  // The client that is given counts: no other may be found beside it.
  if (client && account.client)
    for (const field of Object.values(account.client)) delete kept[field];
  return kept;
}

/**
 * @param client the operator's; without it the settings that the account names hold it
 * @throws CONFIG_INVALID the client id, its secret or a part of the URL is missing
 */
export function toTokenClient(
  { tokenUrl, clientAuth, client: fields }: Account,
  config: JsonObject,
  spec: JsonObject,
  client?: OAuthClient,
): TokenClient {
  const { id, secret } = client ?? clientIn(config, fields);
  return {
    tokenUrl: fillTemplate(tokenUrl, config, spec),
    clientId: id,
    clientSecret: secret,
    clientAuth,
  };
}

function clientIn(config: JsonObject, fields: Account["client"]): OAuthClient {
  if (fields)
    return { id: configText(config, fields.id), secret: configText(config, fields.secret) };
  throw new ConnectorError("CONFIG_INVALID", {
    path: "client",
    problem: "is missing: register one with the provider",
  });
}

/**
 * The setting that fits the token host which a callback names: a host or origin, compared as text
 * with those of the choices. Undefined when none does.
 */
export function regionOf(
  { tokenUrl, authorization: { region } }: AuthorizableAccount,
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
