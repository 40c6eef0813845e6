/**
 * Authenticators. The settings that they send are placeholders, and the tokens that a provider
 * mints too: the host keeps them, because their place is declared before anything runs.
 */
import type { HttpContext, HttpResponse } from "../../contract/context.ts";
import type { MintedTokens } from "../../contract/egress.ts";
import { ConnectorError } from "../../contract/errors.ts";
import { isJsonObject } from "../../contract/json.ts";
import { type Component, openComponent, textsOf } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { toText, valueAt } from "../expressions/values.ts";
import { compileJwt } from "./jwt.ts";
import { compileOAuth } from "./oauth.ts";
import { type Added, compileInject } from "./request-option.ts";
import { compileSession } from "./session-login.ts";

type Context = HttpContext<unknown>;

export interface Authenticator {
  /** Signs a request. @throws as HttpClient does, where it logs in first */
  sign(added: Added, scope: Scope, ctx: Context): Promise<void> | void;
  /** Forgets what was minted: it was refused. */
  forget(): void;
  readonly minted: readonly MintedTokens[];
}

const types = [
  ...(["NoAuth", "BearerAuthenticator", "ApiKeyAuthenticator", "BasicHttpAuthenticator"] as const),
  ...(["OAuthAuthenticator", "SessionTokenAuthenticator", "SelectiveAuthenticator"] as const),
  ...(["JwtAuthenticator"] as const),
];
const nothing: Authenticator = { sign() {}, forget() {}, minted: [] };
const fixed = (sign: Authenticator["sign"]): Authenticator => ({ ...nothing, sign });

/** How a request is sent that logs in. */
export type CompileLogin = (requester: Component) => {
  readonly urls: readonly string[];
  send(ctx: Context, scope: Scope): Promise<HttpResponse | undefined>;
};

export function compileAuthenticator(owner: Component, login: CompileLogin): Authenticator {
  const auth = owner.child("authenticator", ...types);
  return auth ? compileOne(auth, login) : nothing;
}

function compileOne(auth: Component, login: CompileLogin): Authenticator {
  if (auth.type === "NoAuth") return nothing;
  if (auth.type === "OAuthAuthenticator") return compileOAuth(auth);
  if (auth.type === "JwtAuthenticator") return { ...nothing, ...compileJwt(auth) };
  if (auth.type === "SessionTokenAuthenticator") return compileSession(auth, login);
  if (auth.type === "SelectiveAuthenticator") return compileSelective(auth, login);
  if (auth.type === "BasicHttpAuthenticator") {
    const username = auth.required("username", auth.template("username"));
    const password = auth.template("password");
    return fixed(({ header }, scope) => {
      const plain = `${username.text(scope)}:${password?.text(scope) ?? ""}`;
      header.Authorization = `Basic ${Buffer.from(plain).toString("base64")}`;
    });
  }
  const token = auth.required("api_token", auth.template("api_token"));
  if (auth.type === "BearerAuthenticator")
    return fixed(({ header }, scope) => {
      header.Authorization = `Bearer ${token.text(scope)}`;
    });
  const option = auth.child("inject_into", "RequestOption");
  if (option) {
    const inject = compileInject(option);
    return fixed((added, scope) => inject(added, token.text(scope), scope));
  }
  const name = auth.required("header", auth.template("header"));
  return fixed(({ header }, scope) => {
    header[name.text(scope)] = token.text(scope);
  });
}

/** One of several, which a setting chooses. */
function compileSelective(auth: Component, login: CompileLogin): Authenticator {
  const path = textsOf(
    auth.get("authenticator_selection_path"),
    auth.at("authenticator_selection_path"),
  );
  const choices = auth.get("authenticators");
  if (!isJsonObject(choices)) throw invalid(auth.at("authenticators"), "must be an object");
  const all = new Map(
    Object.entries(choices).map(([name, value]) => {
      const place = `${auth.at("authenticators")}.${name}`;
      try {
        return [name, compileOne(openComponent(value, place, types), login)] as const;
      } catch (error) {
        // Who chooses another one can read all the same.
        if (!(error instanceof Unsupported)) throw error;
        const fail = () => {
          throw error;
        };
        return [name, { ...nothing, sign: fail }] as const;
      }
    }),
  );
  return {
    minted: [...all.values()].flatMap(({ minted }) => minted),
    forget() {
      for (const one of all.values()) one.forget();
    },
    sign(added, scope, ctx) {
      const found = all.get(toText(valueAt(scope.config, path)));
      if (!found)
        throw new ConnectorError("CONFIG_INVALID", {
          path: path.join("."),
          problem: "chooses an authenticator that is not there",
        });
      return found.sign(added, scope, ctx);
    },
  };
}
