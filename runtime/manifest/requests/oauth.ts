/**
 * OAuthAuthenticator: access tokens for a refresh token, a client's own credentials or a signature.
 */
import { ConnectorError } from "../../contract/errors.ts";
import { isJsonObject } from "../../contract/json.ts";
import { toPointer } from "../../wire/json-pointer.ts";
import { type Component, compileOptions } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import { refreshTokenPath } from "../document/settings.ts";
import { compileTemplate } from "../expressions/template.ts";
import { type PlainValue, toText } from "../expressions/values.ts";
import type { Authenticator } from "./authenticator.ts";
import { compileToken } from "./jwt.ts";
import { keepToken } from "./kept-token.ts";
import { urlTemplatesOf } from "./origins.ts";

const formType = "application/x-www-form-urlencoded";
const assertionGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** RFC 6749 section 6, and the other grants that need no person. */
export function compileOAuth(auth: Component): Authenticator {
  const endpoint = auth.required("token_refresh_endpoint", auth.get("token_refresh_endpoint"));
  if (typeof endpoint !== "string")
    throw invalid(auth.at("token_refresh_endpoint"), "must be a text");
  const place = auth.at("token_refresh_endpoint");
  const url = compileTemplate(endpoint, place);
  const rotating = rotatingOf(auth);
  const named = (name: string, usual: string) =>
    auth.template(name) ?? compileTemplate(usual, auth.at(name));
  const names = {
    grant: named("grant_type_name", "grant_type"),
    id: named("client_id_name", "client_id"),
    secret: named("client_secret_name", "client_secret"),
    refresh: rotating
      ? compileTemplate(rotating.name, place)
      : named("refresh_token_name", "refresh_token"),
  };
  const isInQuery = auth.get("send_refresh_request_as_query_params") === true;
  const isAsserted = auth.get("use_profile_assertion") === true;
  const tokenOf = isAsserted
    ? compileToken(
        auth.required("profile_assertion", auth.child("profile_assertion", "JwtAuthenticator")),
      )
    : undefined;
  if (rotating && isAsserted)
    throw new Unsupported(auth.at("refresh_token_updater"), "is not supported with an assertion");
  const credential = (name: string) =>
    auth.template(name) ?? (isAsserted ? undefined : auth.required(name, undefined));
  const values = {
    grant: named("grant_type", "refresh_token"),
    id: credential("client_id"),
    secret: credential("client_secret"),
    refresh: rotating
      ? compileTemplate(`{{ config['${rotating.path.join("']['")}'] }}`, place)
      : auth.template("refresh_token"),
  };
  const accessName = textOf(auth, "access_token_name", "access_token");
  const expiresName = textOf(auth, "expires_in_name", "expires_in");
  const scopes = auth.get("scopes") ?? [];
  const extra = compileOptions(auth.get("refresh_request_body"), auth.at("refresh_request_body"));
  const headers = compileOptions(
    auth.get("refresh_request_headers"),
    auth.at("refresh_request_headers"),
  );
  const kept = keepToken(async (scope, ctx, rejected) => {
    const given = Object.fromEntries(
      Object.entries(headers(scope)).map(([name, value]) => [name.toLowerCase(), toText(value)]),
    );
    const signed = tokenOf?.(scope, ctx);
    const standard: Record<string, PlainValue> = {
      [names.grant.text(scope)]: values.grant.text(scope),
      // Who signs in by a header says it there.
      ...("authorization" in given
        ? {}
        : {
            [names.id.text(scope)]: values.id?.text(scope),
            [names.secret.text(scope)]: values.secret?.text(scope),
          }),
      ...(values.refresh ? { [names.refresh.text(scope)]: values.refresh.text(scope) } : {}),
      ...(Array.isArray(scopes) && scopes.length > 0 ? { scopes: scopes as PlainValue } : {}),
    };
    for (const [name, value] of Object.entries(extra(scope))) standard[name] ??= value;
    // RFC 7523 section 2.1.
    const body = signed
      ? { [names.grant.text(scope)]: assertionGrant, assertion: signed.text }
      : standard;
    const answer = await ctx.http.post(url.text(scope), {
      headers: { ...(isInQuery ? {} : { "content-type": formType }), ...given },
      ...(isInQuery ? { query: textsIn(body) } : { text: formOf(body) }),
      ...{ jwt: signed?.unsigned, renewal: rotating && { rejected } },
    });
    const made = answer.json<Record<string, PlainValue>>();
    const token = Object.hasOwn(Object(made), accessName) ? made[accessName] : undefined;
    if (typeof token !== "string" || token === "") throw new ConnectorError("CREDENTIALS_REJECTED");
    const lasts = Number(toText(made[expiresName]));
    return { token, lastsMs: lasts > 0 ? lasts * 1000 : 3_600_000 };
  });
  return {
    minted: urlTemplatesOf(endpoint, place, auth.parameters).map((url) => ({
      url,
      pointers: [accessName, rotating?.name ?? "refresh_token"].map((name) => toPointer(name)),
      ...(rotating
        ? {
            rotates: {
              ...{ field: rotating.path.join("."), refreshToken: rotating.name },
              ...{ accessToken: accessName, expiresIn: expiresName },
            },
          }
        : {}),
    })),
    forget: kept.forget,
    async sign({ header }, scope, ctx) {
      header.Authorization = `Bearer ${await kept.current(scope, ctx)}`;
    },
  };
}

/** The properties of a `refresh_token_updater`; where tokens are kept is the host's to say. */
const updaterNames = [
  ...["refresh_token_name", "refresh_token_config_path", "access_token_config_path"],
  ...["token_expiry_date_config_path", "refresh_token_error_status_codes"],
  ...["refresh_token_error_key", "refresh_token_error_values", "$parameters"],
];

/** A refresh token that changes with each use: its name in the requests, and its setting. */
function rotatingOf(auth: Component) {
  const updater = auth.get("refresh_token_updater");
  const place = auth.at("refresh_token_updater");
  if (updater === undefined || updater === null) return undefined;
  if (!isJsonObject(updater)) throw invalid(place, "must be an object");
  const unknown = Object.keys(updater).find((name) => !updaterNames.includes(name));
  if (unknown !== undefined) throw new Unsupported(`${place}.${unknown}`, "is not supported");
  const path = refreshTokenPath(updater);
  if (path.length === 0 || path.some((name) => !/^\w+$/.test(name)))
    throw invalid(`${place}.refresh_token_config_path`, "must be a list of names of settings");
  const name = updater.refresh_token_name ?? "refresh_token";
  if (typeof name !== "string" || name === "")
    throw invalid(`${place}.refresh_token_name`, "must be a name");
  return { path, name };
}

function textOf(component: Component, name: string, usual: string): string {
  const value = component.get(name) ?? usual;
  if (typeof value !== "string" || value.includes("{"))
    throw new Unsupported(component.at(name), "must be a plain text");
  return value;
}

const textsIn = (body: Record<string, PlainValue>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      (Array.isArray(value) ? value : [value]).map(toText),
    ]),
  );

const formOf = (body: Record<string, PlainValue>): string =>
  new URLSearchParams(
    Object.entries(textsIn(body)).flatMap(([name, texts]) => texts.map((text) => [name, text])),
  ).toString();
