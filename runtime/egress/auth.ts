/** Declared authentication, applied by the host as the last step before a request leaves. */
import { type Auth, type AuthField, type OAuth2, settingOf } from "../contract/egress.ts";
import { ConnectorError } from "../contract/errors.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { isJsonObject } from "../contract/json.ts";
import type { SecretRegistry } from "../filter/secrets.ts";
import type { HttpMethod } from "../wire/http-call.ts";
import { configText, configValue } from "./config-field.ts";
import { isHeaderValue, type RequestHeaders } from "./request-headers.ts";
import type { TransportRequest } from "./transport.ts";

/** A request without any authentication. */
export interface PlainRequest {
  readonly method: HttpMethod;
  readonly url: URL;
  readonly headers: RequestHeaders;
  /** The body as JSON, and as the bytes that are sent. */
  readonly json?: JsonValue | undefined;
  readonly body?: Buffer | undefined;
}

export interface RequestAuthenticator {
  /** Lower-case names of the headers that it sets; a connector may not set them. */
  readonly headerNames: ReadonlySet<string>;
  /** The credential values: they make one credential another than the next. */
  readonly values: readonly string[];
  /** The OAuth declaration, when there is one. Its access token is given to `apply`. */
  readonly oauth: OAuth2 | undefined;
  /**
   * @throws CONNECTOR_PROTOCOL when body fields have to be added to something that is no JSON
   * object.
   */
  apply(request: PlainRequest, accessToken: string | undefined): TransportRequest;
}

/** @throws CONFIG_INVALID a credential is missing or cannot be sent · CONNECTOR_INVALID */
export function createAuthenticator(
  declared: readonly Auth[],
  config: JsonObject,
  secrets: SecretRegistry,
): RequestAuthenticator {
  const headers: Record<string, string> = {};
  const bodyFields: { name: string; value: string; except: readonly string[] }[] = [];
  const queryFields: Record<string, string> = {};
  const values: string[] = [];
  let oauth: OAuth2 | undefined;

  const credential = (field: AuthField) => {
    const value = configText(config, settingOf(field));
    if (typeof field === "string") secrets.add(value);
    values.push(value);
    return value;
  };
  const setHeader = (name: string, value: string, field: AuthField) => {
    if (!isHeaderValue(value)) throw unsendable(settingOf(field));
    headers[name.toLowerCase()] = value;
  };

  for (const auth of declared) {
    if (auth.type === "headers") {
      for (const [name, { prefix, field, bareIfStartsWith }] of Object.entries(auth.headers)) {
        const value = credential(field);
        const isBare = bareIfStartsWith !== undefined && value.startsWith(bareIfStartsWith);
        setHeader(name, isBare ? value : prefix + value, field);
      }
    } else if (auth.type === "basic") {
      setHeader(
        "authorization",
        basicHeader(auth.username, auth.password, config, secrets, values),
        auth.password,
      );
    } else if (auth.type === "body") {
      for (const [name, field] of Object.entries(auth.fields))
        bodyFields.push({ name, value: credential(field), except: auth.except ?? [] });
    } else if (auth.type === "query") {
      for (const [name, field] of Object.entries(auth.fields))
        queryFields[name] = credential(field);
    } else if (oauth) {
      throw new ConnectorError("CONNECTOR_INVALID", {
        path: "egress",
        problem: "has oauth2 twice",
      });
    } else {
      oauth = auth;
      const refreshToken = configValue(config, auth.refreshToken);
      if (typeof refreshToken === "string") values.push(refreshToken);
    }
  }

  const bodyFieldsOf = ({ pathname }: URL) =>
    bodyFields
      .filter(({ except }) => !except.some((path) => pathname.endsWith(path)))
      .map(({ name, value }) => [name, value] as const);
  const queryEntries = Object.entries(queryFields);
  const scheme = oauth?.scheme ?? "Bearer";
  return {
    headerNames: new Set([...Object.keys(headers), ...(oauth ? ["authorization"] : [])]),
    values,
    oauth,
    apply({ method, url, headers: plainHeaders, json, body }, accessToken) {
      const signed = { ...plainHeaders, ...headers };
      if (accessToken !== undefined) signed.authorization = `${scheme} ${accessToken}`;
      const added = method === "GET" ? [] : bodyFieldsOf(url);
      return {
        method,
        url: queryEntries.length === 0 ? url : withQuery(url, queryEntries),
        headers: signed,
        body: added.length > 0 ? withFields(json, Object.fromEntries(added)) : body,
      };
    },
  };
}

/**
 * RFC 7617, in UTF-8. Either part may be empty: providers put a key into one and leave the other. A
 * user name that is no secret needs its password.
 */
function basicHeader(
  username: AuthField,
  password: string,
  config: JsonObject,
  secrets: SecretRegistry,
  values: string[],
): string {
  const isEmpty = (field: string) => configValue(config, field) === "";
  const user = settingOf(username);
  const hidesUser = typeof username === "string";
  const name = isEmpty(user) ? "" : configText(config, user);
  const word = hidesUser && isEmpty(password) ? "" : configText(config, password);
  if (name.includes(":")) throw unsendable(user);
  const encoded = Buffer.from(`${name}:${word}`).toString("base64");
  for (const part of hidesUser ? [name, word, encoded] : [word, encoded])
    if (part !== "") secrets.add(part);
  values.push(encoded);
  return `Basic ${encoded}`;
}

function withQuery(url: URL, entries: readonly (readonly [string, string])[]): URL {
  const signed = new URL(url);
  for (const [name, value] of entries) signed.searchParams.set(name, value);
  return signed;
}

function withFields(json: JsonValue | undefined, fields: Readonly<Record<string, string>>): Buffer {
  if (json !== undefined && !isJsonObject(json)) {
    throw new ConnectorError("CONNECTOR_PROTOCOL", { problem: "the body must be an object" });
  }
  return Buffer.from(JSON.stringify({ ...json, ...fields }));
}

const unsendable = (field: string) =>
  new ConnectorError("CONFIG_INVALID", {
    path: field,
    problem: "holds a character that cannot be sent, for instance a line break",
  });
