import { expect, test } from "vitest";
import { basic, bearer, headers, identifier } from "../contract/egress.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { parseManifest } from "../spec/manifest.ts";
import { createAuthenticator } from "./auth.ts";

const auth = bearer("token", { bareIfStartsWith: "pk_" });

test.each([
  ["pk_123_ABCDEFGH", "pk_123_ABCDEFGH"],
  ["123_pk_ABCDEFGH", "Bearer 123_pk_ABCDEFGH"],
  ["PK_123_ABCDEFGH", "Bearer PK_123_ABCDEFGH"],
])("a token %s of a provider with two kinds of token is sent as %s", (token, sent) => {
  const secrets = createSecretRegistry();
  const { apply } = createAuthenticator([auth], { token }, secrets);
  const url = new URL("https://api.example.com/v2/user");
  expect(apply({ method: "GET", url, headers: {} }, undefined).headers).toEqual({
    authorization: sent,
  });
  expect(secrets.redactText(`echo ${token}`)).not.toContain(token);
});

test("a manifest may declare it, and the token must be marked secret", () => {
  const manifest = (token: object) =>
    JSON.parse(
      JSON.stringify({
        id: "conn_two_tokens",
        version: "1.0.0",
        title: "Two tokens",
        spec: { type: "object", properties: { token } },
        egress: { kind: "http", baseUrl: "https://api.example.com/v2", auth: [auth] },
      }),
    );
  expect(parseManifest(manifest({ type: "string", "x-svc-secret": true })).egress).toMatchObject({
    auth: [auth],
  });
  expect(() => parseManifest(manifest({ type: "string" }))).toThrow(
    expect.objectContaining({ code: "CONNECTOR_INVALID" }),
  );
});

const registered = (auth: Parameters<typeof createAuthenticator>[0], config: object) => {
  const secrets = createSecretRegistry();
  createAuthenticator(auth, config as never, secrets);
  return (value: string) => secrets.redactText(`a ${value} b`) !== `a ${value} b`;
};

test("what authenticates is searched for, however short it is, and an identifier is not", () => {
  const fields = { "x-client": identifier("client"), "x-key": "key" } as const;
  const isHidden = registered([headers(fields)], { client: "client-0123456789", key: "k3y-42" });
  expect(isHidden("k3y-42")).toBe(true);
  expect(isHidden("client-0123456789")).toBe(false);
});

test("a key in place of the user name of Basic is searched for", () => {
  const isHidden = registered([basic("user", "word")], { user: "sk_live_0123456789", word: "" });
  expect(isHidden("sk_live_0123456789")).toBe(true);
});

test("a user name that is no secret needs its password", () => {
  const config = { user: "ann@example.com", word: "" };
  expect(() => registered([basic(identifier("user"), "word")], config)).toThrow(
    expect.objectContaining({ code: "CONFIG_INVALID" }),
  );
});
