/** HttpRequester: from a component to a request, tried again as its error handler says. */
import type { HttpContext, HttpResponse } from "../../contract/context.ts";
import type { MintedTokens } from "../../contract/egress.ts";
import { ConnectorError } from "../../contract/errors.ts";
import { isJsonObject, type JsonValue } from "../../contract/json.ts";
import { isSlash, withoutEnd } from "../../wire/without-end.ts";
import {
  type Component,
  compileOptions,
  compileTextOptions,
  compileValue,
} from "../document/component.ts";
import { invalid } from "../document/invalid.ts";
import type { Scope } from "../expressions/evaluate.ts";
import { compileTemplate } from "../expressions/template.ts";
import { isMapping, type PlainValue, toText } from "../expressions/values.ts";
import { compileAuthenticator } from "./authenticator.ts";
import { compileErrorHandler, errorStatuses } from "./error-handler.ts";
import { originsOf, urlTemplatesOf } from "./origins.ts";
import { type Added, nothingAdded } from "./request-option.ts";

export interface Requester {
  readonly origins: readonly string[];
  readonly minted: readonly MintedTokens[];
  /**
   * Sends a request; nothing comes back where its error is to be ignored.
   * @throws as HttpClient does
   */
  send(ctx: HttpContext<unknown>, scope: Scope, added: Added): Promise<HttpResponse | undefined>;
}

