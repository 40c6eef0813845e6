/**
 * Where in a request stands what proves who asks, whether or not the spec says that it is a secret.
 */
import { isSecretName } from "svc-connectors/host";
import type { ProviderRequest } from "../contract/network.ts";
import { isTokenRequest } from "../derive/auth/credentials.ts";

export interface Proof {
  readonly value: string;
  /** "the Authorization header", "api_key of the body". */
  readonly place: string;
}

/** Schemes whose header names the key beside the signature: what stands there is no secret. */
const signed = /^(?:AWS4|OAuth|Digest|Hawk|Signature)\b/i;
/** Secret parameters of a token request: RFC 6749 and 7523. */
const tokenSecrets = new Set([
  "client_secret",
  "refresh_token",
  "password",
  "assertion",
  "client_assertion",
  "code",
  "code_verifier",
]);

/** Values of a request that prove who asks. A user name beside a password is none. */
export function proofsIn(
  request: Pick<ProviderRequest, "method" | "headers" | "url" | "body">,
): Proof[] {
  const headers = Object.entries(request.headers).flatMap(([name, value]): Proof[] => {
    const place = `the ${titled(name)} header`;
    if (name === "authorization" || name === "proxy-authorization")
      return inAuthorization(value, place);
    return name === "cookie" || isSecretName(name, "setting") ? [{ value, place }] : [];
  });
  const isToken = isTokenRequest(request);
  const body = bodyFields(request.body).flatMap(([name, value]): Proof[] => {
    if (isToken)
      return tokenSecrets.has(name) ? [{ value, place: `${name} of the token request` }] : [];
    return isSecretName(name, "setting") ? [{ value, place: `${name} of the body` }] : [];
  });
  const query = [...request.url.searchParams].flatMap(([name, value]): Proof[] =>
    isSecretName(name, "setting") ? [{ value, place: `${name} of the query` }] : [],
  );
  return [...headers, ...body, ...query];
}

function inAuthorization(header: string, place: string): Proof[] {
  const [, scheme = "", rest = ""] = /^([A-Za-z][\w-]*)\s+(.+)$/.exec(header) ?? [];
  if (scheme === "") return [{ value: header, place }];
  if (signed.test(scheme)) return [];
  if (scheme.toLowerCase() !== "basic") return [{ value: rest, place }];
  const pair = Buffer.from(rest, "base64").toString("utf8");
  const [, user = "", password = ""] = /^([^:]*):?(.*)$/s.exec(pair) ?? [];
  // An API key in place of the user name is common where the password is empty or a fixed word.
  const isKey = password.length < 4 || /^(?:api_?token|x-oauth-basic|password)$/i.test(password);
  return [{ value: isKey ? user : password, place }];
}

/** The fields of a form or a JSON object. */
function bodyFields(body: string): [string, string][] {
  if (!body.trimStart().startsWith("{"))
    return /^[^\s=&]+=/.test(body) ? [...new URLSearchParams(body)] : [];
  try {
    const fields = Object.entries(JSON.parse(body) as object);
    return fields.filter((field): field is [string, string] => typeof field[1] === "string");
  } catch {
    return [];
  }
}

const titled = (name: string) =>
  name.replaceAll(
    /(^|-)([a-z])/g,
    (_, dash: string, letter: string) => dash + letter.toUpperCase(),
  );
