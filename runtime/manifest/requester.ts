/** HttpRequester and its authenticators: from a component to a request. */
import type { HttpContext, HttpResponse } from "../contract/context.ts";
import { type Component, compileOptions } from "./component.ts";
import { invalid } from "./invalid.ts";
import { originOf } from "./origins.ts";
import { compileTemplate, type Scope } from "./template.ts";
import { type PlainValue, toText } from "./values.ts";

/** What is added to a request, by paginators, routers and authenticators. */
export interface Added {
  readonly request_parameter: Record<string, PlainValue>;
  readonly header: Record<string, PlainValue>;
  readonly body_json: Record<string, PlainValue>;
  readonly body_data: Record<string, PlainValue>;
  /** A whole URL in place of the path. */
  path?: string;
}
export const nothingAdded = (): Added => ({
  request_parameter: {},
  header: {},
  body_json: {},
  body_data: {},
});
type Place = Exclude<keyof Added, "path">;
const places: readonly Place[] = ["request_parameter", "header", "body_json", "body_data"];

/** Puts a value where a RequestOption says. */
export type Inject = (added: Added, value: PlainValue, scope: Scope) => void;

export function compileInject(option: Component): Inject {
  const into = places.find((one) => one === option.get("inject_into"));
  if (!into) throw invalid(option.at("inject_into"), `must be one of ${places.join(", ")}`);
  const name = option.required("field_name", option.template("field_name"));
  return (added, value, scope) => {
    added[into][name.text(scope)] = value;
  };
}

export interface Requester {
  readonly origin: string;
  /** Sends a request. @throws as HttpClient does */
  send(ctx: HttpContext<unknown>, scope: Scope, added: Added): Promise<HttpResponse>;
}

export function compileRequester(requester: Component): Requester {
  const { parameters } = requester;
  const from = requester.get("url_base") === undefined ? "url" : "url_base";
  const base = requester.required(from, requester.get(from));
  if (typeof base !== "string") throw invalid(requester.at(from), "must be a text");
  const origin = originOf(base, requester.at(from));
  const url = compileTemplate(base, requester.at(from));
  const path = requester.template("path");
  const method = requester.get("http_method") ?? "GET";
  if (method !== "GET" && method !== "POST")
    throw invalid(requester.at("http_method"), "must be GET or POST");
  const options = (name: string) => compileOptions(requester.get(name), requester.at(name));
  const query = options("request_parameters");
  const headers = options("request_headers");
  const json = options("request_body_json");
  const data = options("request_body_data");
  const authenticate = compileAuthenticator(requester);

  return {
    origin,
    async send(ctx, outer, added) {
      const scope = { ...outer, parameters: parameters as Scope };
      authenticate(added, scope);
      const target = added.path ?? joinUrl(url.text(scope).trim(), path?.text(scope) ?? "");
      const sent = { ...texts(headers(scope)), ...texts(added.header) };
      const given = URL.parse(target)?.searchParams;
      const inQuery = listedTexts({ ...query(scope), ...added.request_parameter }, given);
      if (method === "GET") return await ctx.http.get(target, { query: inQuery, headers: sent });
      const form = { ...data(scope), ...added.body_data };
      const body = { ...json(scope), ...added.body_json };
      if (Object.keys(form).length === 0)
        return await ctx.http.post(target, { query: inQuery, headers: sent, body });
      return await ctx.http.post(target, {
        query: inQuery,
        headers: { "content-type": "application/x-www-form-urlencoded", ...sent },
        text: new URLSearchParams(texts(form)).toString(),
      });
    },
  };
}

/** The path below the base, with one slash between them; a path that is a whole URL is that. */
function joinUrl(base: string, path: string): string {
  if (path === "") return base;
  if (/^https?:\/\//.test(path)) return path;
  return `${base.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`;
}

const texts = (values: Record<string, PlainValue>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toText(value)]));
/** As parameters; what the URL of a next page has already is not said again. */
const listedTexts = (
  values: Record<string, PlainValue>,
  given: URLSearchParams | undefined,
): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(values)
      .map(([name, value]) => [name, Array.isArray(value) ? value.map(toText) : toText(value)])
      .filter(([name, value]) => given?.get(String(name)) !== value),
  );

/** The settings that authenticators use are placeholders: they go where the manifest puts them. */
function compileAuthenticator(requester: Component): (added: Added, scope: Scope) => void {
  const auth = requester.child(
    "authenticator",
    "NoAuth",
    "BearerAuthenticator",
    "ApiKeyAuthenticator",
    "BasicHttpAuthenticator",
  );
  if (!auth || auth.type === "NoAuth") return () => undefined;
  if (auth.type === "BasicHttpAuthenticator") {
    const username = auth.required("username", auth.template("username"));
    const password = auth.template("password");
    return ({ header }, scope) => {
      const plain = `${username.text(scope)}:${password?.text(scope) ?? ""}`;
      header.Authorization = `Basic ${Buffer.from(plain).toString("base64")}`;
    };
  }
  const token = auth.required("api_token", auth.template("api_token"));
  if (auth.type === "BearerAuthenticator")
    return ({ header }, scope) => {
      header.Authorization = `Bearer ${token.text(scope)}`;
    };
  const option = auth.child("inject_into", "RequestOption");
  if (option) {
    const inject = compileInject(option);
    return (added, scope) => inject(added, token.text(scope), scope);
  }
  const name = auth.required("header", auth.template("header"));
  return ({ header }, scope) => {
    header[name.text(scope)] = token.text(scope);
  };
}
