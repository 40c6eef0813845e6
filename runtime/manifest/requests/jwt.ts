/**
 * JwtAuthenticator: what a JSON Web Token says is put together here, and the host signs it, since
 * the key is a placeholder here. A text of its own stands where the token goes.
 * @see RFC 7519
 */
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { isJwtAlgorithm, type UnsignedToken } from "../../contract/jwt.ts";
import { type Component, compileOptions } from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate, type Template } from "../expressions/template.ts";
import { type Added, compileInject } from "./request-option.ts";

/** Seconds that a token is valid for where the manifest does not say it. */
const usualDuration = 1200;

/** Reserved names: the manifest has properties of their own for them. */
const reserved = {
  additional_jwt_headers: ["kid", "alg", "typ", "cty"],
  additional_jwt_payload: ["iss", "sub", "aud", "iat", "exp", "nbf"],
} as const;

/** A token that the host is asked to sign, with the word that goes before it. */
export interface TokenRequest {
  readonly unsigned: UnsignedToken;
  readonly text: string;
}

/** The clock of a run. */
type Context = { readonly clock: { now(): number } };

/** Gives a run the same token until half of its life is over: each one is a secret of the run. */
export function compileToken(auth: Component): (scope: Scope, ctx: Context) => TokenRequest {
  const algorithm = auth.get("algorithm");
  if (typeof algorithm !== "string" || !isJwtAlgorithm(algorithm))
    throw invalid(auth.at("algorithm"), "must be an algorithm of JSON Web Tokens, as RS256");
  const key = auth.required("secret_key", auth.template("secret_key"));
  const passphrase = auth.template("passphrase");
  const prefix = auth.template("header_prefix");
  const headersOf = compileClaims(auth, "additional_jwt_headers", "jwt_headers", ["kid", "cty"]);
  const payloadOf = compileClaims(auth, "additional_jwt_payload", "jwt_payload", [
    ...["iss", "sub", "aud"],
  ]);
  const named = auth.get("jwt_headers");
  const typ = isJsonObject(named) && typeof named.typ === "string" ? named.typ : "JWT";
  const type = compileTemplate(typ, auth.at("jwt_headers.typ"));
  const duration = Number(auth.get("token_duration") ?? usualDuration);
  const encode = auth.template("base64_encode_secret_key");
  let kept: { made: TokenRequest; untilMs: number; ctx: Context } | undefined;
  return (scope, ctx) => {
    const nowMs = ctx.clock.now();
    if (kept?.ctx === ctx && nowMs < kept.untilMs) return kept.made;
    const now = Math.floor(nowMs / 1000);
    const unsigned: UnsignedToken = {
      standIn: crypto.randomUUID().replaceAll("-", ""),
      header: { ...headersOf(scope), typ: type.text(scope), alg: algorithm },
      payload: { ...payloadOf(scope), iat: now, exp: now + duration, nbf: now },
      key: key.text(scope),
      passphrase: passphrase?.text(scope) ?? "",
      isKeyEncoded: encode?.holds(scope) === true,
    };
    const word = prefix?.text(scope) ?? "";
    const text = word === "" ? unsigned.standIn : `${word} ${unsigned.standIn}`;
    kept = { made: { unsigned, text }, ctx, untilMs: nowMs + Math.max(1, duration / 2) * 1000 };
    return kept.made;
  };
}

export function compileJwt(auth: Component) {
  const tokenOf = compileToken(auth);
  const option = auth.child("request_option", "RequestOption");
  const inject = option && compileInject(option);
  return {
    sign(added: Added, scope: Scope, ctx: Context): void {
      const { unsigned, text } = tokenOf(scope, ctx);
      added.jwt = unsigned;
      if (inject) inject(added, text, scope);
      else added.header.Authorization = text;
    },
  };
}

/** Claims of the manifest's own, and those that have names. */
function compileClaims(
  auth: Component,
  more: keyof typeof reserved,
  own: "jwt_headers" | "jwt_payload",
  names: readonly string[],
): (scope: Scope) => JsonObject {
  const additional = auth.get(more);
  const taken = reserved[more].find((name) => isJsonObject(additional) && name in additional);
  if (taken !== undefined)
    throw invalid(auth.at(more), `must not hold ${taken}, which has a place of its own`);
  const additionalOf = compileOptions(additional, auth.at(more));
  const part = auth.get(own);
  const named = names.flatMap((name): [string, Template][] => {
    const value = isJsonObject(part) ? part[name] : undefined;
    if (value === undefined || value === null || value === "") return [];
    return [[name, compileTemplate(String(value), auth.at(`${own}.${name}`))]];
  });
  return (scope) => ({
    ...(additionalOf(scope) as JsonObject),
    ...Object.fromEntries(named.map(([name, template]) => [name, template.value(scope) as never])),
  });
}
