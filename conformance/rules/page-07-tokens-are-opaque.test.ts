import { expect, test } from "vitest";
import { openDefect, tryOn } from "../../fixtures/reference/lab.ts";
import { testRule } from "../../fixtures/reference/test-rule.ts";
import rule from "./page-07-tokens-are-opaque.ts";

testRule(rule, {
  defects: {
    "page-07-token-escaped-twice": /tokens with \+, \/ and =/,
    "page-07-token-not-escaped": /tokens with \+, \/ and =/,
    "page-07-link-followed-anywhere":
      /leads to another host, and request 2 followed it with a credential/,
    "page-07-link-without-tls":
      /same host without TLS, and request 2 followed it with a credential/,
    "page-07-token-taken-for-a-link": /request 2 went to files.storage-elsewhere.net/,
    "page-07-empty-token-is-none": /the empty text as its first token.*missing/,
  },
});

test("a program that follows links to its provider only meets it", async () => {
  await using lab = await openDefect("links");
  expect(await tryOn(rule, lab)).toMatchObject({ result: "pass", problems: [] });
});
