import { describe, expect, test } from "vitest";
import {
  type Auth,
  basic,
  bearer,
  bodyFields,
  headers,
  http,
  identifier,
  oauth2,
  queryFields,
  secret,
  Type,
} from "../author.ts";
import { parseManifest } from "./manifest.ts";

const text = Type.String();
const spec = Type.Object({
  api_token: secret(text),
  fixed_word: secret(Type.String({ default: "x-oauth-basic" })),
  client_id: text,
  email: text,
  account: Type.Object({ number: text, key: text, token: secret(text) }),
  access_key: text,
});
const load = (...auth: Auth[]) =>
  parseManifest(
    JSON.parse(
      JSON.stringify({
        id: "conn_test",
        version: "1.0.0",
        title: "Test",
        spec,
        egress: http({ baseUrl: "https://api.example.com", auth }),
      }),
    ),
  );
const refusal = (field: string, problem: RegExp) =>
  expect.objectContaining({
    code: "CONNECTOR_INVALID",
    details: { path: `spec.properties.${field}`, problem: expect.stringMatching(problem) },
  });
const endpoints = { tokenUrl: "https://login.example.com/token" };

describe("what authentication uses", () => {
  test.each<[string, string, Auth[]]>([
    ["after a word", "client_id", [bearer("client_id")]],
    ["as a whole header", "client_id", [headers({ "x-client-id": "client_id" })]],
    [
      "beside a secret",
      "client_id",
      [headers({ "x-client-id": "client_id", "x-key": "api_token" })],
    ],
    ["in the body", "client_id", [bodyFields({ client: "client_id" })]],
    ["in the query", "client_id", [queryFields({ client: "client_id" })]],
    ["as the user name of Basic", "email", [basic("email", "api_token")]],
    ["as the password of Basic", "client_id", [basic("api_token", "client_id")]],
    ["inside an object", "account.key", [headers({ "x-id": "account.key" })]],
    [
      "as the secret of a client",
      "email",
      [
        oauth2({
          ...endpoints,
          clientId: "client_id",
          clientSecret: "email",
          refreshToken: "api_token",
        }),
      ],
    ],
  ])("must be marked as a secret %s", (_, field, auth) => {
    expect(() => load(...auth)).toThrow(refusal(field, /must be marked secret/));
  });

  test.each<[string, Auth[]]>([
    ["in a header", [headers({ "x-client-id": identifier("client_id"), "x-key": "api_token" })]],
    [
      "of another authentication",
      [bodyFields({ client: identifier("client_id") }), bearer("api_token")],
    ],
    [
      "in the query",
      [queryFields({ account: identifier("account.number") }), bearer("account.token")],
    ],
    ["beside a password", [basic(identifier("email"), "api_token")]],
    [
      "of an OAuth client",
      [
        oauth2({
          ...endpoints,
          clientId: "client_id",
          clientSecret: "api_token",
          refreshToken: "account.token",
        }),
      ],
    ],
  ])("may be an identifier %s", (_, auth) => {
    expect(load(...auth).egress).toMatchObject({ auth });
  });

  test.each<[string, string, RegExp, Auth[]]>([
    [
      "no secret stands beside it",
      "client_id",
      /without a secret/,
      [bodyFields({ client: identifier("client_id") })],
    ],
    [
      "it is called as a secret is",
      "access_key",
      /name or the place of a secret/,
      [headers({ "x-id": identifier("access_key"), "x-key": "api_token" })],
    ],
    [
      "its header is that of a secret",
      "client_id",
      /name or the place of a secret/,
      [headers({ authorization: identifier("client_id"), "x-key": "api_token" })],
    ],
    [
      "its parameter is that of a secret",
      "client_id",
      /name or the place of a secret/,
      [queryFields({ api_key: identifier("client_id") }), bearer("api_token")],
    ],
    [
      "a word stands before it",
      "client_id",
      /name or the place of a secret/,
      [
        {
          type: "headers",
          headers: { "x-id": { prefix: "Key ", field: identifier("client_id") } },
        },
        bearer("api_token"),
      ],
    ],
    [
      "its password is everybody's",
      "email",
      /a password that the connector knows/,
      [basic(identifier("email"), "fixed_word")],
    ],
    [
      "an OAuth client's is called as a secret is",
      "access_key",
      /name or the place of a secret/,
      [
        oauth2({
          ...endpoints,
          clientId: "access_key",
          clientSecret: "api_token",
          refreshToken: "account.token",
        }),
      ],
    ],
  ])("is no identifier when %s", (_, field, problem, auth) => {
    expect(() => load(...auth)).toThrow(refusal(field, problem));
  });

  test("cannot be renewed into an identifier", () => {
    const authorization = { ...endpoints, authorizeUrl: "https://login.example.com", scopes: [] };
    const auth: Auth = {
      type: "headers",
      headers: { "x-id": { prefix: "", field: identifier("client_id") } },
      authorization,
    };
    expect(() => load(auth, bodyFields({ key: "api_token" }))).toThrow(
      expect.objectContaining({ code: "CONNECTOR_INVALID" }),
    );
  });
});
