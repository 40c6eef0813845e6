/**
 * Authenticators. The settings that they send are placeholders, and the tokens that a provider mints
 * too: the host keeps them, because their place is declared before anything runs.
 */
import type { HttpContext, HttpResponse } from "../../contract/context.ts";
import type { MintedTokens } from "../../contract/egress.ts";
import { ConnectorError } from "../../contract/errors.ts";
import { isJsonObject } from "../../contract/json.ts";
import { toPointer } from "../../wire/json-pointer.ts";
import { type Component, compileOptions, openComponent, textsOf } from "../document/component.ts";
import { invalid, Unsupported } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { parseSpan } from "../expressions/moment.ts";
import { compileTemplate } from "../expressions/template.ts";
import { type PlainValue, toText } from "../expressions/values.ts";
import { urlTemplatesOf } from "./origins.ts";
import { type Added, compileInject } from "./request-option.ts";

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

/** A token that is minted once and kept until it ends. */
function keepToken(
  mint: (scope: Scope, ctx: Context) => Promise<{ token: string; lastsMs: number | undefined }>,
) {
  let kept: { token: string; untilMs: number; ctx: Context } | undefined;
  return {
    async current(scope: Scope, ctx: Context): Promise<string> {
      if (kept?.ctx === ctx && kept.untilMs >= ctx.clock.now()) return kept.token;
      const { token, lastsMs } = await mint(scope, ctx);
      kept = { token, ctx, untilMs: lastsMs === undefined ? -1 : ctx.clock.now() + lastsMs };
      return token;
    },
    forget() {
      kept = undefined;
    },
  };
}

/** RFC 6749 section 6, and the other grants that need no person. */
function compileOAuth(auth: Component): Authenticator {
  const endpoint = auth.required("token_refresh_endpoint", auth.get("token_refresh_endpoint"));
  if (typeof endpoint !== "string")
    throw invalid(auth.at("token_refresh_endpoint"), "must be a text");
  const place = auth.at("token_refresh_endpoint");
  const url = compileTemplate(endpoint, place);
  const named = (name: string, usual: string) =>
    auth.template(name) ?? compileTemplate(usual, auth.at(name));
  const names = {
    grant: named("grant_type_name", "grant_type"),
    id: named("client_id_name", "client_id"),
    secret: named("client_secret_name", "client_secret"),
    refresh: named("refresh_token_name", "refresh_token"),
  };
  const values = {
    grant: named("grant_type", "refresh_token"),
    id: auth.required("client_id", auth.template("client_id")),
    secret: auth.required("client_secret", auth.template("client_secret")),
    refresh: auth.template("refresh_token"),
  };
  const accessName = textOf(auth, "access_token_name", "access_token");
  const expiresName = textOf(auth, "expires_in_name", "expires_in");
  const scopes = auth.get("scopes") ?? [];
  const extra = compileOptions(auth.get("refresh_request_body"), auth.at("refresh_request_body"));
  const headers = compileOptions(
    auth.get("refresh_request_headers"),
    auth.at("refresh_request_headers"),
  );
  const kept = keepToken(async (scope, ctx) => {
    const given = Object.fromEntries(
      Object.entries(headers(scope)).map(([name, value]) => [name.toLowerCase(), toText(value)]),
    );
    const body: Record<string, PlainValue> = {
      [names.grant.text(scope)]: values.grant.text(scope),
      // Who signs in by a header says it there.
      ...("authorization" in given
        ? {}
        : {
            [names.id.text(scope)]: values.id.text(scope),
            [names.secret.text(scope)]: values.secret.text(scope),
          }),
      ...(values.refresh ? { [names.refresh.text(scope)]: values.refresh.text(scope) } : {}),
      ...(Array.isArray(scopes) && scopes.length > 0 ? { scopes: scopes as PlainValue } : {}),
    };
    for (const [name, value] of Object.entries(extra(scope))) body[name] ??= value;
    const answer = await ctx.http.post(url.text(scope), {
      headers: { "content-type": "application/x-www-form-urlencoded", ...given },
      text: formOf(body),
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
      pointers: [accessName, "refresh_token"].map((name) => toPointer(name)),
    })),
    forget: kept.forget,
    async sign({ header }, scope, ctx) {
      header.Authorization = `Bearer ${await kept.current(scope, ctx)}`;
    },
  };
}

function textOf(component: Component, name: string, usual: string): string {
  const value = component.get(name) ?? usual;
  if (typeof value !== "string" || value.includes("{"))
    throw new Unsupported(component.at(name), "must be a plain text");
  return value;
}

const formOf = (body: Record<string, PlainValue>): string => {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(body))
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, toText(one));
  return form.toString();
};

/** A log-in whose answer has the token. */
function compileSession(auth: Component, login: CompileLogin): Authenticator {
  const requester = login(
    auth.required("login_requester", auth.child("login_requester", "HttpRequester")),
  );
  auth.child("decoder", "JsonDecoder");
  const path = textsOf(auth.get("session_token_path"), auth.at("session_token_path"));
  const lasts = auth.get("expiration_duration");
  const span = typeof lasts === "string" ? parseSpan(lasts) : undefined;
  if (lasts !== undefined && lasts !== null && !span)
    throw invalid(auth.at("expiration_duration"), "must be a duration, as PT1H");
  const kept = keepToken(async (scope, ctx) => {
    const answer = await requester.send(ctx, scope);
    let found: PlainValue = answer?.json<PlainValue>();
    for (const name of path)
      found =
        typeof found === "object" && found !== null && Object.hasOwn(found, name)
          ? (found as Record<string, PlainValue>)[name]
          : undefined;
    if (typeof found !== "string" || found === "") throw new ConnectorError("CREDENTIALS_REJECTED");
    return { token: found, lastsMs: span ? Number(span.micros / 1000n) : undefined };
  });
  const how = auth.required(
    "request_authentication",
    auth.child("request_authentication", "Bearer", "ApiKey"),
  );
  const minted = requester.urls.map((url) => ({ url, pointers: [toPointer(...path)] }));
  if (how.type === "Bearer")
    return {
      ...{ minted, forget: kept.forget },
      async sign({ header }, scope, ctx) {
        header.Authorization = `Bearer ${await kept.current(scope, ctx)}`;
      },
    };
  const inject = compileInject(
    how.required("inject_into", how.child("inject_into", "RequestOption")),
  );
  const form = how.template("api_token");
  return {
    ...{ minted, forget: kept.forget },
    async sign(added, scope, ctx) {
      const session_token = await kept.current(scope, ctx);
      inject(added, form?.text({ ...scope, session_token }) ?? session_token, scope);
    },
  };
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
      let chosen: PlainValue = scope.config;
      for (const name of path)
        chosen =
          typeof chosen === "object" && chosen !== null && Object.hasOwn(chosen, name)
            ? (chosen as Scope)[name]
            : undefined;
      const found = all.get(toText(chosen));
      if (!found)
        throw new ConnectorError("CONFIG_INVALID", {
          path: path.join("."),
          problem: "chooses an authenticator that is not there",
        });
      return found.sign(added, scope, ctx);
    },
  };
}