export function compileRequester(requester: Component): Requester {
  const { parameters } = requester;
  const from = requester.get("url_base") === undefined ? "url" : "url_base";
  const base = requester.required(from, requester.get(from));
  if (typeof base !== "string") throw invalid(requester.at(from), "must be a text");
  // Where an export lies is known when it is ready: on a host that is declared otherwise.
  const isFound = /^\s*\{\{\s*download_target\s*\}\}\s*$/.test(base);
  const origins = isFound ? [] : originsOf(base, requester.at(from), parameters);
  const url = compileTemplate(base, requester.at(from));
  const path = requester.template("path");
  const method = String(requester.get("http_method") ?? "GET").toUpperCase();
  if (method !== "GET" && method !== "POST")
    throw invalid(requester.at("http_method"), "must be GET or POST");
  const query = compileTextOptions(plainParameters(requester), requester.at("request_parameters"));
  const headers = compileOptions(requester.get("request_headers"), requester.at("request_headers"));
  const bodyOf = compileBody(requester);
  const handler = compileErrorHandler(requester);
  const auth = compileAuthenticator(requester, compileLogin);

  async function request(ctx: HttpContext<unknown>, scope: Scope, added: Added) {
    const signed = nothingAdded();
    await auth.sign(signed, scope, ctx);
    const base = toText(url.value(scope)).trim();
    const joined = joinUrl(base, added.path ?? (path ? toText(path.value(scope)) : ""));
    // A setting that is a whole host may end with the slash that the path begins with.
    const target = joined.replace(/^(https?:\/\/[^/?#]+)\/{2,}/i, "$1/");
    const given = URL.parse(target)?.searchParams;
    const inQuery = listedTexts(
      { ...query(scope), ...signed.request_parameter, ...added.request_parameter },
      given,
    );
    const sent = { ...texts(headers(scope)), ...texts(added.header), ...texts(signed.header) };
    const { jwt } = signed;
    const accept = handler ? errorStatuses : undefined;
    if (method === "GET")
      return await ctx.http.get(target, { query: inQuery, headers: sent, accept, jwt });
    const body = bodyOf(scope, added, signed);
    return await ctx.http.post(target, {
      ...{ query: inQuery, accept, jwt },
      ...("text" in body ? { text: body.text } : { body: body.json }),
      headers: { ...("type" in body ? { "content-type": body.type } : {}), ...sent },
    });
  }

  return {
    origins,
    minted: auth.minted,
    async send(ctx, outer, added) {
      const scope = { ...outer, parameters: parameters as Scope };
      for (let attempt = 1; ; attempt++) {
        const answer = await request(ctx, scope, added);
        if (!handler) return answer;
        const { action, code } = handler.judge(answer, scope);
        if (action === "FAIL") throw new ConnectorError(code, { status: answer.status });
        if (action === "SUCCESS") return answer.status < 400 ? answer : undefined;
        // An empty body is no document: who ignores it says that there are no rows.
        if (action === "IGNORE")
          return answer.status < 400 && answer.text() !== "" ? answer : undefined;
        const ms = handler.waitMs({ answer, attempt, scope, now: ctx.clock.now() });
        if (ms === undefined)
          throw new ConnectorError(action === "RATE_LIMITED" ? action : code, {
            status: answer.status,
          });
        if (action === "REFRESH_TOKEN_THEN_RETRY") auth.forget();
        await ctx.clock.sleep(ms, ctx.signal);
      }
    },
  };
}

/** Parameters without those that several requests share among them. */
const plainParameters = (requester: Component): JsonValue | undefined => {
  const parameters = requester.get("request_parameters");
  if (!isJsonObject(parameters)) return parameters;
  return Object.fromEntries(
    Object.entries(parameters).filter(
      ([, value]) => !(isJsonObject(value) && value.type === "QueryProperties"),
    ),
  );
};

/** Asks for a token: its URL is known before anything runs. */
function compileLogin(login: Component) {
  const { send } = compileRequester(login);
  const base = String(login.get("url_base") ?? login.get("url"));
  const path = login.get("path") ?? "";
  if (typeof path !== "string") throw invalid(login.at("path"), "must be a text");
  return {
    urls: urlTemplatesOf(joinUrl(base.trim(), path), login.at("path"), login.parameters),
    send: (ctx: HttpContext<unknown>, scope: Scope) => send(ctx, scope, nothingAdded()),
  };
}

type Body = { readonly json: PlainValue } | { readonly type: string; readonly text: string };
type BodyOf = (scope: Scope, added: Added, signed: Added) => Body;

const formType = "application/x-www-form-urlencoded";

function compileBody(requester: Component): BodyOf {
  const written = requester.child(
    "request_body",
    ...(["RequestBodyJsonObject", "RequestBodyUrlEncodedForm", "RequestBodyPlainText"] as const),
    "RequestBodyGraphQL",
  );
  const isForm = written?.type === "RequestBodyUrlEncodedForm";
  const isPlain = written?.type === "RequestBodyPlainText";
  const own = (name: string) => requester.get(name);
  const [jsonPart, dataPart] = written
    ? [
        isForm || isPlain ? undefined : written.get("value"),
        isForm || isPlain ? written.get("value") : undefined,
      ]
    : [own("request_body_json"), own("request_body_data")];
  const json = compileOptions(jsonPart, requester.at("request_body_json"));
  const dataPlace = requester.at("request_body_data");
  const isObject = isJsonObject(dataPart);
  const data = isObject ? compileTextOptions(dataPart, dataPlace) : () => ({});
  const text =
    dataPart === undefined || dataPart === null || isObject
      ? undefined
      : compileValue(String(dataPart), dataPlace);
  return (scope, added, signed) => {
    const form = { ...data(scope), ...signed.body_data, ...added.body_data };
    const made = text?.(scope);
    if (made !== undefined && typeof made !== "object")
      return { type: "text/plain", text: toText(made) };
    const fields = { ...(made as Record<string, PlainValue> | undefined), ...form };
    if (Object.keys(fields).length > 0)
      return { type: formType, text: new URLSearchParams(pairsOf(fields)).toString() };
    const document = merge(merge(json(scope), signed.body_json), added.body_json);
    return { json: Object.keys(document).length === 0 ? undefined : document };
  };
}

type Fields = Record<string, PlainValue>;

/** Adds fields; those within an object leave the rest of the object as it is. */
const merge = (own: Fields, added: Fields): Fields => {
  const made = { ...own };
  for (const [name, value] of Object.entries(added)) {
    const inner = Object.hasOwn(made, name) ? made[name] : undefined;
    made[name] = isMapping(inner) && isMapping(value) ? merge(inner, value) : value;
  }
  return made;
};

/** The path below the base, with one slash between them; a path that is a whole URL is that. */
function joinUrl(base: string, path: string): string {
  if (path === "") return base;
  if (/^https?:\/\//.test(path)) return path;
  return `${withoutEnd(base, isSlash)}/${path.replace(/^\/+/, "")}`;
}

const texts = (values: Record<string, PlainValue>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toText(value)]));
/** As fields of a form: a list is said once for each of its items. */
const pairsOf = (values: Record<string, PlainValue>): string[][] =>
  Object.entries(values).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== null && one !== undefined)
      .map((one) => [name, toText(one)]),
  );
/** As parameters; what the URL of a next page has already is not said again. */
const listedTexts = (
  values: Record<string, PlainValue>,
  given: URLSearchParams | undefined,
): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [name, Array.isArray(value) ? [...value].map(toText) : toText(value)])
      .filter(([name, value]) => given?.get(String(name)) !== value),
  );
