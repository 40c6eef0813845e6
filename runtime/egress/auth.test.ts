import { expect, test } from "vitest";
import { bearer } from "../contract/egress.ts";
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
