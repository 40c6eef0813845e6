import { describe, expect, test } from "vitest";
import {
  type Auth,
  type Authorization,
  bearer,
  headers,
  http,
  oauth2,
} from "../contract/egress.ts";
import type { JsonObject, JsonValue } from "../contract/json.ts";
import { parseManifest } from "./manifest.ts";

const text = { type: "string" };
const secret = { type: "string", "x-svc-secret": true };
const choice = { type: "string", enum: ["eu", "com.au"] };
const asked: Authorization = {
  authorizeUrl: "https://login.example.{region}/auth",
  scopes: ["items:read"],
  region: { parameter: "accounts-server", field: "region" },
};

function manifest(
  authorization: object,
  region: JsonObject = choice,
  tokenUrl = "https://login.example.{region}/token",
) {
  const auth = oauth2<string>({
    tokenUrl,
    clientId: "id",
    clientSecret: "secret",
    refreshToken: "refresh",
    authorization: { ...asked, ...authorization },
  });
  return {
    id: "conn_x",
    version: "1.0.0",
    title: "X",
    spec: { type: "object", properties: { region, id: text, secret, refresh: secret } },
    egress: http({ baseUrl: "https://api.example.com/v2", auth }) as unknown as JsonValue,
  };
}

const refused = expect.objectContaining({ code: "CONNECTOR_INVALID" });

test("an authorization is part of a manifest", () => {
  const all = {
    issuer: "https://login.example.com",
    pkce: false,
    scopeSeparator: ",",
    extra: { prompt: "consent" },
    revokeUrl: "https://login.example.{region}/revoke",
  };
  expect(parseManifest(manifest(all))).toMatchObject({ id: "conn_x" });
});

test.each([
  ["an unknown property", { redirectUri: "https://x.example.com/" }],
  ["plain HTTP", { authorizeUrl: "http://login.example.com/auth" }],
  ["a scope with a space", { scopes: ["a b"] }],
  ["a state of its own", { extra: { state: "fixed" } }],
  ["another redirect URI", { extra: { redirect_uri: "https://evil.example.net/" } }],
  ["a setting that the spec lacks", { authorizeUrl: "https://{tenant}.example.com/auth" }],
  [
    "a revocation host that a setting lacks",
    { revokeUrl: "https://login.example.{tenant}/revoke" },
  ],
  ["a region that is no setting", { region: { parameter: "location", field: "place" } }],
  ["a region that is not in the token host", { region: { parameter: "location", field: "id" } }],
])("with %s is refused", (_name, change) => {
  expect(() => parseManifest(manifest(change))).toThrow(refused);
});

test("a setting that ends the host of any of its URLs must be one of a fixed list", () => {
  const tokenUrl = "https://login.example.com/token";
  const { region: _, ...plain } = asked;
  for (const url of ["authorizeUrl", "revokeUrl"]) {
    const change = {
      ...plain,
      region: undefined,
      authorizeUrl: "https://login.example.com/auth",
      [url]: "https://a.{region}/x",
    };
    const { region: __, ...authorization } = change;
    const built = manifest({}, text, tokenUrl);
    const egress = built.egress as unknown as { auth: [{ authorization: object }] };
    egress.auth[0].authorization = authorization;
    expect(() => parseManifest(built as unknown as JsonValue)).toThrow(refused);
  }
});

test("a region may not be free text, even at the beginning of the token host", () => {
  const hosts = { authorizeUrl: "https://{region}.example.com/auth" };
  expect(() => parseManifest(manifest(hosts, text, "https://{region}.example.com/token"))).toThrow(
    refused,
  );
  expect(
    parseManifest(manifest(hosts, choice, "https://{region}.example.com/token")),
  ).toMatchObject({ id: "conn_x" });
});

describe("an account whose token takes the place of a setting", () => {
  const authorization = {
    authorizeUrl: "https://login.example.com/auth",
    tokenUrl: "https://login.example.com/token",
    scopes: [],
    pkce: false,
  };
  const withAuth = (auth: Auth | readonly Auth[]) => ({
    ...manifest({}),
    egress: http({ baseUrl: "https://api.example.com/v2", auth }) as unknown as JsonValue,
  });

  test("is part of a manifest", () => {
    const auth = bearer<string>("secret", { bareIfStartsWith: "pk_", authorization });
    expect(parseManifest(withAuth(auth)).egress).toMatchObject({
      auth: [{ type: "headers", authorization }],
    });
  });

  const two = {
    ...headers<string>({ "x-one": "secret", "x-two": "refresh" }),
    authorization,
  } as Auth;
  const other = oauth2<string>({
    tokenUrl: "https://login.example.com/token",
    clientId: "id",
    clientSecret: "secret",
    refreshToken: "refresh",
  });
  test.each<[string, Auth | readonly Auth[]]>([
    [
      "a setting that is no secret",
      { ...headers<string>({ authorization: "id" }), authorization } as Auth,
    ],
    ["two headers", two],
    [
      "plain HTTP",
      bearer<string>("secret", {
        authorization: { ...authorization, tokenUrl: "http://login.example.com/token" },
      }),
    ],
    [
      "no token endpoint",
      bearer<string>("secret", {
        authorization: { ...authorization, tokenUrl: undefined } as never,
      }),
    ],
    [
      "a token host that the spec lacks",
      bearer<string>("secret", {
        authorization: { ...authorization, tokenUrl: "https://login.{tenant}/token" },
      }),
    ],
    [
      "a token host that anybody may choose",
      bearer<string>("secret", {
        authorization: { ...authorization, tokenUrl: "https://login.{id}/token" },
      }),
    ],
    [
      "a state of its own",
      bearer<string>("secret", { authorization: { ...authorization, extra: { state: "fixed" } } }),
    ],
    ["another way to connect beside it", [bearer<string>("secret", { authorization }), other]],
  ])("with %s is refused", (_name, auth) => {
    expect(() => parseManifest(withAuth(auth) as never)).toThrow(refused);
  });
});
