import { createHmac, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { expect, test } from "vitest";
import type { UnsignedToken } from "../contract/jwt.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import type { HttpCall } from "../wire/http-call.ts";
import { createPlaceholders } from "./placeholders.ts";
import { createCallSigner } from "./sign-jwt.ts";

const standIn = "a".repeat(32);
const payload = { iss: "shop", iat: 1 };

function open(key: string) {
  const secrets = createSecretRegistry();
  const placeholders = createPlaceholders(secrets);
  const sign = createCallSigner(placeholders);
  const token = (alg: string, more: Partial<UnsignedToken> = {}): UnsignedToken => ({
    ...{ standIn, header: { typ: "JWT", alg }, payload, key: placeholders.placeholderOf(key) },
    ...more,
  });
  const call = (
    jwt: UnsignedToken,
    headers = { authorization: `Bearer ${standIn}` },
  ): HttpCall => ({
    ...{ method: "GET", path: "https://api.example.com/orders", headers, jwt },
  });
  return { secrets, placeholders, sign, token, call };
}

const pems = { type: "pkcs8", format: "pem" } as const;
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pems);
const curve = (namedCurve: string) =>
  generateKeyPairSync("ec", { namedCurve }).privateKey.export(pems);

test.each([
  ["RS256", rsa, { padding: 1 }],
  ["RS512", rsa, { padding: 1 }],
  ["PS384", rsa, { padding: 6, saltLength: 48 }],
  ["ES256", curve("P-256"), { dsaEncoding: "ieee-p1363" }],
  ["ES384", curve("P-384"), { dsaEncoding: "ieee-p1363" }],
  ["ES512", curve("P-521"), { dsaEncoding: "ieee-p1363" }],
  ["ES256K", curve("secp256k1"), { dsaEncoding: "ieee-p1363" }],
  ["EdDSA", generateKeyPairSync("ed25519").privateKey.export(pems), {}],
] as const)("%s: the request carries a token that the public key proves", (alg, pem, options) => {
  const { sign, token, call, placeholders } = open(String(pem));
  const { headers = {} } = sign(call(token(alg)));
  const jwt = placeholders.fill(headers.authorization ?? "").replace("Bearer ", "");
  const [header = "", body = "", signature = ""] = jwt.split(".");
  expect(JSON.parse(Buffer.from(body, "base64url").toString())).toEqual(payload);
  const hash = alg === "EdDSA" ? null : `sha${alg.slice(2, 5)}`;
  const key = { key: createPublicKey(String(pem)), ...options };
  const proof = Buffer.from(signature, "base64url");
  expect(verify(hash, Buffer.from(`${header}.${body}`), key as never, proof)).toBe(true);
});

test("a shared key signs as it is, or as its base64", () => {
  const { sign, token, call, placeholders } = open("shared-secret-9Lx3Vb7Nm4Pd6Hs1");
  for (const isKeyEncoded of [false, true]) {
    const { headers = {} } = sign(call(token("HS256", { isKeyEncoded })));
    const [header, body, signature] = placeholders
      .fill(headers.authorization ?? "")
      .slice(7)
      .split(".");
    const plain = "shared-secret-9Lx3Vb7Nm4Pd6Hs1";
    const key = isKeyEncoded ? Buffer.from(plain).toString("base64") : plain;
    const made = createHmac("sha256", key).update(`${header}.${body}`).digest("base64url");
    expect(signature).toBe(made);
  }
});

test("the connector never sees a token, and the same claims are one secret of the run", () => {
  const { sign, token, call, placeholders, secrets } = open(String(curve("P-256")));
  const [first, again] = [sign(call(token("ES256"))), sign(call(token("ES256")))];
  expect(first).toEqual(again);
  expect(JSON.stringify(first)).not.toContain(standIn);
  const jwt = placeholders.fill(first.headers?.authorization ?? "").slice(7);
  expect(jwt.split(".")).toHaveLength(3);
  // A provider that repeats it gives the connector its placeholder, and no output shows it.
  expect(placeholders.hide(`you sent ${jwt}`)).toBe(
    `you sent ${first.headers?.authorization?.slice(7)}`,
  );
  expect(secrets.contains(Buffer.from(jwt))).toBe(true);
});

test("a key of another kind, or one whose passphrase is another one, says so and nothing of it", () => {
  const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
    ...{ ...pems, cipher: "aes-256-cbc", passphrase: "word-9Lx3Vb7N" },
  });
  const { sign, token, call, placeholders } = open(String(key));
  const passphrase = placeholders.placeholderOf("word-9Lx3Vb7N");
  expect(() => sign(call(token("RS256", { passphrase })))).not.toThrow();
  for (const wrong of [
    token("RS256"),
    token("ES256", { passphrase }),
    token("EdDSA", { passphrase }),
  ])
    expect(() => sign(call(wrong))).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
});

test("a key whose line breaks are written out signs too", () => {
  const { sign, token, call } = open(String(rsa).replaceAll("\n", "\\n"));
  expect(() => sign(call(token("RS256")))).not.toThrow();
});

test.each([
  ["an algorithm without a signature", { header: { alg: "none" } }],
  ["a stand-in that is a part of anything", { standIn: "a" }],
  ["claims without an end", { payload: { text: "x".repeat(9_000) } }],
] as const)("%s is refused", (_, more) => {
  const { sign, token, call } = open("shared-secret-9Lx3Vb7Nm4Pd6Hs1");
  expect(() => sign(call(token("HS256", more as never)))).toThrow(
    expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
  );
});

test("who has no placeholders has nothing signed", () => {
  const { call, token } = open("shared-secret-9Lx3Vb7Nm4Pd6Hs1");
  expect(() => createCallSigner(undefined)(call(token("HS256")))).toThrow(
    expect.objectContaining({ code: "CONNECTOR_PROTOCOL" }),
  );
});
