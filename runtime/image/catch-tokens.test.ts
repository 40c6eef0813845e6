import { describe, expect, test } from "vitest";
import { createPlaceholders } from "../egress/placeholders.ts";
import { createSecretRegistry } from "../filter/secrets.ts";
import { catchTokens } from "./catch-tokens.ts";

const access = "access-Qw8Lz3Xv5Nt7Rk1Pb4";
const refresh = "refresh-Hs6Jd2Mf9Gy0Cx7Zu1";

/** The answer as the image gets it, and what stands in it again when a request leaves. */
async function caught(body: string) {
  const secrets = createSecretRegistry();
  const placeholders = createPlaceholders(secrets);
  const given = (await catchTokens(Buffer.from(body), placeholders)).toString();
  return {
    given,
    get again() {
      return placeholders.fill(given);
    },
    fill: (text: string) => placeholders.fill(text),
    isSecret: secrets.contains(Buffer.from(access)),
  };
}

describe("tokens that a provider mints for an image", () => {
  test.each([
    ["an answer of OAuth", JSON.stringify({ access_token: access, refresh_token: refresh, n: 1 })],
    [
      "one that has it further in",
      JSON.stringify({ data: [{ session: { access_token: access } }] }),
    ],
    ["one that is a form", `access_token=${access}&scope=all&refresh_token=${refresh}`],
    [
      "one that says it twice",
      JSON.stringify({ access_token: access, header: `Bearer ${access}` }),
    ],
  ])("stay with the host: %s has placeholders, which become the tokens again", async (_, body) => {
    const { given, again, isSecret } = await caught(body);
    expect(given).not.toContain(access);
    expect(given).not.toContain(refresh);
    expect([again, isSecret]).toEqual([body, true]);
  });

  test.each([
    ["no token", '{"token_type":"bearer","items":[{"id":1}]}'],
    ["the name in a text", '{"text":"access_token is a word"}'],
    ["a token that is no text", '{"access_token":null}'],
  ])("an answer with %s stays as it is", async (_, body) => {
    expect((await caught(body)).given).toBe(body);
  });

  test.each([
    ["deep", `${"[".repeat(100_000)}{"access_token":"${access}"}${"]".repeat(100_000)}`],
    ["wide", `{"access_token" :\n "${access}","rows":[${'{"id":1},'.repeat(500_000)}{}]}`],
    ["spaced out", `${" ".repeat(5_000)}{"access_token"${" ".repeat(5_000)}: "${access}"}`],
    ["marked", `\uFEFF{"access_token":"${access}"}`],
    ["full of one token", `[${`{"access_token":"${access}"},`.repeat(20_000)}{}]`],
    ["cut off", `{"rows":[1,2],"access_token":"${access}","rows":[1,`],
  ])("are caught in an answer that is %s, which is not parsed", async (_, body) => {
    const { given, isSecret } = await caught(body);
    expect([given.includes(access), isSecret]).toEqual([false, true]);
    expect(given.length).toBeGreaterThan(body.length / 2);
  });

  test("with escapes in it are caught as they are sent again", async () => {
    const odd = 'ends-in-a-"quote"-and-a-backslash-\\';
    const { given, fill } = await caught(JSON.stringify({ access_token: odd, id_token: access }));
    const { access_token: first, id_token: second } = JSON.parse(given);
    expect(given).not.toContain("quote");
    expect([fill(first), fill(second)]).toEqual([odd, access]);
  });
});
