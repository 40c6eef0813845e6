import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { findFixtureSecrets } from "./fix-02.fixture-secrets.ts";

const jwt = [
  "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
  "eyJzdWIiOiJ1MSIsImV4cCI6MTc5MDAwMDAwMH0",
  "c2lnbmF0dXJlLW9mLXRoZS10ZXN0LXRva2Vu",
].join(".");
const vendor = ["ghp", "16C7e42F292c6912E7710c838347Ae178B4a"].join("_");
const value = "9f8d7c6b5a4e3d2c1b0a";

const recording = (response: object, request: object = {}) => ({
  interactions: [
    {
      request: { method: "GET", url: "https://api.example.com/v1/me", ...request },
      response: { status: 200, headers: { "content-type": "application/json" }, ...response },
    },
  ],
});
const found = (document: object) =>
  findFixtureSecrets("it.yaml", document).map(({ pointer, what }) => `${pointer}: ${what}`);
const body = (text: string) => recording({ body: text });

test.each([
  ["a token under the name of a secret", body(`{"data":{"access_token":"${value}"}}`)],
  ["a JSON Web Token under any name", body(`{"note":"${jwt}"}`)],
  ["a vendor's token in a sentence", body(`{"note":"use ${vendor} for now"}`)],
  ["one in base64", body(`{"note":"${Buffer.from(`key ${vendor}`).toString("base64")}"}`)],
  ["one in hex", body(`{"note":"${Buffer.from(`key ${vendor}`).toString("hex")}"}`)],
  ["one in gzip in base64", body(`{"note":"${gzipSync(`key ${vendor}`).toString("base64")}"}`)],
  [
    "one in deflate in base64",
    body(`{"note":"${deflateSync(`key ${vendor}`).toString("base64")}"}`),
  ],
  [
    "one in a compressed body",
    recording({ body_base64: gzipSync(`{"note":"${vendor}"}`).toString("base64") }),
  ],
  [
    "one in a body compressed with Brotli",
    recording({ body_base64: brotliCompressSync(`{"note":"${vendor}"}`).toString("base64") }),
  ],
  [
    "one in percent signs",
    body(`{"note":"${[...vendor].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("")}"}`),
  ],
  [
    "a secret in a form",
    recording({}, { method: "POST", body: `grant_type=refresh_token&refresh_token=${value}` }),
  ],
  [
    "a secret in a multipart form",
    recording(
      {},
      {
        body: `--b\r\nContent-Disposition: form-data; name="client_secret"\r\n\r\n${value}\r\n--b--\r\n`,
      },
    ),
  ],
  ["a key in the URL", recording({}, { url: `https://api.example.com/v1/me?api_key=${value}` })],
  [
    "a key in a link of an answer",
    body(`{"next":"https://api.example.com/v1/me?access_token=${value}"}`),
  ],
  [
    "a secret in JSON in a text",
    body(JSON.stringify({ event: JSON.stringify({ client_secret: value }) })),
  ],
  ["a credential in a header", recording({}, { headers: { "x-api-key": value } })],
  [
    "a Basic login",
    recording(
      {},
      {
        headers: {
          authorization: `Basic ${Buffer.from("reader:h4rd-to-guess-9").toString("base64")}`,
        },
      },
    ),
  ],
  ["a cookie", recording({ headers: { "set-cookie": `session=${value}; Path=/` } })],
  [
    "one in an error answer",
    { answers: { "401": { status: 401, headers: {}, body: `{"session_token":"${value}"}` } } },
  ],
])("finds %s, and tells the place but not the value", (_, document) => {
  const leaks = found(document);
  expect(leaks).not.toEqual([]);
  expect(leaks.join("\n")).not.toContain(value);
  expect(leaks.join("\n")).not.toContain(vendor);
});

test.each([
  ["placeholders", body('{"access_token":"{{issued:access_token}}","token_type":"Bearer"}')],
  ["page tokens", body(`{"next_page_token":"CAUQAA${value}","cursor":"${value}"}`)],
  [
    "words under a secret's name",
    body('{"auth":"client_secret_basic","password":"changed","token":"refresh"}'),
  ],
  [
    "times and links under a secret's name",
    body('{"session":"2026-05-01T08:00:00Z","credential":"https://api.example.com/v1/logins/17"}'),
  ],
  [
    "ids, hashes and long numbers",
    body(
      '{"id":"3e9e8b31-0ed1-4e1c-acfc-72132408ba9b","etag":"d41d8cd98f00b204e9800998ecf8427e","number":9007199254740993}',
    ),
  ],
  ["texts of people", body('{"body":"naïve — “quoted” \\\\ / text, with a password in it"}')],
])("says nothing of %s", (_, document) => {
  expect(found(document)).toEqual([]);
});
