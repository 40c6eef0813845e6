import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createKnownSecrets } from "./known-secrets.ts";
import { createPseudonyms } from "./pseudonyms.ts";
import { createRedactor } from "./redactor.ts";
import { findLeaks } from "./scan.ts";

const apiToken = "tok_live_Zq8Xw2Rt5Yu7Io9Pa3Sd";

function create() {
  const secrets = createKnownSecrets();
  secrets.addConfigured("api_token", apiToken);
  const pseudonyms = createPseudonyms(7);
  const leaksIn = (document: unknown) => findLeaks("a.yaml", document, { secrets, pseudonyms });
  return { redactor: createRedactor(secrets, pseudonyms), leaksIn };
}

const jwt = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"1"}').toString("base64url")}.c2lnbmF0dXJlLW9mLXRoZS10b2tlbg`;
const packed = (text: string) => gzipSync(text).toString("base64");

test.each([
  ["a secret in gzip in base64", `x ${packed(`key ${apiToken}`)} y`, "a secret of the run"],
  ["a secret in gzip behind other base64", `xyz${packed(apiToken)}`, "a secret of the run"],
  ["a secret in two layers", packed(packed(apiToken)), "a secret of the run"],
  ["a JWT", `see ${jwt}`, "a JWT"],
  ["a JWT in base64", Buffer.from(`see ${jwt}`).toString("base64"), "a JWT, packed in base64"],
  ["a JWT in gzip in base64", packed(jwt), "a JWT, packed in base64 in gzip"],
  ["a JWT in hex", Buffer.from(jwt).toString("hex"), "a JWT, packed in hex"],
  ["a vendor's token", `AKIA${"ABCD".repeat(4)}`, "a vendor token"],
  ["an address", "mail jane@corp.example", "an e-mail address"],
  [
    "an address in base64",
    Buffer.from("mail jane@corp.example").toString("base64"),
    "an e-mail address, packed in base64",
  ],
  ["an address in a URL", "https://h/x?u=jane%40corp.example", "an e-mail address"],
])("finds %s", (_, text, what) => {
  const { leaksIn } = create();
  const body = JSON.stringify({ data: [{ "a/b": text }] });
  const found = leaksIn({ interactions: [{ response: { body } }] });
  expect(found).toContainEqual({
    file: "a.yaml",
    pointer: "/interactions/0/response/body#/data/0/a~1b",
    what: expect.stringMatching(new RegExp(`^${what}`)),
  });
  expect(JSON.stringify(found)).not.toContain(text.slice(0, 12));
});

test("finds a secret in bytes, and a long random value under the name of a secret", () => {
  const { leaksIn } = create();
  const bytes = Buffer.concat([Buffer.from([0xff, 0xfe, 0]), Buffer.from(apiToken), gzipSync("x")]);
  expect(leaksIn({ body_base64: bytes.toString("base64") })).toMatchObject([
    { pointer: "/body_base64" },
  ]);
  const random = "q8Zx71LmVw0pRt5Yu2Io9Pa3Sd4Fg6Hj";
  expect(leaksIn({ body: JSON.stringify({ authKeyData: random, token_id: random }) })).toHaveLength(
    2,
  );
  expect(leaksIn({ body: JSON.stringify({ checksum: random, next_token: random }) })).toEqual([]);
});

test("finds nothing in what is clean", () => {
  const { redactor, leaksIn } = create();
  const body = {
    email: "a@b.example",
    api_token: apiToken,
    html: "<p>hi</p>",
    token: "Qw93kd82Lm1Ps7",
    n: 12,
    at: "2026-01-01",
  };
  expect(leaksIn({ body: redactor.redactBody(JSON.stringify(body)) })).toEqual([]);
});
