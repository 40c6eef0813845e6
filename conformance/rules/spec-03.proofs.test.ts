import { expect, test } from "vitest";
import { proofsIn } from "./spec-03.proofs.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const values = (headers: Readonly<Record<string, string>>, body = "", query = "") =>
  proofsIn({
    method: "POST",
    url: new URL(`https://api.example.com/v1${query}`),
    headers,
    body,
  }).map(({ value }) => value);

test.each<readonly [string, string[], string[]]>([
  ["a bearer token", values({ authorization: "Bearer abc" }), ["abc"]],
  ["a bare token", values({ authorization: "abc" }), ["abc"]],
  [
    "the password of Basic, not the user",
    values({ authorization: `Basic ${base64("ann:secret-word")}` }),
    ["secret-word"],
  ],
  [
    "an API key in place of the user",
    values({ authorization: `Basic ${base64("sk_live_1:")}` }),
    ["sk_live_1"],
  ],
  [
    "a key header",
    values({ "x-api-key": "k", "private-token": "t", "x-account-id": "7" }),
    ["k", "t"],
  ],
  [
    "no signed request's key id",
    values({ authorization: "AWS4-HMAC-SHA256 Credential=AKID/20260101, Signature=00" }),
    [],
  ],
  [
    "a token request's secrets, not its client id",
    values({}, "grant_type=refresh_token&client_id=c&client_secret=s&refresh_token=r"),
    ["s", "r"],
  ],
  ["a secret in a JSON body", values({}, '{"client_id":"c","secret":"s","count":5}'), ["s"]],
  [
    "an api_key of the query, no page_token",
    values({}, "", "?api_key=k&page_token=p&limit=2"),
    ["k"],
  ],
])("%s", (_name, found, expected) => expect(found).toEqual(expected));
